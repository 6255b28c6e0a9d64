package fleet

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

var gpu = hardware.Device{Name: "GPU", Vendor: "V", Platform: "P", Driver: "1", Type: "gpu", Version: "OpenCL 3.0", ComputeUnits: 4}

// newProblem has the configurations i = 0 … n-1.
func newProblem(t testing.TB, n int, changes ...func(*problem.Definition)) *problem.Problem {
	t.Helper()
	var all []space.Value
	for i := range n {
		all = append(all, i)
	}
	d := problem.Definition{
		Kernel: problem.Kernel{Name: "k", Source: " "}, ProblemSize: []problem.Expr{"1"},
		Parameters: []space.Parameter{{Name: "i", Values: all}},
	}
	for _, change := range changes {
		change(&d)
	}
	p, err := problem.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fake evaluates configurations with a function.
type fake struct {
	of        func(space.Configuration) tune.Result
	capacity  int
	evaluated *atomic.Int64
	closed    atomic.Bool
	best      atomic.Pointer[tune.Result]
	times     func(i int) float64 // of a measurement in turn; nil: i + 1
}

func (f *fake) Device() hardware.Device { d := gpu; d.Timer = "event"; return d }
func (f *fake) Capacity() int           { return f.capacity }
func (f *fake) Close()                  { f.closed.Store(true) }
func (f *fake) Observe(r tune.Result)   { f.best.Store(&r) }

func (f *fake) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case c, ok := <-in:
			if !ok {
				return nil
			}
			r := f.of(c)
			r.Configuration = c
			if f.evaluated != nil {
				f.evaluated.Add(1)
			}
			select {
			case out <- r:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

func (f *fake) Remeasure(_ context.Context, all []space.Configuration, rounds int) ([][]float64, error) {
	var times [][]float64
	for _, c := range all {
		var own []float64
		for range rounds {
			time := float64(c.Int("i") + 1)
			if f.times != nil {
				time = f.times(c.Int("i"))
			}
			own = append(own, time)
		}
		times = append(times, own)
	}
	return times, nil
}

func correct(c space.Configuration) tune.Result {
	return tune.Result{Status: tune.Correct, Times: []float64{float64(c.Int("i") + 1)}, Verified: true}
}

// listen starts a server for a test.
func listen(t testing.TB) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func connect(t testing.TB, s *Server) *Connection {
	t.Helper()
	c, err := Connect(t.Context(), s.URL(), "test", Access{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// start runs an agent with one device until the test or the returned function ends it.
func start(t testing.TB, s *Server, name string, open func(context.Context, *problem.Problem, Settings) (Opened, error)) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	a := &Agent{Machine: name, Tool: "test", Devices: []Device{{Selector: "0:0", Identity: gpu, Open: open}}}
	c, done := connect(t, s), make(chan error, 1)
	go func() { done <- a.Run(ctx, c) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return end
}

func opens(f *fake) func(context.Context, *problem.Problem, Settings) (Opened, error) {
	return func(context.Context, *problem.Problem, Settings) (Opened, error) { return f, nil }
}

func open(t testing.TB, s *Server, p *problem.Problem, o Options) *Evaluator {
	t.Helper()
	e, err := Open(t.Context(), connect(t, s), p, gpu, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func TestASearchOnTwoAgents(t *testing.T) {
	s, p := listen(t), newProblem(t, 200)
	var evaluated atomic.Int64
	for i := range 2 {
		start(t, s, fmt.Sprint("machine", i), opens(&fake{of: correct, capacity: 3, evaluated: &evaluated}))
	}
	e := open(t, s, p, Options{})
	outcome, err := tune.Run(t.Context(), p, e, tune.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	devices := map[string]int{}
	for _, r := range outcome.Results {
		if key := r.Configuration.Key(); seen[key] {
			t.Errorf("two results of %s", r.Configuration)
		} else {
			seen[key] = true
		}
		devices[r.Device]++
		if want := float64(r.Configuration.Int("i") + 1); r.Status != tune.Correct || r.Times[0] != want || !r.Verified {
			t.Errorf("%s: %v, %v; want %v", r.Configuration, r.Status, r.Times, want)
		}
	}
	if len(seen) != 200 || evaluated.Load() != 200 || len(devices) != 2 {
		t.Errorf("%d results, %d evaluations, devices %v", len(seen), evaluated.Load(), devices)
	}
	if best := outcome.Best; best == nil || best.Configuration.Int("i") != 0 || len(best.Final) == 0 {
		t.Errorf("best %+v", best)
	}
	if e.Device().Timer != "event" {
		t.Errorf("timer %q", e.Device().Timer)
	}
}

// TestReadingsCross has readings that are missing, which JSON has no number for, and metrics of them.
func TestReadingsCross(t *testing.T) {
	s, p := listen(t), newProblem(t, 20, func(d *problem.Definition) {
		d.Measure.Observe = []string{hardware.Energy, hardware.Clock}
	})
	start(t, s, "machine", opens(&fake{capacity: 3, of: func(c space.Configuration) tune.Result {
		r := correct(c)
		r.Readings = []hardware.Reading{{Quantity: hardware.Energy, Value: 1e-3, Uncertainty: 1e-5, Note: "note"}, hardware.MissingReading(hardware.Clock, "no clock")}
		return r
	}}))
	e := open(t, s, p, Options{})
	outcome, err := tune.Run(t.Context(), p, e, tune.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range outcome.Results {
		energy, _ := r.Metric(hardware.Energy)
		want := hardware.Reading{Quantity: hardware.Energy, Value: 1e-3, Uncertainty: 1e-5, Note: "note"}
		if len(r.Readings) != 2 || energy != 1e-3 || r.Readings[0] != want || r.Readings[1].Missing != "no clock" || r.Readings[1].Value == r.Readings[1].Value {
			t.Errorf("%s has the energy %v and the readings %v", r.Configuration, energy, r.Readings)
		}
	}
}

func TestAnAgentThatLeaves(t *testing.T) {
	s, p := listen(t), newProblem(t, 100)
	stuck, free := make(chan struct{}), make(chan struct{})
	var once sync.Once
	leave := start(t, s, "leaves", opens(&fake{capacity: 5, of: func(c space.Configuration) tune.Result {
		once.Do(func() { close(stuck) })
		<-free
		return correct(c)
	}}))
	e := open(t, s, p, Options{})
	go func() {
		<-stuck
		start(t, s, "stays", opens(&fake{of: correct, capacity: 2}))
		close(free)
		leave()
	}()
	outcome, err := tune.Run(t.Context(), p, e, tune.Options{Finalists: -1})
	if err != nil || len(outcome.Results) != 100 {
		t.Fatalf("%d results, %v", len(outcome.Results), err)
	}
}

func TestRefusals(t *testing.T) {
	s, p := listen(t), newProblem(t, 2)
	start(t, s, "m", func(context.Context, *problem.Problem, Settings) (Opened, error) {
		return nil, fmt.Errorf("out of memory")
	})
	_, err := Open(t.Context(), connect(t, s), p, gpu, Options{})
	if err == nil || !strings.Contains(err.Error(), "no agent works for this search:\nm/0:0: out of memory") {
		t.Errorf("error %v", err)
	}
	if all, err := connect(t, s).Devices(t.Context()); err != nil || len(all) != 1 || all[0].Name() != "m/0:0" || len(all[0].Refused) != 1 {
		t.Errorf("devices %+v, %v", all, err)
	}
	inUse := strings.TrimPrefix(s.URL(), "nats://")
	for address, want := range map[string]string{"192.0.2.1:4222": "listen tcp 192.0.2.1:4222: ", inUse: "in use", "127.0.0.1:x": "no number", "127.0.0.1": "not HOST:PORT"} {
		if server, err := Listen(address, t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", address, err, want)
			server.Close()
		}
	}
	for address, want := range map[string]string{
		"nats://192.0.2.1:4222": "its address begins with tls://",
		"tls://192.0.2.1:4222":  "needs credentials",
		"127.0.0.1:4222":        "not of the form",
		"http://127.0.0.1":      "not of the form",
	} {
		if _, err := Connect(t.Context(), address, "test", Access{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", address, err, want)
		}
	}
}

func TestAnInterruptedSearchGoesOn(t *testing.T) {
	s, p := listen(t), newProblem(t, 60)
	var evaluated atomic.Int64
	start(t, s, "m", opens(&fake{of: correct, capacity: 4, evaluated: &evaluated}))
	e := open(t, s, p, Options{Search: "again"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	outcome, err := tune.Run(ctx, p, e, tune.Options{Finalists: -1, OnResult: func(r tune.Result, _ bool) {
		if r.Configuration.Int("i") == 20 {
			cancel()
		}
	}})
	if err != nil || outcome.Stop != tune.Interrupted {
		t.Fatalf("%v, %v", outcome.Stop, err)
	}
	e.Close()
	e = open(t, s, p, Options{Search: "again"})
	outcome, err = tune.Run(t.Context(), p, e, tune.Options{Finalists: -1})
	if err != nil || len(outcome.Results) != 60 {
		t.Fatalf("%d results, %v", len(outcome.Results), err)
	}
	if n := evaluated.Load(); n < 60 || n > 70 {
		t.Errorf("%d evaluations of 60 configurations", n)
	}
}

func BenchmarkConfiguration(b *testing.B) {
	s, p := listen(b), newProblem(b, b.N)
	start(b, s, "m", opens(&fake{of: correct, capacity: 8}))
	e := open(b, s, p, Options{})
	in, out := make(chan space.Configuration), make(chan tune.Result)
	var all []space.Configuration
	for i := range b.N {
		c, err := p.Parameters().Configure(map[string]space.Value{"i": i})
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, c)
	}
	b.ResetTimer()
	go func() {
		for _, c := range all {
			in <- c
		}
		close(in)
	}()
	go func() {
		if err := e.Evaluate(context.Background(), in, out); err != nil {
			b.Error(err)
		}
		close(out)
	}()
	for range out {
	}
}

// TestForeignProblems: an agent runs no command and reads no file that somebody else's problem names, and does not
// even make the problem.
func TestForeignProblems(t *testing.T) {
	s := listen(t)
	ran := filepath.Join(t.TempDir(), "ran")
	start(t, s, "m", opens(&fake{of: correct, capacity: 1}))
	for _, test := range []struct {
		change func(*problem.Definition)
		want   string
	}{
		{func(d *problem.Definition) {
			d.Kernel.Source, d.Kernel.Command = "", &problem.Command{Args: []string{"touch", ran}}
		}, "names commands to run (kernel.command), and the agent was not started with --allow-commands"},
		{func(d *problem.Definition) { d.Kernel.Source, d.Kernel.File = "", "/etc/passwd" }, "names files of this machine (kernel.file)"},
	} {
		c := connect(t, s)
		d := newProblem(t, 2).Definition()
		test.change(&d)
		var data bytes.Buffer
		if err := gob.NewEncoder(&data).Encode(d); err != nil {
			t.Fatal(err)
		}
		if _, err := c.problems.PutBytes(t.Context(), "foreign", data.Bytes()); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("s%d", len(test.want))
		if _, err := c.searches.Put(t.Context(), id, encode(search{Protocol: Protocol, ID: id, Begun: id, Digest: "d", Object: "foreign", Device: gpu})); err != nil {
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
	wrong := answer{Protocol: Protocol, Search: "s", Key: "nobody", Result: tune.Result{Status: tune.Correct, Times: []float64{1e-9}}}
	other := wrong
	other.Protocol++
	for _, subject := range []string{workSubjects + "s", resultSubjects + "s"} {
		for _, data := range [][]byte{nil, []byte("garbage"), []byte("{}"), []byte(`{"protocol":1}`), []byte(`{"protocol":1,"key":7}`), encode(wrong), encode(other), []byte(`{"protocol":1,"key":"k","values":{"i":99}}`),
			[]byte(`{"protocol":1,"key":"again","remeasure":[{"i":1}],"rounds":1}`), []byte(`{"protocol":1,"key":"again2","remeasure":[{"i":1}],"rounds":1}`), bytes.Repeat([]byte("["), 100_000)} {
			for range 2 {
				if _, err := c.js.Publish(t.Context(), subject, data); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if _, err := c.js.Publish(t.Context(), resultSubjects+"s", make([]byte, maxMessage+1)); err == nil {
		t.Error("the server took a huge message")
	}
	for _, name := range []string{workStream, resultStream, "KV_" + agentsBucket, "KV_" + searchesBucket} {
		stream, err := c.js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if o := stream.CachedInfo().Config; o.MaxMsgSize != maxMessage || o.MaxMsgs <= 0 && o.MaxBytes <= 0 {
			t.Errorf("%s has no bounds: %+v", name, o)
		}
	}
	outcome, err := tune.Run(t.Context(), p, e, tune.Options{})
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
		outcome, err := tune.Run(t.Context(), p, e, tune.Options{})
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
		publish(workSubjects+id, []byte(`{"protocol":1}`))
		publish(resultSubjects+id, []byte(`{"protocol":1}`))
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
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
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

// TestAgentsThatLeaveInOrder: work that agents give back counts as no loss of an agent.
func TestAgentsThatLeaveInOrder(t *testing.T) {
	s, p := listen(t), newProblem(t, 1)
	var e *Evaluator
	held := make(chan struct{})
	stuck := func(context.Context, *problem.Problem, Settings) (Opened, error) {
		return &holder{fake{capacity: 1}, held}, nil
	}
	end := start(t, s, "m0", stuck)
	e = open(t, s, p, Options{})
	done := make(chan *tune.Outcome, 1)
	go func() {
		outcome, err := tune.Run(context.Background(), p, e, tune.Options{Finalists: -1})
		if err != nil {
			t.Error(err)
		}
		done <- outcome
	}()
	for i := range maxDeliveries + 1 {
		<-held
		next := start(t, s, fmt.Sprint("n", i), stuck)
		end()
		end = next
	}
	<-held
	start(t, s, "last", opens(&fake{of: correct, capacity: 1}))
	end()
	if outcome := <-done; len(outcome.Results) != 1 || outcome.Results[0].Status != tune.Correct {
		t.Errorf("%+v", outcome.Results)
	}
}

// holder holds each configuration until its context ends.
type holder struct {
	fake
	held chan<- struct{}
}

func (h *holder) Evaluate(ctx context.Context, in <-chan space.Configuration, _ chan<- tune.Result) error {
	for {
		select {
		case _, ok := <-in:
			if !ok {
				return nil
			}
			h.held <- struct{}{}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TestAConfigurationThatKills: a configuration whose agents are lost becomes a failed result, and the others are
// evaluated.
func TestAConfigurationThatKills(t *testing.T) {
	usual := ackWait
	t.Cleanup(func() { ackWait = usual }) // after the agents have ended
	ackWait = 200 * time.Millisecond
	s, p := listen(t), newProblem(t, 3)
	c := connect(t, s)
	begun, free := make(chan struct{}), make(chan struct{})
	var once sync.Once
	start(t, s, "m", opens(&fake{capacity: 1, of: func(c space.Configuration) tune.Result {
		once.Do(func() { close(begun) })
		<-free
		return correct(c)
	}}))
	e := open(t, s, p, Options{Search: "s"})
	go func() {
		defer close(free)
		<-begun
		queue, err := c.js.Consumer(t.Context(), workStream, "s")
		if err != nil {
			t.Error(err)
			return
		}
		for range maxDeliveries { // each is an agent that takes the next configuration and dies
			if _, err := queue.Next(jetstream.FetchMaxWait(10 * time.Second)); err != nil {
				t.Error(err)
			}
		}
	}()
	outcome, err := tune.Run(t.Context(), p, e, tune.Options{Finalists: -1})
	if err != nil || len(outcome.Results) != 3 {
		t.Fatalf("%d results, %v", len(outcome.Results), err)
	}
	for _, r := range outcome.Results {
		failed := r.Status == tune.Runtime && strings.Contains(r.Reason, "3 agents were lost")
		if failed != (r.Configuration.Int("i") == 1) {
			t.Errorf("%s: %s, %s", r.Configuration, r.Status, r.Reason)
		}
	}
}

// breaks evaluates nothing.
type breaks struct{ fake }

func (b *breaks) Evaluate(context.Context, <-chan space.Configuration, chan<- tune.Result) error {
	return errors.New("the device is gone")
}

// TestADeviceThatBreaks: a search whose only device breaks ends with the reason. The refusal is of this search alone:
// the next one with its id is taken.
func TestADeviceThatBreaks(t *testing.T) {
	s, p := listen(t), newProblem(t, 5)
	var opened atomic.Int64
	start(t, s, "m", func(context.Context, *problem.Problem, Settings) (Opened, error) {
		if opened.Add(1) == 1 {
			return &breaks{fake{capacity: 1}}, nil
		}
		return &fake{of: correct, capacity: 1}, nil
	})
	c := connect(t, s)
	e, err := Open(t.Context(), c, p, gpu, Options{Search: "s"})
	if err == nil {
		_, err = tune.Run(t.Context(), p, e, tune.Options{})
		e.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "no agent works for this search:\nm/0:0: the device is gone") {
		t.Fatalf("error %v", err)
	}
	outcome, err := tune.Run(t.Context(), p, open(t, s, p, Options{Search: "s"}), tune.Options{})
	if err != nil || len(outcome.Results) != 5 {
		t.Fatalf("%+v, %v", outcome, err)
	}
}

// TestAProblemTravelsOnce: an agent needs the server's copy of the problem only to begin a search.
func TestAProblemTravelsOnce(t *testing.T) {
	s, p := listen(t), newProblem(t, 5)
	start(t, s, "m", opens(&fake{of: correct, capacity: 1}))
	e := open(t, s, p, Options{})
	if err := connect(t, s).problems.Delete(t.Context(), p.Digest()); err != nil {
		t.Fatal(err)
	}
	outcome, err := tune.Run(t.Context(), p, e, tune.Options{})
	if err != nil || len(outcome.Results) != 5 {
		t.Fatalf("%+v, %v", outcome, err)
	}
	for range 2 { // each ends a session of the agent
		if times, err := e.Remeasure(t.Context(), []space.Configuration{outcome.Best.Configuration}, 2); err != nil || len(times) != 1 {
			t.Fatalf("%v, %v", times, err)
		}
	}
}
