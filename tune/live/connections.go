package live

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
)

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
