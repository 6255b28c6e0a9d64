package live

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ask asks the handler of a server that is bound to an address, without a connection.
func ask(t *testing.T, s *Server, path, host string, change func(*http.Request)) *http.Response {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = host
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, r)
	return w.Result()
}

// unserved is a server that is asked directly.
func unserved(t *testing.T, host string) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, err := newServer(l, host, "ndtune test")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestHosts: on this machine alone, names that others can give an address to are refused.
func TestHosts(t *testing.T) {
	s := unserved(t, "workstation")
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:8080": 200, "127.0.0.1:8080": 200, "127.1.2.3": 200, "[::1]:9000": 200, "[::1]": 200, "workstation:8080": 200,
		"": 403, "evil.example": 403, "evil.example:8080": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example:8080": 403, "10.0.0.1": 403, "[::2]": 403, "0.0.0.0:8080": 403, "127.0.0.1:8080:1": 403,
	} {
		for _, path := range []string{"/", "/nothing"} {
			want := want
			if path == "/nothing" && want == 200 {
				want = 404
			}
			if got := ask(t, s, path, host, nil).StatusCode; got != want {
				t.Errorf("host %q, %s: %d, want %d", host, path, got, want)
			}
		}
	}
	if !strings.HasPrefix(s.URL(), "http://workstation:") {
		t.Errorf("the address is %s", s.URL())
	}
}

// TestHeaders: of every answer, refused or not.
func TestHeaders(t *testing.T) {
	s := unserved(t, "127.0.0.1")
	for _, host := range []string{"localhost", "evil.example"} {
		h := ask(t, s, "/", host, nil).Header
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
			"Access-Control-Allow-Origin": "", "Set-Cookie": "",
		} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s: %q, want %q", host, name, got, want)
			}
		}
		policy := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "form-action 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy %q lacks %s", host, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("the policy is %s", policy)
		}
	}
	post := func(r *http.Request) { r.Method = http.MethodPost }
	if got := ask(t, s, "/", "localhost", post).StatusCode; got != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", got)
	}
	head := func(r *http.Request) { r.Method = http.MethodHead }
	if got := ask(t, s, "/events", "localhost", head).StatusCode; got != http.StatusOK {
		t.Errorf("HEAD of the events: %d", got)
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		":0": "127.0.0.1:0", ":8080": "127.0.0.1:8080", "localhost:1": "localhost:1", "[::1]:80": "[::1]:80", "0.0.0.0:65535": "0.0.0.0:65535",
		"": "", "8080": "", "localhost": "", ":": "", ":http": "", "a:b:1": "", ":65536": "", ":-1": "",
	} {
		host, port, err := splitAddress(address)
		got := ""
		if err == nil {
			got = net.JoinHostPort(host, port)
		}
		if got != want {
			t.Errorf("%q: %q, %v, want %q", address, got, err, want)
		}
	}
	s := mustOpen(t)
	taken := authority(t, s)
	if _, err := Open(taken, "ndtune test"); err == nil || !strings.HasPrefix(err.Error(), "listen at "+taken+": ") || strings.Count(err.Error(), taken) != 1 {
		t.Errorf("a port that is taken: %v", err)
	}
	for _, address := range []string{"0.0.0.0:8080", "[::]:8080", "192.0.2.1:8080"} {
		if _, err := Open(address, "ndtune test"); err == nil || !strings.Contains(err.Error(), "ssh -L 8080:127.0.0.1:8080 HOST") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestCrowd: clients that connect and wait take no more connections than there may be. Who looks already goes on looking, and when
// they have gone, another browser is let in.
func TestCrowd(t *testing.T) {
	s, made := mustOpen(t), newSearch(t, 60)
	run := s.Begin("a.jsonl", made.header, 60)
	patient := follow(t, s, "")
	patient.next()
	var waiting []net.Conn
	for range 2 * maxConnections {
		c, err := net.Dial("tcp", authority(t, s))
		if err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, c)
	}
	closed := 0
	for _, c := range waiting[maxConnections:] {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute)) // rather than to wait for ever
		if _, err := c.Read(make([]byte, 1)); errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
			closed++
		}
	}
	if closed != maxConnections {
		t.Errorf("%d connections of %d too many were closed", closed, maxConnections)
	}
	for _, result := range made.results {
		run.Add(result, false)
	}
	patient.until(60)
	for _, c := range waiting {
		c.Close()
	}
	for s.connections.Load() > 2 { // each is counted when the server learns of it
		runtime.Gosched()
	}
	if answer, err := http.Get(s.URL()); err != nil || answer.Body.Close() != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("when all have gone: %v, %v", answer, err)
	}
}

// TestBody: who announces a body and does not send it is let go, and holds no connection.
func TestBody(t *testing.T) {
	s := mustOpen(t)
	for _, length := range []string{"Content-Length: 1000", "Transfer-Encoding: chunked"} {
		c, err := net.Dial("tcp", authority(t, s))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n", length); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Minute)) // rather than to wait for ever
		answer, err := io.ReadAll(c)                       // to the end of the connection
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
			t.Errorf("%s: %q, %v", length, answer, err)
		}
	}
}
