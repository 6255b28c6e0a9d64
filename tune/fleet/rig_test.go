package fleet

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ndtune/ndtune/internal/natsserver"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/worker"
)

var gpu = hardware.Device{Name: "GPU", Vendor: "V", Platform: "P", Driver: "1", Type: "gpu", Version: "OpenCL 3.0", ComputeUnits: 4}

// newProblem has the configurations i = 0 … n-1.
func newProblem(t testing.TB, n int, changes ...func(*definition.Definition)) *problem.Problem {
	t.Helper()
	var all []space.Value
	for i := range n {
		all = append(all, i)
	}
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "k", Source: " "}, ProblemSize: []definition.Expr{"1"},
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

func (f *fake) Capacity() int { return f.capacity }

func (f *fake) Close() { f.closed.Store(true) }

func (f *fake) Observe(r tune.Result) { f.best.Store(&r) }

func (f *fake) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	return tune.EvaluateEach(ctx, in, out, func(c space.Configuration) (tune.Result, error) {
		r := f.of(c)
		r.Configuration = c
		if f.evaluated != nil {
			f.evaluated.Add(1)
		}
		return r, nil
	})
}

func (f *fake) Probe(_ context.Context, c space.Configuration, again tune.Retest) (tune.Result, error) {
	r := f.of(c)
	r.Configuration, r.Compared = c, again.Launches
	if again.Launches > 0 {
		r.Times = nil
	}
	return r, nil
}

func (f *fake) Cards(context.Context) ([]string, error) { return []string{""}, nil }

func (f *fake) Remeasure(_ context.Context, _ string, all []space.Configuration, rounds int, _ bool) ([]tune.Turns, error) {
	var times []tune.Turns
	for _, c := range all {
		var own []float64
		for range rounds {
			time := float64(c.Int("i") + 1)
			if f.times != nil {
				time = f.times(c.Int("i"))
			}
			own = append(own, time)
		}
		times = append(times, tune.Turns{Times: own})
	}
	return times, nil
}

func correct(c space.Configuration) tune.Result {
	return tune.Result{Status: tune.Correct, Times: []float64{float64(c.Int("i") + 1)}, Verified: true}
}

// listen starts a server for a test.
func listen(t testing.TB) *natsserver.Server {
	t.Helper()
	return natsserver.Start(t, t.TempDir())
}

func connect(t testing.TB, s *natsserver.Server) *Connection {
	t.Helper()
	c, err := Connect(t.Context(), s.URL(), "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// start runs an agent with one device until the test or the returned function ends it.
func start(t testing.TB, s *natsserver.Server, name string, open func(context.Context, *problem.Problem, worker.Options) (Opened, error)) (end func()) {
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

func opens(f *fake) func(context.Context, *problem.Problem, worker.Options) (Opened, error) {
	return func(context.Context, *problem.Problem, worker.Options) (Opened, error) { return f, nil }
}

func open(t testing.TB, s *natsserver.Server, p *problem.Problem, o Options) *Evaluator {
	t.Helper()
	e, err := Open(t.Context(), connect(t, s), p, gpu, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}
