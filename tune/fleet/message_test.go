package fleet

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/worker"
)

func TestRefusals(t *testing.T) {
	s, p := listen(t), newProblem(t, 2)
	start(t, s, "m", func(context.Context, *problem.Problem, worker.Options) (Opened, error) {
		return nil, fmt.Errorf("out of memory")
	})
	_, err := Open(t.Context(), connect(t, s), p, gpu, Options{})
	if err == nil || !strings.Contains(err.Error(), "no agent works for this search:\nm/0:0: out of memory") {
		t.Errorf("error %v", err)
	}
	if all, err := connect(t, s).Devices(t.Context()); err != nil || len(all) != 1 || all[0].Name() != "m/0:0" || len(all[0].Refused) != 1 {
		t.Errorf("devices %+v, %v", all, err)
	}
	for address, want := range map[string]string{
		"nats://192.0.2.1:4222":                             "its address begins with tls://",
		"tls://192.0.2.1:4222":                              "needs credentials",
		"tls://192.0.2.1:4222?authority=/ca.pem":            "needs credentials",
		"nats://127.0.0.1:4222?credentials=/missing":        "the credentials: stat /missing",
		"nats://127.0.0.1:4222?credentials=a&credentials=b": "named twice",
		"nats://127.0.0.1:4222?credential=a":                "the parameters are authority and credentials",
		"127.0.0.1:4222":                                    "not of the form",
		"http://127.0.0.1":                                  "not of the form",
	} {
		if _, err := Connect(t.Context(), address, "test", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", address, err, want)
		}
	}
}

// TestBestIsSentWithItsObjective: by it, the evaluators of agents know what is far worse.
func TestBestIsSentWithItsObjective(t *testing.T) {
	sent := tune.Result{Status: tune.Correct, Times: []float64{1.5}, Objective: 7}
	if b, err := decode[bestOf](encode(bestOf{header: ours, Result: sent})); err != nil || !reflect.DeepEqual(b.Result, sent) {
		t.Errorf("%+v, %v", b.Result, err)
	}
}

// TestForeignProblems: an agent runs no command, reads no file and changes no setting of a device that somebody else's problem names.
func TestForeignProblems(t *testing.T) {
	s := listen(t)
	ran := filepath.Join(t.TempDir(), "ran")
	start(t, s, "m", opens(&fake{of: correct, capacity: 1}))
	for i, test := range []struct {
		change func(*definition.Definition)
		want   string
	}{
		{func(d *definition.Definition) {
			d.Kernel.Source, d.Kernel.Command = "", &definition.Command{Args: []string{"touch", ran}}
		}, "names commands to run (kernel.command), and the agent was not started with --allow commands"},
		{func(d *definition.Definition) { d.Kernel.Source, d.Kernel.File = "", "/etc/passwd" }, "names files of this machine (kernel.file)"},
		{func(d *definition.Definition) {
			d.Measure.Settings = []definition.Setting{{Name: hardware.Clock, Expression: "1200"}}
		}, "changes settings of the device (clock), and the agent was not started with --allow settings"},
	} {
		c := connect(t, s)
		d := newProblem(t, 2).Definition()
		test.change(&d)
		data, err := d.Encode(func(size int) []byte { return make([]byte, size) }, func(*array.Array) string { return "" }, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.problems.PutBytes(t.Context(), "foreign", data); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("s%d", i)
		if _, err := c.searches.Put(t.Context(), id, encode(search{header: ours, ID: id, Begun: id, Digest: "d", Object: "foreign", Device: gpu})); err != nil {
			t.Fatal(err)
		}
		awaitRefusal(t, c, id, test.want)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the command ran")
	}
}

// awaitRefusal waits until a device refuses a search.
func awaitRefusal(t *testing.T, c *Connection, id, want string) {
	t.Helper()
	w, err := c.agents.WatchAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for entry := range w.Updates() {
		if entry == nil {
			continue
		}
		a, err := decode[Announcement](entry.Value())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range a.Refused {
			if r.Search == id {
				if !strings.Contains(r.Why, want) {
					t.Errorf("refused: %s; want %s", r.Why, want)
				}
				return
			}
		}
	}
}

// TestMalformedMessages: messages that cannot be read, of another version, repeated or of nobody change nothing.
func TestMalformedMessages(t *testing.T) {
	s, p := listen(t), newProblem(t, 30)
	var evaluated atomic.Int64
	start(t, s, "m", opens(&fake{of: correct, capacity: 2, evaluated: &evaluated}))
	e := open(t, s, p, Options{Search: "s"})
	c := connect(t, s)
	wrong := answer{header: ours, Search: "s", Key: "nobody", Result: tune.Result{Status: tune.Correct, Times: []float64{1e-9}}}
	other := wrong
	other.Protocol++
	for _, subject := range []string{workSubjects + "s", resultSubjects + "s"} {
		for _, data := range [][]byte{nil, []byte("garbage"), []byte("{}"), []byte(`{"protocol":3}`), []byte(`{"protocol":3,"key":7}`), encode(wrong), encode(other), []byte(`{"protocol":3,"key":"k","values":{"i":99}}`),
			[]byte(`{"protocol":3,"key":"again","remeasure":[{"i":1}],"rounds":1}`), []byte(`{"protocol":3,"key":"again2","remeasure":[{"i":1}],"rounds":1}`), bytes.Repeat([]byte("["), 100_000)} {
			for range 2 {
				if _, err := c.js.Publish(t.Context(), subject, data); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, name := range []string{workStream, resultStream, "KV_" + agentsBucket, "KV_" + searchesBucket} {
		stream, err := c.js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if o := stream.CachedInfo().Config; o.MaxMsgs <= 0 && o.MaxBytes <= 0 {
			t.Errorf("%s has no bounds: %+v", name, o)
		}
	}
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{})
	if err != nil || len(outcome.Results) != 30 || outcome.Best.Configuration.Int("i") != 0 {
		t.Fatalf("%d results, %v", len(outcome.Results), err)
	}
	for _, r := range outcome.Results {
		if r.Times[0] != float64(r.Configuration.Int("i")+1) {
			t.Errorf("%s: %v", r.Configuration, r.Times)
		}
	}
	if evaluated.Load() != 30 {
		t.Errorf("%d evaluations of 30 configurations", evaluated.Load())
	}
}

// TestReplays: copies of messages change nothing, be they of another search, of a finished one or of this one.
func TestReplays(t *testing.T) {
	s, p := listen(t), newProblem(t, 30)
	var evaluated atomic.Int64
	start(t, s, "m", opens(&fake{of: correct, capacity: 2, evaluated: &evaluated}))
	c := connect(t, s)
	// copied gets a copy of each message of a subject.
	copied := func(subject string, each func(data []byte)) {
		t.Helper()
		if _, err := c.nats.Subscribe(subject, func(m *nats.Msg) {
			if m.Header.Get("Copy") == "" {
				each(m.Data)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if err := c.nats.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	publish := func(subject string, data []byte) {
		m := nats.NewMsg(subject)
		m.Data = data
		m.Header.Set("Copy", "1")
		if _, err := c.js.PublishMsg(context.Background(), m); err != nil {
			t.Error(err)
		}
	}
	// All that is sent of a search is sent to a later one, too, and again to this one.
	copied(resultSubjects+"one", func(data []byte) {
		publish(resultSubjects+"two", data)
		publish(resultSubjects+"one", data)
	})
	copied(workSubjects+"two", func(data []byte) { publish(workSubjects+"two", data) })
	run := func(id string) {
		t.Helper()
		e := open(t, s, p, Options{Search: id})
		before := evaluated.Load()
		outcome, err := loop.Run(t.Context(), p, e, loop.Options{})
		if err != nil || len(outcome.Results) != 30 || outcome.Best.Configuration.Int("i") != 0 {
			t.Fatalf("%s: %+v, %v", id, outcome, err)
		}
		if n := evaluated.Load() - before; n < 30 {
			t.Errorf("%s: %d evaluations of 30 configurations: results of another search were taken", id, n)
		}
		e.Close()
	}
	run("one")
	run("two")
	for _, id := range []string{"one", "two"} { // of searches that are over
		publish(workSubjects+id, []byte(`{"protocol":3}`))
		publish(resultSubjects+id, []byte(`{"protocol":3}`))
	}
	run("three")
}

// TestFields: docs/fleet.md names all fields of «fleet show --json», and a device that is silent counts as not heard of.
func TestFields(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "fleet.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []reflect.Type{reflect.TypeFor[Announcement](), reflect.TypeFor[Refusal]()} {
		for _, field := range reflect.VisibleFields(of) {
			if field.Anonymous {
				continue
			}
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("docs/fleet.md does not have the field %s", name)
			}
		}
	}
	begun := time.Now()
	for _, test := range []struct {
		search  string
		silence time.Duration
		what    string
		since   time.Duration
	}{{"", renewal, "idle", time.Minute}, {"s", renewal, "k", time.Minute}, {"s", 12 * time.Second, "not heard of", 12 * time.Second}} {
		a := Announcement{Search: test.search, Problem: "k", Since: begun, Announced: begun.Add(time.Minute), Silence: test.silence}
		if what, since := a.Doing(); what != test.what || since != test.since {
			t.Errorf("%+v: %s for %s", test, what, since)
		}
	}
}

// TestClockJumps: whatever the clocks of an agent, the server and this machine say, a device is shown as doing what it does, for a time that
// can be.
func TestClockJumps(t *testing.T) {
	const tenYears = 10 * 365 * 24 * time.Hour
	begun := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for _, jump := range []time.Duration{-tenYears, -time.Hour, 0, time.Hour, tenYears} {
		if s := silence(begun, begun.Add(jump)); s < 0 || s > expiry || jump <= 0 && s != 0 {
			t.Errorf("a jump by %v: silent for %v", jump, s)
		}
		a := Announcement{Search: "s", Problem: "k", Since: begun, Announced: begun.Add(jump)}
		if what, since := a.Doing(); what != "k" || since < 0 {
			t.Errorf("a jump by %v: %s for %v", jump, what, since)
		}
	}
}

// TestOptionsThatTravel: a search says no more of an agent's pool than what is the same on all machines, whatever it sends.
func TestOptionsThatTravel(t *testing.T) {
	same := worker.Options{Iterations: 3, EarlyStop: 2, BuildTimeout: time.Second, KernelTimeout: time.Minute, Peaks: &hardware.Peaks{}}
	all := same
	all.Workers, all.Single, all.Outputs, all.Timer, all.Maker, all.Input = 9, true, "folder", "host", "maker", "input"
	s, err := decode[search](encode(search{header: ours, Worker: all}))
	if err != nil || !reflect.DeepEqual(s.Worker, same) {
		t.Errorf("%+v, %v", s.Worker, err)
	}
	hostile := fmt.Appendf(nil, `{"protocol":%d,"settings":{"Workers":9,"Outputs":"folder","Maker":"maker","Output":{},"Set":[]}}`, Protocol)
	if s, err = decode[search](hostile); err != nil || !reflect.DeepEqual(s.Worker, worker.Options{}) {
		t.Errorf("%+v, %v", s.Worker, err)
	}
}
