package fleet

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/ndtune/ndtune/tune/loop"
)

// A guarded fleet is a server with TLS and a user for each role.
type guarded struct {
	url   func(role string) string
	users map[string]string // their files, by role; "nobody" may do nothing, and "stranger" is unknown
}

// servePasswords starts a server of this program as beyond loopback.
func servePasswords(t *testing.T) *guarded {
	t.Helper()
	s := secured(t, t.TempDir())
	return &guarded{url: func(role string) string {
		switch role {
		case "agent":
			return s.AgentURL()
		case "search":
			return s.URL()
		}
		return strings.Replace(s.URL(), "search:", "search:no", 1)
	}}
}

// serveGuarded starts the documented server. Users prove themselves by an nkey in its configuration, or by credentials of
// an operator, as nsc makes them.
func serveGuarded(t *testing.T, credentials bool) *guarded {
	t.Helper()
	folder := t.TempDir()
	g := &guarded{users: map[string]string{}}
	documented, err := os.ReadFile(filepath.Join("..", "..", "docs", "fleet", "server.conf"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(documented), "users: [", `users: [ { nkey: UNOBODY, permissions: { publish: { deny: ">" }, subscribe: { deny: ">" } } }`, 1)
	keys := map[string]nkeys.KeyPair{}
	for _, role := range []string{"agent", "search", "nobody", "stranger"} {
		keys[role] = keyPair(t, nkeys.CreateUser)
		seed, err := keys[role].Seed()
		if err != nil {
			t.Fatal(err)
		}
		g.users[role] = filepath.Join(folder, role)
		if err := os.WriteFile(g.users[role], seed, 0o600); err != nil {
			t.Fatal(err)
		}
		text = strings.ReplaceAll(text, "U"+strings.ToUpper(role)+",", public(t, keys[role])+",")
	}
	certificate, key := certify(t, folder)
	for before, after := range map[string]string{
		"0.0.0.0:4222": "127.0.0.1:-1", "/var/lib/ndtune-fleet": filepath.Join(folder, "store"), "/etc/ndtune-fleet/server.pem": certificate, "/etc/ndtune-fleet/server.key": key,
	} {
		if !strings.Contains(text, before) {
			t.Fatalf("docs/fleet/server.conf does not have %s", before)
		}
		text = strings.Replace(text, before, filepath.ToSlash(after), 1)
	}
	path := filepath.Join(folder, "server.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range o.Nkeys {
		for role, want := range map[string]*server.Permissions{"agent": agentPermissions(), "search": searchPermissions()} {
			if u.Nkey == public(t, keys[role]) && !(sameSubjects(u.Permissions.Publish.Allow, want.Publish.Allow) && sameSubjects(u.Permissions.Subscribe.Allow, want.Subscribe.Allow)) {
				t.Errorf("docs/fleet/server.conf and roles.go have other subjects of an %s:\n%q\n%q", role, u.Permissions.Publish, want.Publish)
			}
		}
	}
	if credentials {
		g.credentials(t, o, keys)
	}
	o.NoLog, o.NoSigs = true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(startLimit) {
		t.Fatal("the server did not start")
	}
	g.url = func(role string) string {
		parameters := url.Values{authorityParameter: {certificate}}
		if g.users[role] != "" {
			parameters.Set(credentialsParameter, g.users[role])
		}
		return "tls://127.0.0.1:" + strconv.Itoa(s.Addr().(*net.TCPAddr).Port) + "?" + parameters.Encode()
	}
	return g
}

func sameSubjects(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func keyPair(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	k, err := create()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func public(t *testing.T, k nkeys.KeyPair) string {
	t.Helper()
	text, err := k.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// credentials makes an operator, an account and credentials of users with the permissions of those in the options. They
// take the place of the accounts in the options.
func (g *guarded) credentials(t *testing.T, o *server.Options, keys map[string]nkeys.KeyPair) {
	t.Helper()
	operator := keyPair(t, nkeys.CreateOperator)
	resolver := &server.MemAccResolver{}
	account := func(name string, storage int64) nkeys.KeyPair {
		k := keyPair(t, nkeys.CreateAccount)
		claims := jwt.NewAccountClaims(public(t, k))
		claims.Name = name
		claims.Limits.DiskStorage = storage
		token, err := claims.Encode(operator)
		if err == nil {
			err = resolver.Store(public(t, k), token)
		}
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	o.SystemAccount = public(t, account("SYS", 0))
	ndtune := account("NDTUNE", -1)
	for _, u := range o.Nkeys {
		for role, k := range keys {
			if public(t, k) != u.Nkey {
				continue
			}
			claims := jwt.NewUserClaims(u.Nkey)
			claims.Pub = jwt.Permission{Allow: u.Permissions.Publish.Allow, Deny: u.Permissions.Publish.Deny}
			claims.Sub = jwt.Permission{Allow: u.Permissions.Subscribe.Allow, Deny: u.Permissions.Subscribe.Deny}
			token, err := claims.Encode(ndtune)
			if err != nil {
				t.Fatal(err)
			}
			seed, err := k.Seed()
			if err != nil {
				t.Fatal(err)
			}
			file, err := jwt.FormatUserConfig(token, seed)
			if err == nil {
				err = os.WriteFile(g.users[role], file, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	trusted, err := jwt.NewOperatorClaims(public(t, operator)).Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := jwt.DecodeOperatorClaims(trusted)
	if err != nil {
		t.Fatal(err)
	}
	o.TrustedOperators, o.AccountResolver, o.Accounts, o.Nkeys = []*jwt.OperatorClaims{claims}, resolver, nil, nil
}

// certify makes a certificate for this machine, which is its own authority.
func certify(t *testing.T, folder string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	x := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fleet"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, x, x, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, bytes []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("server.pem", "CERTIFICATE", der), write("server.key", "PRIVATE KEY", secret)
}

// connect connects as a user. A permission that is missing fails the test, unless denied counts it.
func (g *guarded) connect(t *testing.T, role string, denied *atomic.Int64) *Connection {
	t.Helper()
	c, err := Connect(t.Context(), g.url(role), "test "+role, nil)
	if err != nil {
		t.Fatalf("%s: %v", role, err)
	}
	t.Cleanup(c.Close)
	c.nats.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		if denied == nil || !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("%s: %v", role, err)
		} else {
			denied.Add(1)
		}
	})
	return c
}

// TestRoles: a search with agents works, and each role can do nothing else, with the server of this program and with the
// documented configuration of another one.
func TestRoles(t *testing.T) {
	t.Run("passwords", func(t *testing.T) { testRoles(t, servePasswords(t)) })
	t.Run("nkeys", func(t *testing.T) { testRoles(t, serveGuarded(t, false)) })
	t.Run("credentials", func(t *testing.T) { testRoles(t, serveGuarded(t, true)) })
}

func testRoles(t *testing.T, g *guarded) {
	p := newProblem(t, 40)
	for _, name := range []string{"a", "b"} {
		a := &Agent{Machine: name, Tool: "test", Devices: []Device{{Selector: "0:0", Identity: gpu, Open: opens(&fake{of: correct, capacity: 2})}}}
		ctx, cancel := context.WithCancel(context.Background())
		c, done := g.connect(t, "agent", nil), make(chan error, 1)
		go func() { done <- a.Run(ctx, c) }()
		t.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
	c := g.connect(t, "search", nil)
	e, err := Open(t.Context(), c, p, gpu, Options{})
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{})
	if err != nil || len(outcome.Results) != 40 || outcome.Best.FinalDevice == "" {
		t.Fatalf("%+v, %v", outcome, err)
	}
	if all, err := c.Devices(t.Context()); err != nil || len(all) != 2 {
		t.Errorf("devices %+v, %v", all, err)
	}
	e.Close()

	// Neither role does the other's part, and a user without rights does nothing.
	for role, forbidden := range map[string][]string{
		"agent": {
			workSubjects + "s", bestSubjects + "s", measureSubjects + "a", "$KV.ndtune_searches.s", "$O.ndtune_problems.M.x", "$O.ndtune_problems.C.x",
			"$JS.API.STREAM.PURGE.NDTUNE_WORK", "$JS.API.STREAM.PURGE.NDTUNE_RESULTS", "$JS.API.STREAM.DELETE.NDTUNE_WORK", "$JS.API.STREAM.UPDATE.NDTUNE_WORK",
			"$JS.API.CONSUMER.CREATE.NDTUNE_WORK.x.ndtune.work.x", "$JS.API.CONSUMER.CREATE.NDTUNE_RESULTS.x", "$JS.API.CONSUMER.DELETE.NDTUNE_WORK.s",
			"$JS.API.CONSUMER.CREATE.KV_ndtune_agents.x", "$JS.API.STREAM.CREATE.OTHER", "other",
		},
		"search": {
			resultSubjects + "s", "$KV.ndtune_agents.a", "$JS.ACK.NDTUNE_WORK.s.1.1.1.1.1",
			"$JS.API.STREAM.PURGE.NDTUNE_RESULTS", "$JS.API.STREAM.PURGE.KV_ndtune_agents", "$JS.API.STREAM.DELETE.NDTUNE_WORK", "$JS.API.STREAM.UPDATE.NDTUNE_WORK",
			"$JS.API.CONSUMER.MSG.NEXT.NDTUNE_WORK.s", "$JS.API.STREAM.CREATE.OTHER", "other",
		},
	} {
		var denied atomic.Int64
		c := g.connect(t, role, &denied)
		for _, subject := range forbidden {
			if err := c.nats.Publish(subject, []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.nats.Flush(); err != nil {
			t.Fatal(err)
		}
		for _, subject := range []string{">", "ndtune.>", workSubjects + "*", resultSubjects + "*", "$KV.>"} {
			if _, err := c.nats.SubscribeSync(subject); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.nats.Flush(); err != nil {
			t.Fatal(err)
		}
		closed := make(chan struct{})
		c.nats.SetClosedHandler(func(*nats.Conn) { close(closed) }) // comes after all errors
		c.nats.Close()
		<-closed
		if got, want := denied.Load(), int64(len(forbidden)+5); got != want {
			t.Errorf("%s: %d of %d were denied", role, got, want)
		}
	}
	users := map[string]string{"stranger": "Authorization Violation", "": "Authorization Violation"}
	if g.users["nobody"] != "" {
		users["nobody"] = "Permissions Violation"
	}
	for user, want := range users {
		if _, err := Connect(t.Context(), g.url(user), "test", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("user %q: %v; want %s", user, err, want)
		}
	}
}
