// Package live shows running searches in browsers: it serves the page of [report] over HTTP, and new
// results as server-sent events.
//
// A [Server] only observes. A search appends its results to a list and waits for nothing else. The
// goroutines that serve browsers make reports from the list, at most a few times a second and in a
// small share of the time. Without browsers there are no reports. The server keeps no queue for a
// browser: it makes an event when the browser can receive it, from all results that the browser
// lacks, so that a slow browser gets fewer and larger events.
//
// On a loopback address, all users of the machine may open the page, but scripts of another website may
// not: the server refuses a Host header that does not name this machine (DNS rebinding), and admits no other origin. Any
// other address requires the token in [Server.URL]. The number of connections is limited, because they
// take file descriptors from the search.
//
// # Reasons
//
// The live page is the report, made again, so one piece of code counts for both. The server knows each browser's position in the list of
// results, and sends all further rows at once, so a slow browser costs the memory of one answer; the search never waits for a browser.
// Server-sent events suffice, since only the server speaks.
//
// On a loopback address, access is free for every user of the machine; a Host header that names another machine is refused, because a
// website can make its own name resolve to the loopback address. Elsewhere a token of 130 bits is needed, kept in a cookie that no
// script gets. At most 64 connections are open, because workers need file descriptors too.
package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/report"
)

const (
	maxStreams = 32               // browsers at once; fewer than maxConnections
	stall      = 10 * time.Second // after which a browser that takes nothing is disconnected
	lastWait   = 2 * time.Second  // for which [Server.Close] waits for browsers
	heartbeat  = 15 * time.Second // between the signs of life of a stream without news
)

// A Server serves the page of the searches of one process. [Open] returns one. Close must be called
// after all searches.
type Server struct {
	tool        string
	url         string
	guard       guard
	session     string
	page        []byte
	policy      string
	throttle    throttle
	stall       time.Duration
	http        *http.Server
	connections connections
	served      chan struct{} // closed when no more connections are accepted

	mutex   sync.Mutex
	runs    []*Run
	fleet   []byte // the event of ShowFleet; nil: there is no fleet
	shown   int    // calls of ShowFleet
	streams int
	closing bool
	news    chan struct{} // closed and replaced when anything above changes
	idle    chan struct{} // closed when the last stream ends after closing began
}

// Open listens at an address, host:port, and serves until Close. The default host is 127.0.0.1; port 0
// means a free port. Tool is the name and version of the program.
func Open(address, tool string) (*Server, error) {
	host, port, err := splitAddress(address)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", net.JoinHostPort(host, port), withoutAddress(err))
	}
	s, err := newServer(listener, host, tool)
	if err != nil {
		listener.Close()
		return nil, err
	}
	go s.serve(listener)
	return s, nil
}

// serve serves until Close. If the network fails, the search continues without its page.
func (s *Server) serve(listener net.Listener) {
	defer close(s.served)
	_ = s.http.Serve(listener)
}

func newServer(listener net.Listener, host, tool string) (*Server, error) {
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("%s is no address of TCP", listener.Addr())
	}
	s := &Server{
		tool: tool, guard: newGuard(address, host), session: rand.Text(), throttle: defaultThrottle, stall: stall,
		served: make(chan struct{}), news: make(chan struct{}), idle: make(chan struct{}),
	}
	s.url = s.guard.url(address, host)
	var err error
	if s.page, s.policy, err = report.LivePage(tool, "a running search", eventsPath, time.Now()); err != nil {
		return nil, err
	}
	s.http = &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: stall, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ConnContext: s.connections.enter, ConnState: s.connections.leave,
		ErrorLog: log.New(io.Discard, "", 0), // which would name addresses of those who look
	}
	return s, nil
}

// URL returns the address of the page, with the token if there is one.
func (s *Server) URL() string { return s.url }

// Begin shows a search that begins now, under the name of its record. Total is the largest number of
// configurations that it may evaluate.
func (s *Server) Begin(name string, h record.Header, total int) *Run {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	r := &Run{
		server: s, place: len(s.runs), most: h.SpaceSize, total: total, began: time.Now(),
		over: make(chan struct{}), follower: report.Follow(name, h, s.tool),
	}
	s.runs = append(s.runs, r)
	s.changed()
	return r
}

// ShowFleet shows a table of the devices of a fleet, in the place of the one before.
func (s *Server) ShowFleet(t figure.Table) {
	data, err := json.Marshal(t)
	if err != nil {
		panic(err) // texts can be encoded
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if event := fmt.Appendf(nil, "event: fleet\ndata: %s\n\n", data); !bytes.Equal(event, s.fleet) {
		s.fleet = event
		s.shown++
		s.changed()
	}
}

// changed wakes the goroutines that wait for news. The caller holds the lock.
func (s *Server) changed() {
	close(s.news)
	s.news = make(chan struct{})
}

// Close ends the page. Browsers get the results that they lack, if they take them within about two
// seconds. A search that has not ended is shown as stopped. Further calls do nothing.
func (s *Server) Close() {
	s.mutex.Lock()
	runs := s.runs
	s.mutex.Unlock()
	for _, r := range runs {
		r.End(nil, "stopped")
	}
	s.mutex.Lock()
	again := s.closing
	if s.closing = true; s.streams == 0 && !again {
		close(s.idle)
	}
	s.changed()
	s.mutex.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), lastWait)
	defer cancel()
	select {
	case <-s.idle:
		_ = s.http.Shutdown(ctx) // lets connections end whose last bytes are on their way
	case <-ctx.Done():
	}
	_ = s.http.Close()
	<-s.served
}

var errCrowded = errors.New("as many browsers as are let in are looking already")

// enter counts a new stream, unless there are too many. It is an error if there are.
func (s *Server) enter() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch {
	case s.closing:
		return errors.New("the search is over")
	case s.streams >= maxStreams:
		return errCrowded
	}
	s.streams++
	return nil
}

// leave counts a stream that has ended.
func (s *Server) leave() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.streams--; s.closing && s.streams == 0 {
		close(s.idle)
	}
	s.changed()
}

// handler serves the page and its events, and nothing else.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		s.guard.remember(w)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute))
		_, _ = w.Write(s.page)
	})
	mux.HandleFunc("GET /"+eventsPath, s.events)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", s.policy+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer") // the token may be in the address
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if r.ContentLength != 0 { // nor is one waited for, by a client that sends a part of it
			_ = http.NewResponseController(w).SetReadDeadline(time.Now())
			h.Set("Connection", "close")
			http.Error(w, "a request with a body is not answered", http.StatusBadRequest)
			return
		}
		if why := s.guard.refuse(r); why != "" {
			http.Error(w, why, http.StatusForbidden)
			return
		}
		defer s.connections.hold(r)()
		mux.ServeHTTP(w, r)
	})
}

// splitAddress returns the host and the port of host:port. The default host is 127.0.0.1.
func splitAddress(address string) (host, port string, err error) {
	host, port, err = net.SplitHostPort(address)
	if err == nil && host == "" {
		host = "127.0.0.1"
	}
	if n, bad := strconv.ParseUint(port, 10, 16); err == nil && (bad != nil || n > 65535) {
		err = errors.New("no port")
	}
	if err != nil {
		return "", "", fmt.Errorf("%q: want HOST:PORT, such as 127.0.0.1:8080; without HOST it is 127.0.0.1, and port 0 is one that is free", address)
	}
	return host, port, nil
}

// url returns the address of the page. If the server listens at all addresses, it is the first one that
// other machines can reach.
func (g *guard) url(address *net.TCPAddr, host string) string {
	if address.IP.IsUnspecified() {
		host = reachable()
	}
	u := url.URL{Scheme: "http", Host: net.JoinHostPort(host, strconv.Itoa(address.Port)), Path: "/"}
	if g.token != "" {
		u.RawQuery = url.Values{tokenName: {g.token}}.Encode()
	}
	return u.String()
}

// reachable returns an address of this machine for other machines, or else its name.
func reachable() string {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	if name, err := os.Hostname(); err == nil {
		return name
	}
	return "localhost"
}

// withoutAddress returns a network error without the address, which the message has already.
func withoutAddress(err error) error {
	if op, is := errors.AsType[*net.OpError](err); is {
		return op.Err
	}
	return err
}
