// Package live shows running searches in browsers: it serves the page of [report] over HTTP, and new
// results as server-sent events.
//
// Its types: a [Server] shows each [Run].
//
// A [Server] only observes. A search appends its results to a list and waits for nothing else. The
// goroutines that serve browsers make reports from the list, at most a few times a second and in a
// small share of the time. Without browsers there are no reports. The server keeps no queue for a
// browser: it makes an event when the browser can receive it, from all results that the browser
// lacks, so that a slow browser gets fewer and larger events.
//
// The page is for this machine alone: it listens on a loopback address, and a tunnel brings it to another machine. All users of the
// machine may open it, but scripts of another website may not: the server refuses a Host header that does not name this machine, because
// a website can make its own name resolve to the loopback address (DNS rebinding), and admits no other origin. At most 64 connections
// are open, because they take file descriptors from the workers of the search.
//
// # Reasons
//
// The live page is the report, made again, so one piece of code counts for both. The server knows each browser's position in the list of
// results, and sends all further rows at once, so a slow browser costs the memory of one answer; the search never waits for a browser.
// Server-sent events suffice, since only the server speaks.
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
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/report"
)

const (
	eventsPath     = "events"
	maxConnections = 64               // one too many is closed
	maxStreams     = 32               // browsers at once
	stall          = 10 * time.Second // after which a browser that takes nothing is disconnected
	lastWait       = 2 * time.Second  // for which [Server.Close] waits for browsers
	heartbeat      = 15 * time.Second // between the signs of life of a stream without news
)

// A Server serves the page of the searches of one process. [Open] returns one. Close must be called
// after all searches.
type Server struct {
	tool        string
	host        string // as the user named it, which may be a name of this machine
	url         string
	session     string
	page        []byte
	policy      string
	throttle    throttle
	stall       time.Duration
	http        *http.Server
	connections atomic.Int64  // that are open
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

// Open listens at a loopback address, host:port, and serves until Close. The default host is 127.0.0.1; port 0
// means a free port. Tool is the name and version of the program.
func Open(address, tool string) (*Server, error) {
	host, port, err := splitAddress(address)
	if err != nil {
		return nil, err
	}
	at, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	if !at.IP.IsLoopback() {
		if port == "0" {
			port = "8080"
		}
		return nil, fmt.Errorf("%q: the page is for browsers on this machine: serve it at 127.0.0.1:%[2]s and open a tunnel from "+
			"the other machine, ssh -L %[2]s:127.0.0.1:%[2]s HOST (docs/report.md#live)", address, port)
	}
	listener, err := net.ListenTCP("tcp", at)
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
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return nil, err
	}
	s := &Server{
		tool: tool, host: host, url: "http://" + net.JoinHostPort(host, port) + "/", session: rand.Text(), throttle: defaultThrottle, stall: stall,
		served: make(chan struct{}), news: make(chan struct{}), idle: make(chan struct{}),
	}
	if s.page, s.policy, err = report.LivePage(tool, "a running search", eventsPath, time.Now()); err != nil {
		return nil, err
	}
	s.http = &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: stall, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ConnState: s.count,
		ErrorLog:  log.New(io.Discard, "", 0), // which would name addresses of those who look
	}
	return s, nil
}

// URL returns the address of the page.
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
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if r.ContentLength != 0 { // nor is one waited for, by a client that sends a part of it
			_ = http.NewResponseController(w).SetReadDeadline(time.Now())
			h.Set("Connection", "close")
			http.Error(w, "a request with a body is not answered", http.StatusBadRequest)
			return
		}
		if !s.isOwn(r.Host) {
			http.Error(w, "this page is for this machine alone: open it as localhost", http.StatusForbidden)
			return
		}
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

// isOwn reports whether a Host header names this machine by a loopback address or by a name whose
// address nobody else controls.
func (s *Server) isOwn(header string) bool {
	host := header
	if name, _, err := net.SplitHostPort(header); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") || strings.EqualFold(host, s.host) {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

// count counts the open connections, and closes one too many.
func (s *Server) count(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if s.connections.Add(1) > maxConnections {
			_ = c.Close()
		}
	case http.StateClosed:
		s.connections.Add(-1)
	}
}

// withoutAddress returns a network error without the address, which the message has already.
func withoutAddress(err error) error {
	if op, is := errors.AsType[*net.OpError](err); is {
		return op.Err
	}
	return err
}
