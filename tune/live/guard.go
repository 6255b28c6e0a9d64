package live

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

const (
	eventsPath = "events"
	tokenName  = "token" // of the query
)

// A guard decides who is let in.
type guard struct {
	token  string // empty on a loopback address
	cookie string // the name of the one that keeps the token: cookies are shared by all ports of a host
	host   string // as it was named, which may be a name of this machine
}

func newGuard(address *net.TCPAddr, host string) guard {
	g := guard{cookie: fmt.Sprintf("ndtune-%d", address.Port), host: host}
	if !address.IP.IsLoopback() {
		g.token = rand.Text()
	}
	return g
}

// refuse says why a request is not answered, or nothing.
func (g *guard) refuse(r *http.Request) string {
	switch {
	case g.token == "" && !g.isOwn(r.Host):
		return "this page is for this machine alone: open it as localhost"
	case g.token != "" && !g.knows(r):
		return "open the address that ndtune has printed, with the token in it"
	}
	return ""
}

// isOwn reports whether a Host header names this machine by an address of its own or by a name
// that nobody else can give an address to.
func (g *guard) isOwn(header string) bool {
	host := header
	if name, _, err := net.SplitHostPort(header); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") || strings.EqualFold(host, g.host) {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

// knows reports whether a request has the token: in the query, as in the address that is
// printed, or in the cookie that the page then has.
func (g *guard) knows(r *http.Request) bool {
	if g.isToken(r.URL.Query().Get(tokenName)) {
		return true
	}
	c, err := r.Cookie(g.cookie)
	return err == nil && g.isToken(c.Value)
}

// isToken takes as long for any text of a length. The sums hide the length, too.
func (g *guard) isToken(text string) bool {
	got, want := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(g.token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// remember lets the browser keep the token, out of reach of scripts and of other sites.
func (g *guard) remember(w http.ResponseWriter) {
	if g.token != "" {
		http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	}
}

// maxConnections is how many connections the server keeps open. Each takes a file
// descriptor, and the workers of the search need some too.
const maxConnections = 64

// connections are the open connections of a server, the oldest first. When there are
// maxConnections, a new one replaces the oldest on which no request is being answered, so
// that clients that connect and wait, or do not have the token, keep nobody out.
type connections struct {
	mutex sync.Mutex
	open  []*connection
}

type connection struct {
	net.Conn
	held bool // a request is being answered
}

type connectionKey struct{}

// enter adds a connection that was accepted. The context is that of its requests.
func (l *connections) enter(ctx context.Context, c net.Conn) context.Context {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.open) >= maxConnections {
		i := slices.IndexFunc(l.open, func(c *connection) bool { return !c.held })
		if i < 0 {
			_ = c.Close()
			return ctx
		}
		_ = l.open[i].Close()
		l.open = slices.Delete(l.open, i, i+1)
	}
	entered := &connection{Conn: c}
	l.open = append(l.open, entered)
	return context.WithValue(ctx, connectionKey{}, entered)
}

// leave removes a connection that was closed.
func (l *connections) leave(c net.Conn, state http.ConnState) {
	if state != http.StateClosed {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.open = slices.DeleteFunc(l.open, func(o *connection) bool { return o.Conn == c })
}

// hold keeps the connection of a request until release is called.
func (l *connections) hold(r *http.Request) (release func()) {
	c, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		return func() {}
	}
	set := func(held bool) {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		c.held = held
	}
	set(true)
	return func() { set(false) }
}
