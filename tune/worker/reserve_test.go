package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// openReserved opens a pool with a reserve.
func openReserved(t testing.TB, a arrangement, p *problem.Problem, r *Reserve) *Pool {
	t.Helper()
	pool := newPool([]device.Listed{testDevice(t)}, p, Options{Workers: 2, Reserve: r})
	pool.noBuilders, pool.freezes = a != builders, a != waiting
	if err := pool.prepare(); err != nil {
		t.Fatal(err)
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
		run := func(p *problem.Problem, fresh int) (lost []*member) {
			t.Helper()
			pool := openReserved(t, a, p, r)
			o, err := loop.Run(t.Context(), p, pool, loop.Options{Finalists: -1})
			if err != nil {
				t.Fatal(err)
			}
			for _, result := range o.Results {
				if result.Configuration.Key() == faultNone || p.KernelName() == "tiny" {
					wantCorrect(t, string(a), result)
				}
			}
			lost = slices.Clone(pool.members)
			pool.Close()
			if n := r.host.Started - started; n > fresh {
				t.Errorf("%s: %d workers were started, want at most %d", a, n, fresh)
			}
			started = r.host.Started
			return slices.DeleteFunc(lost, func(m *member) bool {
				return slices.ContainsFunc(r.spares, func(s spare) bool { return s.child == m.child })
			})
		}
		run(tiny(t, 6, "first "+string(a)), 3)
		kept := slices.Clone(r.spares)
		run(tiny(t, 6, "second "+string(a)), 3-len(kept))
		kept = slices.Clone(r.spares)
		damaged := run(faulty(t, faultNone, faultOutput), 3)
		if len(kept) == 0 || len(damaged) == 0 {
			t.Errorf("%s: %d workers were kept, %d were not after wrong outputs", a, len(kept), len(damaged))
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

// TestOneProcessForASearch: the worker that was started before its device was known evaluates alone while no builder is worth
// its start, measures the peaks, and evaluates again.
func TestOneProcessForASearch(t *testing.T) {
	t.Parallel()
	needPoCL(t)
	p := tiny(t, 4, t.Name())
	r := NewReserve(nil)
	mark := nextMark()
	r.host.Environment = []string{mark}
	if err := r.Prepare(source.OpenCL); err != nil {
		t.Fatal(err)
	}
	search := func() {
		t.Helper()
		pool := openReserved(t, builders, p, r)
		pool.starting = time.Hour // no builder is worth its start, even on a busy machine
		o, err := loop.Run(t.Context(), p, pool, loop.Options{})
		if err != nil || len(o.Results) != 4 {
			t.Fatalf("%v, %+v", err, o)
		}
		for _, result := range o.Results {
			wantCorrect(t, result.Configuration.Key(), result)
		}
		pool.Close()
	}
	search()
	peaks, err := r.MeasurePeaks(t.Context(), testDevice(t), PeakOptions{Figures: []string{hardware.PeakFloat32}})
	if err != nil || peaks.Value(hardware.PeakFloat32) == 0 {
		t.Errorf("%v, %+v", err, peaks)
	}
	search()
	if n := r.host.Started; n != 1 {
		t.Errorf("%d workers were started, want 1", n)
	}
	r.Close()
	checkGone(t, mark)
}

// TestWarmWorker: a worker that has opened the device before the problem was there evaluates it, and one search after the other finds its
// own data, which are too long for a message, in memory that they share.
func TestWarmWorker(t *testing.T) {
	t.Parallel()
	needPoCL(t)
	r := NewReserve(nil)
	mark := nextMark()
	r.host.Environment = []string{mark}
	r.Warm(testDevice(t)) // there is no worker for it
	if err := errors.Join(r.Prepare(source.OpenCL), r.Prepare(source.OpenCL)); err != nil {
		t.Fatal(err)
	}
	r.Warm(testDevice(t))
	r.Warm(testDevice(t))
	for _, first := range []float32{1, 2} {
		data := make([]float32, segmentLeast/4)
		data[0], data[len(data)-1] = first, 10
		p := mustProblem(t, definition.Definition{
			Kernel: definition.Kernel{Name: "echo", Source: `
__kernel void echo(__global float *y, __global const float *x) { y[get_global_id(0)] = x[get_global_id(0)] + 0 * f; }
// standin: echo is copy(y, x)`},
			ProblemSize: []definition.Expr{fmt.Sprint(len(data))}, BlockSize: [3]definition.Expr{"64"},
			Arguments: []definition.Argument{
				{Name: "y", Type: "float32", Size: fmt.Sprint(len(data)), Output: true}, {Name: "x", Data: data},
			},
			Parameters: []space.Parameter{{Name: "f", Values: []space.Value{1, 2}}},
			Verify:     &definition.Verification{Expected: map[string]any{"y": data}},
		})
		pool := openReserved(t, whole, p, r)
		if runtime.GOOS == "linux" && pool.segment == nil {
			t.Error("the problem is in no segment")
		}
		pool.starting = time.Hour // no other worker is worth its start
		pool.Expect(2)
		o, err := loop.Run(t.Context(), p, pool, loop.Options{})
		if err != nil || len(o.Results) != 2 {
			t.Fatalf("%v, %+v", err, o)
		}
		for _, result := range o.Results {
			wantCorrect(t, result.Configuration.Key(), result)
		}
		pool.Close()
	}
	if n := r.host.Started; n != 1 {
		t.Errorf("%d workers were started, want 1", n)
	}
	r.trim(0, 1)
	if len(r.spares) != 1 {
		t.Errorf("%d workers are left, want 1", len(r.spares))
	}
	r.Close()
	checkGone(t, mark)
}

// TestReserveForBothLanguages: a worker that has loaded the drivers of one language is for its devices only, of any kind.
func TestReserveForBothLanguages(t *testing.T) {
	t.Parallel()
	r := NewReserve(nil)
	defer r.Close()
	for _, language := range []source.Language{source.OpenCL, source.CUDA, source.CUDA, source.OpenCL} {
		if err := r.Prepare(language); err != nil {
			t.Fatal(err)
		}
	}
	openCL, cuda, none := r.take(true, "0:0"), r.take(false, "cuda:0"), r.take(false, "cuda:0")
	if openCL == nil || openCL.Number != 1 || cuda == nil || cuda.Number != 2 || none != nil || r.host.Started != 2 {
		t.Errorf("the workers are %v, %v and %v of %d", openCL, cuda, none, r.host.Started)
	}
	for _, c := range []*child{openCL, cuda} {
		r.add(spare{child: c, language: source.OpenCL, selector: "0:0"})
	}
	r.trim(0, 1)
	if len(r.spares) != 1 || r.spares[0].child != cuda {
		t.Error("the worker that came last has not stayed")
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
