package worker

import (
	"context"
	"fmt"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/problem"
)

// openReserved opens a pool with a reserve.
func openReserved(t testing.TB, a arrangement, p *problem.Problem, r *Reserve) *Pool {
	t.Helper()
	pool := newPool([]device.Listed{testDevice(t)}, p, Options{Workers: 2, Reserve: r})
	pool.whole, pool.freezes = a != builders, a != waiting
	if why, err := pool.prepare(); err != nil || why != "" {
		t.Fatal(why, err)
	}
	if err := pool.openFirst(context.Background()); err != nil {
		t.Fatal(err)
	}
	return pool
}

// TestWorkersOfEarlierPools: pools of different problems have the same workers, but for those that a kernel may have
// damaged and those that have died.
func TestWorkersOfEarlierPools(t *testing.T) {
	t.Parallel()
	needPoCL(t)
	for _, a := range []arrangement{whole, builders} {
		r := NewReserve(nil)
		mark := nextMark()
		r.host.Environment = []string{mark}
		started := 0
		run := func(p *problem.Problem, fresh int) {
			t.Helper()
			pool := openReserved(t, a, p, r)
			o, err := tune.Run(t.Context(), p, pool, tune.Options{Finalists: -1})
			if err != nil {
				t.Fatal(err)
			}
			for _, result := range o.Results {
				if result.Configuration.Key() == faultNone || p.KernelName() == "tiny" {
					wantCorrect(t, string(a), result)
				}
			}
			pool.Close()
			if n := r.host.Started - started; n > fresh {
				t.Errorf("%s: %d workers were started, want at most %d", a, n, fresh)
			}
			started = r.host.Started
		}
		run(tiny(t, 6, "first "+string(a)), 3)
		kept := len(r.spares)
		run(tiny(t, 6, "second "+string(a)), 3-kept)
		run(faulty(t, faultNone, faultOutput), 3-kept)
		damaged := kept - len(r.spares)
		if kept < 2 || damaged < 1 {
			t.Errorf("%s: %d workers were kept, %d fewer after wrong outputs", a, kept, damaged)
		}
		for _, s := range r.spares {
			s.child.Kill()
			for s.child.Alive() {
				<-r.host.Events
			}
		}
		run(tiny(t, 6, "third "+string(a)), 3)
		r.Close()
		checkGone(t, mark)
	}
}

// BenchmarkAnotherProblem is the time from a new problem to its first result, with new workers and with those of the pool
// before.
func BenchmarkAnotherProblem(b *testing.B) {
	for _, name := range []string{"new workers", "reserve"} {
		b.Run(name, func(b *testing.B) {
			var r *Reserve
			if name == "reserve" {
				r = NewReserve(nil)
				defer r.Close()
				first(b, tiny(b, 1, fmt.Sprint(b.Name(), "before")), r)
			}
			b.ResetTimer()
			for i := range b.N {
				first(b, tiny(b, 1, fmt.Sprint(b.Name(), b.N, i)), r)
			}
		})
	}
}

// first opens a pool, evaluates one configuration, and closes it.
func first(b *testing.B, p *problem.Problem, r *Reserve) {
	pool, err := Open(b.Context(), []device.Listed{testDevice(b)}, p, Options{Workers: 2, Reserve: r})
	if err != nil {
		b.Fatal(err)
	}
	result, err := tune.EvaluateOne(b.Context(), pool, configurationOf(b, p, nil))
	if err != nil || result.Status != tune.Correct {
		b.Fatal(result, err)
	}
	b.StopTimer()
	pool.Close()
	b.StartTimer()
}
