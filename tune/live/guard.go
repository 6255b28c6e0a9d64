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

// A guard decides which requests are answered.
type guard struct {
	token  string // empty on a loopback address
	cookie string // the name of the cookie with the token; it has the port, because all ports of a host share cookies
	host   string // as the user named it, which may be a name of this machine
}

func newGuard(address *net.TCPAddr, host string) guard {
	g := guard{cookie: fmt.Sprintf("ndtune-%d", address.Port), host: host}
	if !address.IP.IsLoopback() {
		g.token = rand.Text()
	}
	return g
}

// refuse returns the reason why a request is not answered, or "".
func (g *guard) refuse(r *http.Request) string {
	switch {
	case g.token == "" && !g.isOwn(r.Host):
		return "this page is for this machine alone: open it as localhost"
	case g.token != "" && !g.knows(r):
		return "open the address that ndtune has printed, with the token in it"
	}
	return ""
}

// isOwn reports whether a Host header names this machine by a loopback address or by a name whose
// address nobody else controls.
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

// knows reports whether a request has the token, in the query or in the cookie that the page has set.
func (g *guard) knows(r *http.Request) bool {
	if g.isToken(r.URL.Query().Get(tokenName)) {
		return true
	}
	c, err := r.Cookie(g.cookie)
	return err == nil && g.isToken(c.Value)
}

// isToken compares a text with the token. The time depends only on the length of the text, since the
// hashes hide that of the token.
func (g *guard) isToken(text string) bool {
	got, want := sha256.Sum256([]byte(text)), sha256.Sum256([]byte(g.token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// remember stores the token in a cookie that neither scripts nor other sites can read.
func (g *guard) remember(w http.ResponseWriter) {
	if g.token != "" {
		http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	}
}

// maxConnections limits the open connections. Each takes a file descriptor, and the workers of the
// search need some too.
const maxConnections = 64

// connections are the open connections of a server, the oldest first. When there are
// maxConnections, a new one replaces the oldest on which no request is being answered, so that clients
// that only connect, or lack the token, cannot keep others out.
type connections struct {
	mutex sync.Mutex
	open  []*connection
}

type connection struct {
	net.Conn
	held bool // a request is being answered
}

type connectionKey struct{}

// enter adds an accepted connection and returns the context of its requests.
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
