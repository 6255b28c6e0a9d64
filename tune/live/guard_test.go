package live

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
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
func unserved(t *testing.T, ip, host string) *Server {
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
	address := &net.TCPAddr{IP: net.ParseIP(ip), Port: 8080}
	s.guard = newGuard(address, host)
	s.url = s.guard.url(address, host)
	return s
}

// TestHosts: on this machine alone, names that others can give an address to are refused.
func TestHosts(t *testing.T) {
	s := unserved(t, "127.0.0.1", "workstation")
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
	if s.URL() != "http://workstation:8080/" {
		t.Errorf("the address is %s", s.URL())
	}
}

// TestToken: beyond this machine, nothing is shown without the token of the address.
func TestToken(t *testing.T) {
	s := unserved(t, "192.0.2.1", "192.0.2.1")
	u, err := url.Parse(s.URL())
	if err != nil || u.Host != "192.0.2.1:8080" || len(u.Query().Get("token")) < 26 {
		t.Fatalf("the address is %s, %v", s.URL(), err)
	}
	token := u.Query().Get("token")
	cookie := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.AddCookie(&http.Cookie{Name: name, Value: value}) }
	}
	for _, test := range []struct {
		path   string
		change func(*http.Request)
		want   int
	}{
		{"/", nil, 403}, {"/events", nil, 403}, {"/favicon.ico", nil, 403}, {"/nothing", nil, 403},
		{"/?token=", nil, 403}, {"/?token=wrong", nil, 403}, {"/?token=" + strings.ToLower(token), nil, 403}, {"/?token=" + token[1:], nil, 403},
		{"/", cookie("ndtune-8080", ""), 403}, {"/", cookie("ndtune-8080", "wrong"), 403}, {"/", cookie("ndtune-8081", token), 403},
		{"/?token=" + token, nil, 200}, {"/", cookie("ndtune-8080", token), 200}, {"/nothing", cookie("ndtune-8080", token), 404},
	} {
		answer := ask(t, s, test.path, "192.0.2.1:8080", test.change)
		if answer.StatusCode != test.want {
			t.Errorf("%s: %s, want %d", test.path, answer.Status, test.want)
		}
		set := strings.Join(answer.Header["Set-Cookie"], "; ")
		if test.want != 200 {
			if set != "" {
				t.Errorf("%s: it sets %s", test.path, set)
			}
			continue
		}
		for _, part := range []string{"ndtune-8080=" + token, "HttpOnly", "SameSite=Strict", "Path=/"} {
			if !strings.Contains(set, part) {
				t.Errorf("%s: the cookie %q lacks %s", test.path, set, part)
			}
		}
	}
	if other := unserved(t, "192.0.2.1", "192.0.2.1"); other.URL() == s.URL() {
		t.Error("two servers have one token")
	}
}

// TestHeaders: of every answer, refused or not.
func TestHeaders(t *testing.T) {
	s := unserved(t, "127.0.0.1", "127.0.0.1")
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
	all, err := Open("0.0.0.0:0", "ndtune test")
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	if strings.Contains(all.URL(), "0.0.0.0") || !strings.Contains(all.URL(), "/?token=") {
		t.Errorf("at all addresses: %s", all.URL())
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
