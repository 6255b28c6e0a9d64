package fleet

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// secured starts a server as beyond loopback.
func secured(t *testing.T, folder string) *Server {
	t.Helper()
	s, err := listenAt("127.0.0.1", 0, folder, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestSecuredAddresses: a connection needs the password and the certificate of the server.
func TestSecuredAddresses(t *testing.T) {
	folder := t.TempDir()
	abandoned := filepath.Join(folder, "."+secretsFile+".1234567890") // of a server that was killed as it wrote its secrets
	if err := os.WriteFile(abandoned, []byte(`{"certificate":"MI`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := secured(t, folder)
	if _, err := os.Stat(abandoned); err == nil {
		t.Error("the secrets are not written as a whole: what a killed server has left is still there")
	}
	first, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	other, err := url.Parse(secured(t, t.TempDir()).URL())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		change func(u *url.URL)
		want   string
	}{
		{func(u *url.URL) { u.RawQuery = other.RawQuery }, "another certificate"},
		{func(u *url.URL) { u.User = other.User }, "Authorization Violation"},
		{func(u *url.URL) { u.RawQuery = "" }, "failed to verify certificate"},
		{func(u *url.URL) { u.Scheme, u.RawQuery = "nats", "" }, "failed to verify certificate"}, // the server wants encryption
	} {
		u := *first
		test.change(&u)
		c, err := Connect(t.Context(), u.String(), "test", nil)
		if err == nil {
			c.Close()
		}
		password, _ := first.User.Password()
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), password) {
			t.Errorf("want %s: %v", test.want, err)
		}
	}
	everywhere, err := Listen("0.0.0.0:0", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer everywhere.Close()
	u, err := url.Parse(everywhere.AgentURL())
	if err != nil || !everywhere.Secured() {
		t.Fatalf("a server beyond loopback is not secured: %v", err)
	}
	for _, scheme := range []string{"nats", "tls"} {
		if c, err := Connect(t.Context(), scheme+"://127.0.0.1:"+u.Port(), "test", nil); err == nil {
			t.Error("a connection without a password, by", scheme)
			c.Close()
		}
	}
	if info, err := os.Stat(filepath.Join(folder, secretsFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the secrets: %v, %v", info, err)
	}
	s.Close()
	again, err := url.Parse(secured(t, folder).URL())
	if err != nil || again.RawQuery != first.RawQuery || again.User.String() != first.User.String() {
		t.Errorf("a server with the same folder has another address: %s, not %s", again, first)
	}
}
