package worker

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/space"
)

func resultsByKey(o *tune.Outcome) map[string]tune.Result {
	byKey := map[string]tune.Result{}
	for _, r := range o.Results {
		byKey[r.Configuration.Key()] = r
	}
	return byKey
}

// TestWhatWaitsIsDropped stops while the first of twenty configurations is built: it alone is finished, and the next search is whole.
func TestWhatWaitsIsDropped(t *testing.T) {
	t.Parallel()
	pool := openTestPool(t, whole, tiny(t, 20, "drop"), Options{Workers: 1})
	all, err := pool.problem.Space(t.Context(), pool.Device())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 20} {
		pool.heard = func(e event) {
			if want == 1 && e.Answer.Stage != nil {
				pool.DropWaiting()
			}
		}
		in, out := make(chan space.Configuration, 20), make(chan tune.Result, 20)
		for i := range 20 {
			in <- all.At(i)
		}
		close(in)
		if err := pool.Evaluate(t.Context(), in, out); err != nil || len(out) != want {
			t.Errorf("%d results, want %d: %v", len(out), want, err)
		}
	}
}

// TestPoolAgreesWithAnEvaluator compares with an evaluator in this process.
func TestPoolAgreesWithAnEvaluator(t *testing.T) {
	t.Parallel()
	for _, a := range withCUDA(arrangements...) {
		p := in(t, deviceFor(t, a), faulty(t, survivable...))
		e, err := device.Open(deviceFor(t, a).Device, p, device.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		o, err := loop.Run(context.Background(), p, e, loop.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := resultsByKey(o)
		pool := openTestPool(t, a, p, Options{Workers: 2})
		if got, want := pool.Device(), e.Device(); hardware.SameKind(got, want) != nil || got.Timer == "" {
			t.Errorf("%s: the device is %+v, want %+v", a, got, want)
		}
		o = pool.run(t, loop.Options{})
		for key, r := range resultsByKey(o) {
			w := want[key]
			if r.Status != w.Status || r.Reason != w.Reason || r.Verified != w.Verified || len(r.Times) != len(w.Times) || r.Device != "" {
				t.Errorf("%s, %s: %s %q, verified %v, times %v; in this process %s %q, %v, %v", a, r.Configuration,
					r.Status, r.Reason, r.Verified, r.Times, w.Status, w.Reason, w.Verified, w.Times)
			}
			if (r.Durations.Build > 0) != (w.Durations.Build > 0) || (r.Durations.Measure > 0) != (w.Durations.Measure > 0) || r.Timestamp.IsZero() {
				t.Errorf("%s, %s: %+v at %s; in this process %+v", a, r.Configuration, r.Durations, r.Timestamp, w.Durations)
			}
		}
		if evaluated := handedOver(o); len(o.Results) != len(survivable) || pool.Evaluated() != evaluated {
			t.Errorf("%s: %d results, want %d; evaluated %d, want %d", a, len(o.Results), len(survivable), pool.Evaluated(), evaluated)
		}
		if o.Best == nil || o.Best.Configuration.Key() != "none" || len(o.Best.Final) == 0 {
			t.Errorf("%s: the best is %+v", a, o.Best)
		}
		if s := pool.Spent(); s.Starting <= 0 || s.Building <= 0 || s.Measuring <= 0 {
			t.Errorf("%s: spent %+v", a, s)
		}
		pool.Close()
	}
}

// handedOver returns how many results come from the evaluator.
func handedOver(o *tune.Outcome) int {
	n := 0
	for _, r := range o.Results {
		if !r.Refused {
			n++
		}
	}
	return n
}

// TestOneReferenceForAllWorkers has a registered problem, whose right output a function
// computes: in one worker, once.
func TestOneReferenceForAllWorkers(t *testing.T) {
	t.Parallel()
	p := doubling(t)
	for _, a := range arrangements {
		pool := openTestPool(t, a, p, Options{Workers: 3, Maker: "doubling"})
		o := pool.run(t, loop.Options{Finalists: -1})
		for _, r := range o.Results {
			wantCorrect(t, string(a)+" "+r.Configuration.Key(), r)
		}
		pool.Close() // all that was printed is there
		if n := pool.output.count("the reference is made"); n != 1 || len(o.Results) != 8 {
			t.Errorf("%s: the reference was made %d times for %d results\n%s", a, n, len(o.Results), pool.output)
		}
		if len(pool.notes) > 0 {
			t.Errorf("%s: %q", a, pool.notes)
		}
	}
}

// TestAPoolIsUsedSeveralTimes evaluates, measures again and evaluates, with the same workers.
func TestAPoolIsUsedSeveralTimes(t *testing.T) {
	t.Parallel()
	for _, a := range arrangements {
		p := faulty(t, faultNone, faultSlow)
		pool := openTestPool(t, a, p, Options{Workers: 1})
		pool.unsafe = false
		var all []space.Configuration
		for _, f := range []string{faultNone, faultSlow} {
			all = append(all, configurationOf(t, p, map[string]space.Value{"fault": f}))
		}
		for range 3 {
			for _, r := range pool.run(t, loop.Options{Finalists: -1}).Results {
				wantCorrect(t, string(a), r)
			}
			times, err := pool.Remeasure(context.Background(), "", all, 4, false)
			if err != nil || len(times) != 2 || len(times[0].Times) != 4 || len(times[1].Times) != 4 || slices.Min(times[1].Times) <= slices.Min(times[0].Times) {
				t.Errorf("%s: %v, %v", a, times, err)
			}
		}
		most := 1
		if a == builders {
			most = 2 // if a builder is worth its start
		}
		if n := pool.Started(); pool.Evaluated() != 6 || n > most {
			t.Errorf("%s: evaluated %d with %d workers, want 6 with %d at most", a, pool.Evaluated(), n, most)
		}
		pool.Close()
		pool.Close()
		if err := pool.Evaluate(context.Background(), nil, nil); err != errClosed {
			t.Errorf("%s: evaluate when closed: %v", a, err)
		}
		if _, err := pool.Remeasure(context.Background(), "", all, 4, false); err != errClosed {
			t.Errorf("%s: measure again when closed: %v", a, err)
		}
	}
}

// TestCapacity hands in configurations without end, and counts those that were not answered.
func TestCapacity(t *testing.T) {
	t.Parallel()
	for _, a := range []arrangement{whole, builders} {
		const n = 24
		p := tiny(t, n, string(a))
		pool := openTestPool(t, a, p, Options{Workers: 2, Iterations: 1})
		most := 2 + 2 // waiting, so that a worker finds its next one
		if a == builders {
			most = 2 + 1 + aheadMost*2
		}
		if c := pool.Capacity(); c < 3 || c > most {
			t.Errorf("%s: the capacity is %d", a, c)
		}
		in, out, done := make(chan space.Configuration), make(chan tune.Result), make(chan error, 1)
		go func() { done <- pool.Evaluate(context.Background(), in, out) }()
		var held atomic.Int64
		go func() {
			defer close(in)
			for i := range n {
				in <- configurationOf(t, p, map[string]space.Value{"i": i})
				held.Add(1)
			}
		}()
		highest := int64(0)
		for range n {
			select {
			case r := <-out:
				wantStatus(t, string(a), r, tune.Correct, "")
			case err := <-done:
				t.Fatal(err)
			}
			// One more than is held may have been counted: it was taken when the pool had
			// answered, and before this was asked.
			highest = max(highest, held.Load())
			held.Add(-1)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if highest > int64(most)+1 || highest < 3 {
			t.Errorf("%s: %d configurations were held at once, want %d at most", a, highest, most)
		}
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	for _, a := range []arrangement{whole, builders} {
		trace := filepath.Join(t.TempDir(), "trace")
		pool := newTestPool(t, a, tiny(t, 20, "budget"), Options{Workers: 2, Iterations: 1})
		pool.host.Environment = append(pool.host.Environment, traceVariable+"="+trace)
		o := pool.run(t, loop.Options{MaxEvaluations: 7, Finalists: -1})
		text, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), " evaluate "); n != 7 || len(o.Results) != 7 || o.Stop != tune.Budget {
			t.Errorf("%s: %d results, %d evaluated, stopped: %s", a, len(o.Results), n, o.Stop)
		}
	}
}

// TestCancelling cancels as launches begin that never end.
func TestCancelling(t *testing.T) {
	t.Parallel()
	needPoCL(t)
	for _, a := range withCUDA(arrangements...) {
		p := faulty(t, faultLoop, faultNone)
		pool := newTestPool(t, a, p, Options{Workers: 2})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		pool.heard = func(e event) {
			if s := e.Answer.Stage; s != nil && s.Stage == device.StageFirstLaunch {
				cancel()
			}
		}
		o, err := loop.Run(ctx, p, pool, loop.Options{})
		if err != nil || o.Stop != tune.Interrupted {
			t.Errorf("%s: %v, stopped: %s", a, err, o.Stop)
		}
		if a != whole {
			continue
		}
		// It can be used further, with other workers.
		o = pool.run(t, loop.Options{Space: spaceOf(t, faultNone), Finalists: -1})
		if len(o.Results) != 1 || o.Results[0].Status != tune.Correct {
			t.Errorf("%s: after it: %+v", a, o.Results)
		}
	}
}

// spaceOf is the space of some faults only.
func spaceOf(t *testing.T, faults ...string) *space.Space {
	t.Helper()
	s, err := faulty(t, faults...).Space(t.Context(), testIdentity(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRemeasureOfKernelsThatHaveTurned measures configurations of which one kills its worker
// and one never ends.
func TestRemeasureOfKernelsThatHaveTurned(t *testing.T) {
	t.Parallel()
	needPoCL(t)
	for _, a := range withCUDA(whole) {
		p := faulty(t)
		pool := openTestPool(t, a, p, Options{Workers: 1, BuildTimeout: 2 * time.Second, KernelTimeout: time.Second})
		var all []space.Configuration
		for _, f := range []string{faultNone, faultDies, faultSlow, faultLoop, faultCompile} {
			all = append(all, configurationOf(t, p, map[string]space.Value{"fault": f}))
		}
		times, err := pool.Remeasure(context.Background(), "", all, 3, false)
		if err != nil || len(times) != len(all) {
			t.Fatal(times, err)
		}
		reasons := []string{"", "the process ended", "", "took longer than", "compile: "}
		for i, want := range []int{3, 0, 3, 0, 0} {
			if len(times[i].Times) != want || !strings.Contains(times[i].Reason, reasons[i]) || want > 0 && times[i].Reason != "" {
				t.Errorf("%s: %s has the times %v, want %d, and %q", a, all[i], times[i], want, reasons[i])
			}
		}
		want := 6 // two die, another shows who is to blame, two are ended in the first launch
		if standin.OnSystem() {
			want = 5 // where that counts as building, one is
		}
		if n := pool.Started(); n != want {
			t.Errorf("%s: %d workers were started, want %d", a, n, want)
		}
	}
}

// TestEarlyStop tells a pool of a best that is out of reach.
func TestEarlyStop(t *testing.T) {
	t.Parallel()
	for _, a := range withCUDA(arrangements...) {
		p := faulty(t, faultSlow)
		pool := openTestPool(t, a, p, Options{Workers: 1, Iterations: 100, EarlyStop: 3})
		pool.Observe(tune.Result{Status: tune.Correct, Objective: 1e-6, Times: []float64{1e-6}})
		o := pool.run(t, loop.Options{})
		if r := o.Results[0]; r.Status != tune.Correct || !r.EarlyStopped || len(r.Times) != 1 {
			t.Errorf("%s: %+v", a, r)
		}
	}
}

func TestSingle(t *testing.T) {
	t.Parallel()
	l := []device.Listed{testDevice(t)}
	pool, err := Open(context.Background(), l, faulty(t, faultNone), Options{Single: true, Workers: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	o, err := loop.Run(context.Background(), pool.problem, pool, loop.Options{})
	if err != nil || len(o.Results) != 1 || pool.Started() != 1 {
		t.Errorf("%v, %+v, %d workers", err, o.Results, pool.Started())
	}
	wantCorrect(t, "single", o.Results[0])
}

// TestASearchThatIsNotWorthAnotherWorker goes on in one process as long as no kernel ends it, and in the next one afterwards.
func TestASearchThatIsNotWorthAnotherWorker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		faults []string
		most   int // workers
	}{{survivable, 1}, {[]string{faultDies, faultNone, faultSlow, faultOutput}, math.MaxInt}} {
		p := faulty(t, c.faults...)
		pool := openTestPool(t, whole, p, Options{Workers: 3})
		pool.Expect(len(c.faults))
		pool.starting = time.Hour // until another one starts
		o := pool.run(t, loop.Options{})
		if n := pool.Started(); len(o.Results) != len(c.faults) || n > c.most {
			t.Errorf("%q: %d results, %d workers", c.faults, len(o.Results), n)
		}
	}
}

func TestTwoDevicesShareASearch(t *testing.T) {
	t.Parallel()
	needPoCL(t)
	all, err := device.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range arrangements {
		two, err := device.SelectAlike(all, deviceFor(t, a).Type)
		if err != nil || len(two) != 2 {
			t.Fatalf("%+v, %v", two, err)
		}
		pool := newTestPool(t, a, tiny(t, 20, "two "+string(a)), Options{Workers: 2}, two...)
		for range two { // before the first of them has done all
			if err := pool.start(false, pool.leastUsed(false), time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		for place := range two {
			if _, err := pool.evaluator(t.Context(), place); err != nil {
				t.Fatal(err)
			}
		}
		timing := map[int]bool{} // the numbers of the workers that time
		turns := 0
		pool.heard = func(e event) {
			number := e.Child.Number
			switch s := e.Answer.Stage; {
			case s != nil && s.Stage == device.StageMeasure:
				if !timing[number] {
					turns++
				}
				if timing[number] = true; pool.shared && len(timing) > 1 {
					t.Errorf("%s: the workers %v are timed at once", a, timing)
				}
			case e.Answer.Result != nil || e.End != nil:
				delete(timing, number)
			}
		}
		o := pool.run(t, loop.Options{Finalists: -1})
		pool.heard = nil
		if cards, err := pool.Cards(t.Context()); err != nil || !slices.Equal(cards, []string{two[0].Selector(), two[1].Selector()}) {
			t.Errorf("%s: %v, %v", a, cards, err)
		}
		some := []space.Configuration{o.Results[0].Configuration, o.Results[1].Configuration}
		first, err := pool.Remeasure(t.Context(), two[0].Selector(), some, 3, false)
		second, again := pool.Remeasure(t.Context(), two[1].Selector(), some, 3, false)
		if err != nil || again != nil || len(first) != 2 || len(second) != 2 || len(second[1].Times) != 3 || slices.Equal(first[0].Times, second[0].Times) {
			t.Errorf("%s: measured in turn: %v, %v, %v, %v", a, first, err, second, again)
		}
		pool.Close()
		devices := map[string]int{}
		for _, r := range o.Results {
			wantCorrect(t, string(a), r)
			devices[r.Device]++
		}
		if len(o.Results) != 20 || len(devices) != 2 || devices[two[0].Selector()] == 0 || devices[two[1].Selector()] == 0 || turns != 20 {
			t.Errorf("%s: %d results, on %v, %d of them timed", a, len(o.Results), devices, turns)
		}
		t.Logf("%s: on %v", a, devices)
	}
}

// TestAKernelThatFailsInTheEnd searches configurations of which one fails after many launches,
// which is when the best are measured again. It takes its process with it, or, by NVIDIA's
// driver, all that the process has on the device.
func TestAKernelThatFailsInTheEnd(t *testing.T) {
	t.Parallel()
	for _, a := range withCUDA(whole, builders) {
		p := mustProblem(t, definition.Definition{
			Kernel: inBoth("late", `
__kernel void late(__global float *y, volatile __global int *counter) {
    y[get_global_id(0)] = 1;
    if (get_global_id(0) == 0 && ++counter[0] > 20 && mode == 1) *(volatile __global int *)0x10 = 1;
}
// standin: late is fill(y, 1); late crashes apart when mode == 1 && launch > 20 && units < 100; late loses when mode == 1 && launch > 20`),
			ProblemSize: []definition.Expr{"64"}, BlockSize: [3]definition.Expr{"64"},
			Arguments: []definition.Argument{
				{Name: "y", Type: "float32", Size: "64", Output: true},
				{Name: "counter", Type: "int32", Size: "1"},
			},
			Parameters: []space.Parameter{{Name: "mode", Values: []space.Value{0, 1, 2}}},
			Verify:     &definition.Verification{Expected: map[string]any{"y": slices.Repeat([]float32{1}, 64)}},
		})
		o := openTestPool(t, a, p, Options{Workers: 1}).run(t, loop.Options{})
		for _, r := range o.Results {
			if r.Configuration.Key() != "1" {
				wantCorrect(t, string(a), r)
			} else if r.Status != tune.Runtime || len(r.Final) > 0 || len(o.Warnings) != 1 {
				t.Errorf("%s: %s %q was measured again %d times; %q", a, r.Status, r.Reason, len(r.Final), o.Warnings)
			}
		}
		if len(o.Results) != 3 || o.Best == nil || o.Best.Configuration.Key() == "1" {
			t.Errorf("%s: %d results, the best %+v", a, len(o.Results), o.Best)
		}
	}
}

// TestRemeasureWithWorkersThatDieAtOnce has workers that end as soon as they are ready.
func TestRemeasureWithWorkersThatDieAtOnce(t *testing.T) {
	t.Parallel()
	p := faulty(t, faultNone)
	pool := newTestPool(t, whole, p, Options{Workers: 1})
	pool.heard = func(e event) {
		if e.Answer.Ready != nil {
			e.Child.Kill()
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), watchdog)
	defer cancel()
	_, err := pool.Remeasure(ctx, "", []space.Configuration{configurationOf(t, p, nil)}, 3, false)
	if err == nil || !strings.Contains(err.Error(), "3 workers in a row have ended before they measured anything") {
		t.Error(err)
	}
}
