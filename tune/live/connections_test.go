package live

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
)

// A countingListener counts the connections that are open.
type countingListener struct {
	net.Listener
	mutex      sync.Mutex
	open, most int
}

func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.open++
	l.most = max(l.most, l.open)
	return &countedConn{Conn: c, from: l}, nil
}

type countedConn struct {
	net.Conn
	from *countingListener
	once sync.Once
}

func (c *countedConn) Close() error {
	c.once.Do(func() {
		c.from.mutex.Lock()
		defer c.from.mutex.Unlock()
		c.from.open--
	})
	return c.Conn.Close()
}

// TestCrowd: clients that connect and wait, in every way, take no more connections than
// there may be. Who looks already goes on looking, and another browser is let in at once.
func TestCrowd(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := &countingListener{Listener: inner}
	s, err := newServer(listener, "127.0.0.1", "ndtune test")
	if err != nil {
		t.Fatal(err)
	}
	s.throttle = mustOpen(t).throttle
	go s.serve(listener)
	t.Cleanup(s.Close)

	made := newSearch(t, 60)
	run := s.Begin("a.jsonl", made.header, 60)
	patient := follow(t, s, "")
	patient.next()

	answered := "GET /favicon.ico HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for i, said := range []string{"", "G", "GET / HTTP/1.1\r\nHost: localhost\r\n", answered} {
		for range 2 * maxConnections {
			c, err := net.Dial("tcp", authority(t, s))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, said); err != nil {
				continue // it was closed already
			}
			if said == answered {
				if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || answer.StatusCode != http.StatusNoContent {
					t.Fatalf("%v, %v", answer, err)
				}
			}
		}
		answer, err := http.Get(s.URL()) // it is accepted after all of these
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK || err != nil || len(page) != len(s.page) {
			t.Errorf("after %q, a page of %d bytes: %s, %v", said, len(page), answer.Status, err)
		}
		for _, result := range made.results[15*i : 15*(i+1)] {
			run.Add(result, false)
		}
		patient.until(15 * (i + 1))
	}
	listener.mutex.Lock()
	defer listener.mutex.Unlock()
	if listener.most > maxConnections+1 { // one more comes before another one goes
		t.Errorf("%d connections were open at a time", listener.most)
	}
}

// TestCrowdOfReaders: where every connection is in use, the next one is closed, and none of
// the others.
func TestCrowdOfReaders(t *testing.T) {
	var l connections
	clients := make([]net.Conn, maxConnections+1)
	for i := range clients {
		client, server := net.Pipe()
		defer client.Close()
		defer server.Close()
		clients[i] = client
		r, err := http.NewRequestWithContext(l.enter(t.Context(), server), http.MethodGet, "/", nil)
		if err != nil {
			t.Fatal(err)
		}
		l.hold(r)
	}
	last := clients[maxConnections]
	if _, err := last.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("one too many: %v", err)
	}
	for i, c := range l.open {
		if !c.held {
			t.Errorf("connection %d is not held", i)
		}
	}
	if len(l.open) != maxConnections {
		t.Errorf("%d connections", len(l.open))
	}
}
