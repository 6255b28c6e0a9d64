package fleet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/ndtune/ndtune/internal/natsserver"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/space"
)

// A guarded fleet has the documented server. The user nobody may do nothing, and the server does not know the stranger.
type guarded struct{ *natsserver.Documented }

func serveGuarded(t *testing.T) guarded {
	t.Helper()
	const keys = `
nk -gen user > nobody.seed
nk -gen user > stranger.seed
echo "NOBODY_KEY: $(nk -inkey nobody.seed -pubout)" >> keys.conf`
	return guarded{natsserver.StartDocumented(t, keys, func(configuration string) string {
		const users = "users: ["
		nobody := users + ` { nkey: $NOBODY_KEY, permissions: { publish: { deny: ">" }, subscribe: { deny: ">" } } }`
		return strings.Replace(configuration, users, nobody, 1)
	})}
}

// connect connects as a user. A permission that is missing fails the test, unless denied counts it.
func (g guarded) connect(t *testing.T, role string, denied *atomic.Int64) *Connection {
	t.Helper()
	c, err := Connect(t.Context(), g.URL(role), "test "+role, nil)
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

// TestRoles: with the documented keys and configuration, a search with agents works, and each role can do nothing else.
func TestRoles(t *testing.T) {
	g := serveGuarded(t)
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
	const unknown = "Authorization Violation: the address names the file of a user, ?credentials=FILE"
	for user, want := range map[string]string{
		"stranger": unknown, "": unknown,
		"nobody": `Permissions Violation for Subscription to "_INBOX.`,
	} {
		if _, err := Connect(t.Context(), g.URL(user), "test", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("user %q: %v; want %s", user, err, want)
		}
	}
}

// TestAdvice: where the server lacks something, the message says which line of its configuration, or which part of the address.
func TestAdvice(t *testing.T) {
	g := serveGuarded(t)
	g.Kill()
	for name, test := range map[string]struct {
		before, after string // of the documented configuration
		change        func(url string) string
		want          string
	}{
		"no JetStream":     {before: "jetstream: { store_dir: store, max_file_store: 20GB }\n", want: "with «jetstream: enabled» in its configuration"},
		"not for account":  {before: "    jetstream: { max_file: 10GB, max_streams: 10, max_consumers: 10000 }\n", want: "jetstream not enabled for account: the account of this user needs «jetstream: enabled»"},
		"no permission":    {before: `"$JS.API.INFO"`, want: `permissions of this user in the server's configuration need publish: [ "$JS.API.INFO" ]`},
		"another":          {before: `"$JS.API.STREAM.CREATE.KV_ndtune_searches", `, want: `need publish: [ "$JS.API.STREAM.CREATE.KV_ndtune_searches" ]`},
		"no subscription":  {before: `[ "_INBOX.>" ]`, after: `[ "other" ]`, want: `need subscribe: [ "_INBOX.`},
		"few streams":      {before: "max_streams: 10", after: "max_streams: 2", want: "the account needs a larger max_streams in the server's configuration"},
		"a small account":  {before: "max_file: 10GB", after: "max_file: 40MB", want: "the account needs a larger max_file in the server's configuration, the server a larger max_file_store, or its disk more room"},
		"no authority":     {change: func(url string) string { return strings.Replace(url, "authority", "credentials", 1) }, want: "named twice"},
		"nobody's":         {change: func(url string) string { _, c, _ := strings.Cut(url, "&"); return "tls://" + g.Address + "?" + c }, want: "the address names the certificate of the server's authority, ?authority=FILE"},
		"another name":     {change: func(url string) string { return strings.Replace(url, "127.0.0.1", "localhost", 1) }, want: "cert_file of the server's configuration, must have the name or the address of its machine"},
		"a key of nobody":  {change: func(url string) string { return strings.Replace(url, "search.seed", "stranger.seed", 1) }, want: "users of the server's configuration has its public key"},
		"a certificate":    {change: func(url string) string { return strings.Replace(url, "search.seed", "server.pem", 1) }, want: "is neither a credentials file nor the seed of a NATS user"},
		"small messages":   {before: "max_payload: 1MB", after: "max_payload: 1KB", want: ""},
		"nothing is wrong": {},
	} {
		configuration := g.Configuration
		if test.before != "" {
			if configuration = strings.ReplaceAll(configuration, test.before, test.after); configuration == g.Configuration {
				t.Fatalf("docs/fleet.md does not have %s", test.before)
			}
		}
		if err := os.RemoveAll(g.File("store")); err != nil {
			t.Fatal(err)
		}
		g.Configure(t, configuration)
		g.Again(t)
		url := g.URL("search")
		if test.change != nil {
			url = test.change(url)
		}
		c, err := Connect(t.Context(), url, "test", nil)
		if err == nil {
			c.Close()
		}
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v; want %s", name, err, test.want)
		}
		g.Kill()
	}
}

// TestCredentials: a file of credentials, as nsc makes it, and a password in the address are a user's.
func TestCredentials(t *testing.T) {
	credentials, err := filepath.Abs(filepath.Join("testdata", "user.creds"))
	if err != nil {
		t.Fatal(err)
	}
	configuration, err := filepath.Abs(filepath.Join("testdata", "operator.conf"))
	if err != nil {
		t.Fatal(err)
	}
	operated := natsserver.StartWith(t, t.TempDir(), "-c", configuration)
	locked := natsserver.StartWith(t, t.TempDir(), "-js", "-sd", "store", "--user", "u", "--pass", "a,b")
	for url, want := range map[string]string{
		operated.URL() + "?credentials=" + credentials: "",
		operated.URL():                               "Authorization Violation",
		"nats://u:a%2Cb@" + locked.Address:           "",
		"nats://u:SECRET@" + locked.Address:          "Authorization Violation",
		"nats://u:a%2Cb@" + operated.Address:         "Authorization Violation",
		locked.URL() + "?credentials=" + credentials: "Authorization Violation",
	} {
		c, err := Connect(t.Context(), url, "test", nil)
		if err == nil {
			c.Close()
		}
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SECRET")) {
			t.Errorf("%s: %v; want %q", url, err, want)
		}
	}
}

// TestLargeMessages: the largest message is the server's. A result that is larger fails, a configuration or a problem that is larger ends the
// search; each names max_payload.
func TestLargeMessages(t *testing.T) {
	folder := t.TempDir()
	conf := filepath.Join(folder, "server.conf")
	if err := os.WriteFile(conf, []byte("max_payload: 4KB\njetstream: { store_dir: store }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := natsserver.StartWith(t, folder, "-c", conf)
	start(t, s, "m", opens(&fake{capacity: 1, of: func(c space.Configuration) tune.Result {
		r := correct(c)
		if c.Int("i") == 1 {
			r.Times = make([]float64, 3000)
		}
		return r
	}}))
	p := newProblem(t, 2)
	e := open(t, s, p, Options{})
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{})
	if err != nil || len(outcome.Results) != 2 || outcome.Best.Configuration.Int("i") != 0 {
		t.Fatalf("%+v, %v", outcome, err)
	}
	for _, r := range outcome.Results {
		if failed := r.Status == tune.Runtime && strings.Contains(r.Reason, "max_payload"); failed != (r.Configuration.Int("i") == 1) {
			t.Errorf("%s: %s, %s", r.Configuration, r.Status, r.Reason)
		}
	}
	for what, name := range map[string]string{"a configuration": strings.Repeat("i", 8000), "the problem": "i"} {
		large := newProblem(t, 2, func(d *definition.Definition) {
			d.Parameters[0].Name = name
			d.Kernel.Source = strings.Repeat(" ", 1<<20)
		})
		if _, err := Open(t.Context(), connect(t, s), large, gpu, Options{}); err == nil || !strings.Contains(err.Error(), "max_payload") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
