package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ndtune/ndtune/internal/natsserver"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/worker"
)

func configured(t *testing.T, p *problem.Problem, i int) space.Configuration {
	t.Helper()
	c, err := p.Parameters().Configure(map[string]space.Value{"i": i})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAnotherEvaluation: a search may evaluate a configuration again, as it does if its environment is in doubt, and one
// that goes on may evaluate a failure again. Neither gets the result of before.
func TestAnotherEvaluation(t *testing.T) {
	s, p := listen(t), newProblem(t, 2)
	var evaluated atomic.Int64
	start(t, s, "m", opens(&fake{capacity: 1, of: func(c space.Configuration) tune.Result {
		if evaluated.Add(1) <= 2 {
			return tune.Result{Status: tune.Runtime, Reason: "no space left on device"}
		}
		return correct(c)
	}}))
	e := open(t, s, p, Options{Search: "s"})
	for range 2 {
		if r, err := tune.EvaluateOne(t.Context(), e, configured(t, p, 0)); err != nil || r.Status != tune.Runtime {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	e.Close()
	e = open(t, s, p, Options{Search: "s"})
	if r, err := tune.EvaluateOne(t.Context(), e, configured(t, p, 0)); err != nil || r.Status != tune.Correct {
		t.Fatalf("%+v, %v", r, err)
	}
}

// TestLossesSideBySide has the tests that mostly wait.
func TestLossesSideBySide(t *testing.T) {
	usual := ackWait
	t.Cleanup(func() { ackWait = usual }) // after the agents have ended
	ackWait = 500 * time.Millisecond
	for what, test := range map[string]func(*testing.T){
		"a server that forgets": aServerThatForgets, "a cluster": aCluster, "a measurement out of sight": aMeasurementOutOfSight,
		"an agent that leaves": anAgentThatLeaves, "work that is lost": workThatIsLost,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// TestAServerThatIsKilled: a server that is killed, and started again with its store, costs time alone: while configurations are evaluated, and
// while the finalists are measured.
func TestAServerThatIsKilled(t *testing.T) {
	s, p := listen(t), newProblem(t, 40)
	var evaluated, measured atomic.Int64
	restart := sync.OnceFunc(func() { s.Kill(); s.Again(t) })
	again := sync.OnceFunc(func() { s.Kill(); s.Again(t) })
	start(t, s, "m", opens(&fake{of: correct, capacity: 2, evaluated: &evaluated, times: func(i int) float64 {
		measured.Add(1)
		again()
		return float64(i + 1)
	}}))
	e := open(t, s, p, Options{})
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{OnResult: func(r tune.Result, _ bool) {
		if r.Configuration.Int("i") == 20 {
			restart()
		}
	}})
	if err != nil || outcome.Best == nil || len(outcome.Best.Final) == 0 || measured.Load() == 0 {
		t.Fatalf("%+v, %v", outcome, err)
	}
	seen := map[string]bool{}
	for _, r := range outcome.Results {
		seen[r.Configuration.Key()] = r.Status == tune.Correct
	}
	if len(seen) != 40 || len(outcome.Results) != 40 || evaluated.Load() < 40 {
		t.Errorf("%d results of %d configurations, %d evaluations", len(outcome.Results), len(seen), evaluated.Load())
	}
}

// aServerThatForgets: a search whose server comes back without its store says so. The agents work for the next one.
func aServerThatForgets(t *testing.T) {
	folder := t.TempDir()
	s, p := natsserver.Start(t, folder), newProblem(t, 200) // far more than are under way
	start(t, s, "m", opens(&fake{of: correct, capacity: 2}))
	e := open(t, s, p, Options{})
	_, err := loop.Run(t.Context(), p, e, loop.Options{Finalists: -1, OnResult: func(r tune.Result, _ bool) {
		if r.Configuration.Int("i") != 20 {
			return
		}
		s.Kill()
		if err := os.RemoveAll(filepath.Join(folder, "store")); err != nil {
			t.Error(err)
		}
		s.Again(t)
	}})
	if err == nil || !strings.Contains(err.Error(), "the server has lost the search: it came back without its store") {
		t.Fatalf("error %v", err)
	}
	e.Close()
	outcome, err := loop.Run(t.Context(), p, open(t, s, p, Options{}), loop.Options{})
	if err != nil || len(outcome.Results) != 200 {
		t.Fatalf("%+v, %v", outcome, err)
	}
}

// workThatIsLost: what a crash has taken out of the queue is asked again.
func workThatIsLost(t *testing.T) {
	s, p := listen(t), newProblem(t, 5)
	begun, lost, notes := make(chan struct{}), make(chan struct{}), make(chan string, 10)
	once := sync.OnceFunc(func() { close(begun); <-lost })
	start(t, s, "m", opens(&fake{capacity: 1, of: func(c space.Configuration) tune.Result { once(); return correct(c) }}))
	e := open(t, s, p, Options{Note: func(text string) { notes <- text }})
	go func() {
		defer close(lost)
		<-begun
		for queue, err := e.queue(t.Context()); err == nil && (queue == nil || queue.NumPending == 0); { // the next configuration comes
			queue, err = e.queue(t.Context())
		}
		if err := e.purge(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{Finalists: -1})
	if err != nil || len(outcome.Results) != 5 {
		t.Fatalf("%+v, %v", outcome, err)
	}
	if <-notes != "An agent: m/0:0." || <-notes != "The server has lost work. The search asks again for 1." {
		t.Error("the search does not say that work was lost")
	}
}

// TestASearchOutOfSight: an agent that does not hear of a search for some time, as if its connection was cut, loses none of
// its work.
func TestASearchOutOfSight(t *testing.T) {
	s, p := listen(t), newProblem(t, 1)
	device := &interrupted{fake: fake{of: correct, capacity: 1}, begun: make(chan struct{}), over: make(chan struct{})}
	start(t, s, "m", func(context.Context, *problem.Problem, worker.Options) (Opened, error) { return device, nil })
	e := open(t, s, p, Options{Search: "s"})
	brought := hide(t, connect(t, s), "s", device.begun, device.over)
	if r, err := tune.EvaluateOne(t.Context(), e, configured(t, p, 0)); err != nil || r.Status != tune.Correct {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := <-brought; err != nil {
		t.Error(err)
	}
}

// hide takes an announced search from the agents when something has begun, and brings it back when that is over, before its
// coordinator does.
func hide(t *testing.T, c *Connection, search string, begun, over <-chan struct{}) (brought <-chan error) {
	done := make(chan error, 1)
	go func() {
		<-begun
		entry, err := c.searches.Get(t.Context(), search)
		if err == nil {
			err = c.searches.Delete(t.Context(), search)
		}
		if err == nil {
			<-over
			_, err = c.searches.Put(t.Context(), search, entry.Value())
		}
		done <- err
	}()
	return done
}

// interrupted is a device whose first evaluation, or first measurement in turn, lasts until its context ends.
type interrupted struct {
	fake
	measures    bool // it is the measurement
	begun, over chan struct{}
	once        sync.Once
}

func (i *interrupted) interrupt(ctx context.Context) (err error) {
	i.once.Do(func() {
		close(i.begun)
		<-ctx.Done()
		close(i.over)
		err = ctx.Err()
	})
	return err
}

func (i *interrupted) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	return tune.EvaluateEach(ctx, in, out, func(c space.Configuration) (tune.Result, error) {
		if !i.measures {
			if err := i.interrupt(ctx); err != nil {
				return tune.Result{}, err
			}
		}
		r := i.of(c)
		r.Configuration = c
		return r, nil
	})
}

func (i *interrupted) Remeasure(ctx context.Context, card string, all []space.Configuration, rounds int, observe bool) ([]tune.Turns, error) {
	if i.measures {
		if err := i.interrupt(ctx); err != nil {
			return nil, err
		}
	}
	return i.fake.Remeasure(ctx, card, all, rounds, observe)
}

// aMeasurementOutOfSight: an agent that does not hear of a search while it measures in turn measures again.
func aMeasurementOutOfSight(t *testing.T) {
	s, p := listen(t), newProblem(t, 1)
	device := &interrupted{fake: fake{of: correct, capacity: 1}, measures: true, begun: make(chan struct{}), over: make(chan struct{})}
	start(t, s, "m", func(context.Context, *problem.Problem, worker.Options) (Opened, error) { return device, nil })
	e := open(t, s, p, Options{Search: "s"})
	brought := hide(t, connect(t, s), "s", device.begun, device.over)
	if times, _, err := tune.RemeasureOnOne(t.Context(), e, []space.Configuration{configured(t, p, 0)}, 2); err != nil || len(times) != 1 {
		t.Fatalf("%v, %v", times, err)
	}
	if err := <-brought; err != nil {
		t.Error(err)
	}
}

// aCluster: each of three servers keeps all streams. With one of them gone, a search begins and ends.
func aCluster(t *testing.T) {
	var ports, routes []string
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close() // the servers must know of each other before they start
		ports = append(ports, l.Addr().String())
		routes = append(routes, "nats://"+l.Addr().String())
	}
	var all []*natsserver.Server
	var urls []string
	for i := range 3 {
		s := natsserver.StartWith(t, t.TempDir(), "-js", "-sd", "store", "-n", fmt.Sprint("s", i),
			"--cluster_name", "c", "--cluster", "nats://"+ports[i], "--routes", strings.Join(routes, ","))
		all, urls = append(all, s), append(urls, s.URL())
	}
	connected := func() *Connection {
		c, err := Connect(t.Context(), strings.Join(urls, ","), "test", nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	c := connected()
	for _, name := range []string{workStream, resultStream, "KV_" + agentsBucket, "KV_" + searchesBucket, "OBJ_" + problemsBucket} {
		s, err := c.js.Stream(t.Context(), name)
		if err != nil || s.CachedInfo().Config.Replicas != 3 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	all[2].Stop()
	ctx, cancel := context.WithCancel(t.Context())
	a := &Agent{Machine: "m", Devices: []Device{{Selector: "0:0", Identity: gpu, Open: opens(&fake{of: correct, capacity: 2})}}}
	done := make(chan error, 1)
	of := connected()
	go func() { done <- a.Run(ctx, of) }()
	defer func() { cancel(); <-done }()
	p := newProblem(t, 20)
	e, err := Open(t.Context(), connected(), p, gpu, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{})
	if err != nil || len(outcome.Results) != 20 {
		t.Fatalf("%d results, %v", len(outcome.Results), err)
	}
}

// anAgentThatLeaves may take a configuration with it, which is given to another after ackWait.
func anAgentThatLeaves(t *testing.T) {
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
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{Finalists: -1})
	if err != nil || len(outcome.Results) != 100 {
		t.Fatalf("%d results, %v", len(outcome.Results), err)
	}
}

// TestAgentsThatLeaveInOrder: work that agents give back counts as no loss of an agent.
func TestAgentsThatLeaveInOrder(t *testing.T) {
	s, p := listen(t), newProblem(t, 1)
	var e *Evaluator
	held := make(chan struct{})
	stuck := func(context.Context, *problem.Problem, worker.Options) (Opened, error) {
		return &holder{fake{capacity: 1}, held}, nil
	}
	end := start(t, s, "m0", stuck)
	e = open(t, s, p, Options{})
	done := make(chan *tune.Outcome, 1)
	go func() {
		outcome, err := loop.Run(context.Background(), p, e, loop.Options{Finalists: -1})
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

// TestWorkGoesBackToAServerThatWasAway: work that an agent gives back while the server is away reaches the search when it is back, and has left the queue.
func TestWorkGoesBackToAServerThatWasAway(t *testing.T) {
	s := listen(t)
	c := connect(t, s)
	e := &Evaluator{connection: c, search: search{ID: "s"}}
	if err := e.makeQueue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.js.Publish(t.Context(), workSubjects+"s", encode(work{header: ours, Key: "k"})); err != nil {
		t.Fatal(err)
	}
	queue, err := c.js.Consumer(t.Context(), workStream, "s")
	if err != nil {
		t.Fatal(err)
	}
	m, err := queue.Next(jetstream.FetchMaxWait(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
	i := &station{connection: c, returning: t.Context()}
	(&session{station: i, search: search{ID: "s"}}).giveBack(m)
	s.Again(t)
	i.returns.Wait()
	last, err := c.js.Stream(t.Context(), resultStream)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := last.GetLastMsgForSubject(t.Context(), resultSubjects+"s")
	if err != nil {
		t.Fatal(err)
	}
	if a, err := decode[answer](raw.Data); err != nil || a.Key != "k" || !a.GivenBack {
		t.Errorf("%+v, %v", a, err)
	}
	for range 100 { // until the server has read the acknowledgement
		info, err := queue.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if info.NumPending+uint64(info.NumAckPending) == 0 {
			return
		}
	}
	t.Error("the work is in the queue still")
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
	ackWait = time.Second                 // the agent that lives must be able to say in time that it still works
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
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{Finalists: -1})
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
	start(t, s, "m", func(context.Context, *problem.Problem, worker.Options) (Opened, error) {
		if opened.Add(1) == 1 {
			return &breaks{fake{capacity: 1}}, nil
		}
		return &fake{of: correct, capacity: 1}, nil
	})
	c := connect(t, s)
	e, err := Open(t.Context(), c, p, gpu, Options{Search: "s"})
	if err == nil {
		_, err = loop.Run(t.Context(), p, e, loop.Options{})
		e.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "no agent works for this search:\nm/0:0: the device is gone") {
		t.Fatalf("error %v", err)
	}
	outcome, err := loop.Run(t.Context(), p, open(t, s, p, Options{Search: "s"}), loop.Options{})
	if err != nil || len(outcome.Results) != 5 {
		t.Fatalf("%+v, %v", outcome, err)
	}
}

// TestASearchThatBeginsAgain: with the id of before, a search gets an evaluator of its own, with its own settings, even if the agent has not
// closed the broken one of before yet.
func TestASearchThatBeginsAgain(t *testing.T) {
	s, p := listen(t), newProblem(t, 5)
	c, own := connect(t, s), connect(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	first, second, done := make(chan *Evaluator, 1), make(chan *Evaluator, 1), make(chan error, 1)
	a := &Agent{Machine: "m"}
	a.Devices = []Device{{Selector: "0:0", Identity: gpu, Open: func(_ context.Context, _ *problem.Problem, own worker.Options) (Opened, error) {
		if own.Iterations == 1 {
			return &breaks{fake{capacity: 1}}, nil
		}
		return &fake{of: correct, capacity: 1}, nil
	}}}
	a.Note = func(string) { // it does not refuse the first search yet
		e, isFirst := <-first
		if !isFirst {
			return
		}
		close(first)
		e.Close()
		e, err := Open(t.Context(), c, p, gpu, Options{Search: "s", Worker: worker.Options{Iterations: 2}})
		if err != nil {
			t.Error(err)
			cancel()
		}
		for ctx.Err() == nil {
			fit, changed := a.forDevice(gpu)
			if len(fit) == 1 && fit[0].Begun == e.search.Begun {
				break
			}
			<-changed
		}
		second <- e
	}
	go func() { done <- a.Run(ctx, own) }()
	defer func() { cancel(); <-done }()
	first <- open(t, s, p, Options{Search: "s", Worker: worker.Options{Iterations: 1}})
	e := <-second
	if e == nil {
		return
	}
	defer e.Close()
	outcome, err := loop.Run(t.Context(), p, e, loop.Options{})
	if err != nil || len(outcome.Results) != 5 {
		t.Fatalf("%+v, %v", outcome, err)
	}
}

// TestACoordinatorThatDied: one that goes on at once, with other settings, does not wait for what agents do with those of before.
func TestACoordinatorThatDied(t *testing.T) {
	s, p, held := listen(t), newProblem(t, 5), make(chan struct{}, 1)
	start(t, s, "m", func(_ context.Context, _ *problem.Problem, own worker.Options) (Opened, error) {
		if own.Iterations == 1 {
			return &holder{fake{capacity: 1}, held}, nil
		}
		return &fake{of: correct, capacity: 1}, nil
	})
	e := open(t, s, p, Options{Search: "s", Worker: worker.Options{Iterations: 1}})
	c := configured(t, p, 0)
	if err := e.ask(t.Context(), question{keyOf(c) + keySeparator + "1", c}); err != nil {
		t.Fatal(err)
	}
	<-held
	e.end() // it announces nothing more
	e.all.Wait()
	outcome, err := loop.Run(t.Context(), p, open(t, s, p, Options{Search: "s", Worker: worker.Options{Iterations: 2}}), loop.Options{})
	if err != nil || len(outcome.Results) != 5 {
		t.Fatalf("%+v, %v", outcome, err)
	}
}
