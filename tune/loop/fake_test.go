package loop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// A fake is an evaluator whose answers depend on the configuration alone. It holds as many
// configurations as it can get, and answers them in random order.
type fake struct {
	device   hardware.Device
	capacity int // 0: 1
	answer   func(c space.Configuration) tune.Result
	rng      *rand.Rand // nil: answers in order

	taken     func(n int)    // called with the count of configurations taken so far
	failAfter int            // answers, after which it fails; 0: never
	lingers   bool           // when it is cancelled it sends what it holds first
	times     map[string]int // how often each configuration was taken
	most      int            // configurations held at once
	answered  int
	running   atomic.Bool
}

// probing has the methods of a [tune.Prober] that a test does not need.
type probing struct{}

func (probing) Observe(tune.Result) {}

func (probing) Probe(_ context.Context, c space.Configuration, again tune.Retest) (tune.Result, error) {
	return tune.Result{Configuration: c, Status: tune.Correct, Compared: again.Launches}, nil
}

func (f *fake) Device() hardware.Device { return f.device }
func (f *fake) Capacity() int           { return max(1, f.capacity) }

func (f *fake) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	f.running.Store(true)
	defer f.running.Store(false)
	if f.times == nil {
		f.times = map[string]int{}
	}
	var held []space.Configuration
	for in != nil || len(held) > 0 {
		var send chan<- tune.Result
		var result tune.Result
		next := 0
		if len(held) > 0 {
			if f.rng != nil {
				next = f.rng.IntN(len(held))
			}
			send, result = out, f.answer(held[next])
			result.Configuration = held[next]
		}
		take := in
		if len(held) == f.Capacity() {
			take = nil
		}
		select {
		case <-ctx.Done():
			if f.lingers {
				for _, c := range held {
					result := f.answer(c)
					result.Configuration = c
					out <- result
				}
			}
			return ctx.Err()
		case c, ok := <-take:
			if !ok {
				in = nil
				break
			}
			f.times[c.Key()]++
			held = append(held, c)
			f.most = max(f.most, len(held))
			if f.taken != nil {
				f.taken(f.count())
			}
		case send <- result:
			held = append(held[:next:next], held[next+1:]...)
			if f.answered++; f.answered == f.failAfter {
				return errDeviceLost
			}
		}
	}
	return nil
}

var errDeviceLost = fmt.Errorf("the device is lost")

func (f *fake) count() int {
	n := 0
	for _, times := range f.times {
		n += times
	}
	return n
}

// checkStopped makes sure that Run did not return before the evaluator, that the evaluator
// was asked for nothing twice, and that it never held more than it can.
func (f *fake) checkStopped(t testing.TB) {
	t.Helper()
	if f.running.Load() {
		t.Error("the evaluator still runs")
	}
	for key, n := range f.times {
		if n > 1 {
			t.Errorf("%s was evaluated %d times", key, n)
		}
	}
	if f.most > f.Capacity() {
		t.Errorf("the evaluator held %d configurations, its capacity is %d", f.most, f.Capacity())
	}
}

// A memory is a log.
type memory struct {
	previous   []tune.Result
	results    []tune.Result
	finals     []tune.Result
	failAppend int // the append that fails, from 1
	failFinal  bool
}

func (m *memory) Previous() []tune.Result { return m.previous }

func (m *memory) Append(r tune.Result) error {
	if len(m.results)+1 == m.failAppend {
		return fmt.Errorf("no space left on device")
	}
	m.results = append(m.results, r)
	return nil
}

func (m *memory) Withdraw(r tune.Result) error {
	same := func(other tune.Result) bool { return other.Configuration.Key() == r.Configuration.Key() }
	m.results, m.previous = slices.DeleteFunc(m.results, same), slices.DeleteFunc(slices.Clone(m.previous), same)
	return nil
}

func (m *memory) AppendFinal(r tune.Result) error {
	if m.failFinal {
		return fmt.Errorf("no space left on device")
	}
	m.finals = append(m.finals, r)
	return nil
}

// reopened is the log as a later run finds it.
func (m *memory) reopened() *memory {
	final := map[string]tune.Result{}
	for _, r := range m.finals {
		final[r.Configuration.Key()] = r
	}
	n := &memory{}
	for _, r := range append(append([]tune.Result(nil), m.previous...), m.results...) {
		if kept, ok := final[r.Configuration.Key()]; ok {
			r.Final, r.FinalFailure = kept.Final, kept.FinalFailure
		}
		n.previous = append(n.previous, r)
	}
	return n
}

// line is a problem with n configurations, i = 0 … n − 1.
func line(t testing.TB, n int) *problem.Problem {
	t.Helper()
	return mustProblem(t, lineDefinition(n))
}

func lineDefinition(n int) definition.Definition {
	values := make([]space.Value, n)
	for i := range values {
		values[i] = i
	}
	return definition.Definition{
		Kernel: definition.Kernel{Name: "k", Source: " "}, ProblemSize: []definition.Expr{"1"},
		Parameters: []space.Parameter{{Name: "i", Values: values}},
	}
}

// correct answers with a time of i + 1 ms.
func correct(c space.Configuration) tune.Result {
	return tune.Result{Status: tune.Correct, Times: []float64{float64(c.Int("i") + 1)}}
}

// always answers with one failure.
func always(status tune.Status, reason string) func(space.Configuration) tune.Result {
	return func(space.Configuration) tune.Result { return tune.Result{Status: status, Reason: reason} }
}

func keys(results []tune.Result) string {
	text := ""
	for i, r := range results {
		if i > 0 {
			text += " "
		}
		text += r.Configuration.Key()
	}
	return text
}

func bestKey(o *tune.Outcome) string {
	if o.Best == nil {
		return "none"
	}
	return o.Best.Configuration.Key()
}

// numbers is «0 1 … n−1».
func numbers(n int) string {
	text := ""
	for i := range n {
		if i > 0 {
			text += " "
		}
		text += strconv.Itoa(i)
	}
	return text
}

func mustProblem(t testing.TB, d definition.Definition) *problem.Problem {
	t.Helper()
	p, err := problem.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustSpace(t testing.TB, p *problem.Problem) *space.Space {
	t.Helper()
	s, err := p.Space(t.Context(), hardware.Device{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
