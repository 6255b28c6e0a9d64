package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/space"
)

// TestSlowLaunches: a configuration of which one launch was slow is evaluated once more before it is given up, and one that was measured
// only once if there is time. The launches of some are slow in the first evaluation only. Those of mode 6 are slow, but do not agree, and
// the first launch of mode 7 is as slow as the one that never ends.
func TestSlowLaunches(t *testing.T) {
	t.Parallel()
	if standin.OnSystem() {
		t.Skip("which launch is slow is known of the stand-in only")
	}
	p := mustProblem(t, definition.Definition{
		Kernel: definition.Kernel{Name: "slow", Source: `
__kernel void slow(__global float *y) { y[get_global_id(0)] = 1; }
// standin: slow is fill(y, 1); slow hangs when mode == 1 && launch == 2 first 1; slow hangs when mode == 2 && launch == 2
// standin: slow takes 900000000 when mode == 3 first 3; slow takes 900000000 when mode == 4
// standin: slow hangs when mode == 5 && launch == 12 first 1
// standin: slow takes 80000000 when mode == 6 && launch < 3 first 2; slow takes 900000000 when mode == 6 && launch == 3 first 1
// standin: slow takes 900000000 when mode == 7 && launch == 1; slow hangs when mode == 7 && launch == 2
// standin: slow takes 25000000`},
		ProblemSize: []definition.Expr{"64"}, BlockSize: [3]definition.Expr{"64"},
		Arguments:  []definition.Argument{{Name: "y", Type: "float32", Size: "64", Output: true}},
		Parameters: []space.Parameter{{Name: "mode", Values: []space.Value{0, 1, 2, 3, 4, 5, 6, 7}}},
		Verify:     &definition.Verification{Expected: map[string]any{"y": slices.Repeat([]float32{1}, 64)}},
	})
	for _, c := range []struct {
		began time.Duration // before now: the search
		want  []string      // by mode: the status, the number of launches, and that of evaluations
	}{
		{time.Hour, []string{"correct 7 1", "correct 7 2", "timeout 0 2", "correct 7 2", "correct 1 2", "correct 7 1", "correct 8 1", "timeout 0 1"}},
		{-time.Hour, []string{"correct 7 1", "correct 7 2", "timeout 0 2", "correct 1 1", "correct 1 1", "correct 7 1", "correct 8 1", "timeout 0 1"}}, // there is no time
	} {
		for _, a := range []arrangement{whole, builders} {
			folder := t.TempDir()
			trace := filepath.Join(folder, "trace")
			pool := newTestPool(t, a, p, Options{Workers: 1, KernelTimeout: time.Second / 2, EarlyStop: 3})
			pool.host.Environment = append(pool.host.Environment, standin.StateVariable+"="+folder, traceVariable+"="+trace)
			pool.began = time.Now().Add(-c.began)
			pool.repeating = repeatLeast
			o := pool.run(t, loop.Options{Finalists: -1})
			text, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			for key, r := range resultsByKey(o) {
				got := fmt.Sprintf("%s %d %d", r.Status, len(r.Times), strings.Count(string(text), " evaluate "+r.Configuration.String()+"\n"))
				if want := c.want[r.Configuration.Int("mode")]; got != want || r.EarlyStopped != (len(r.Times) == 1) {
					t.Errorf("%s, %s: %s, want %s", a, key, got, want)
				}
			}
			if len(o.Results) != len(c.want) || pool.Evaluated() != len(c.want) {
				t.Errorf("%s: %d results, %d evaluated", a, len(o.Results), pool.Evaluated())
			}
			times, err := pool.Remeasure(context.Background(), "", []space.Configuration{o.Results[0].Configuration, configurationOf(t, p, map[string]space.Value{"mode": 5})}, 20, false)
			if err != nil || len(times) != 2 || len(times[0].Times) != 20 || len(times[1].Times) != 20 {
				t.Errorf("%s: measured again: %v, %v", a, times, err)
			}
		}
	}
}

// TestFirstLaunchHangs: a first launch that hangs is given up after the time of a launch, not of a build, and once more only if another
// launch has finished, here or before the pool was opened.
func TestFirstLaunchHangs(t *testing.T) {
	t.Parallel()
	if standin.OnSystem() {
		t.Skip("PoCL compiles in the first launch")
	}
	for _, c := range []struct {
		values []space.Value // of mode, in order
		best   bool          // the search goes on, and has a best
		want   string        // of mode 2: the number of evaluations
	}{{[]space.Value{2}, false, "1"}, {[]space.Value{0, 2}, false, "2"}, {[]space.Value{2}, true, "2"}} {
		for _, a := range []arrangement{whole, builders} {
			p := mustProblem(t, definition.Definition{
				Kernel: definition.Kernel{Name: "stall", Source: `
__kernel void stall(__global float *y) { }
// standin: stall is fill(y, 1); stall hangs when mode == 2`},
				ProblemSize: []definition.Expr{"64"}, BlockSize: [3]definition.Expr{"64"},
				Arguments:  []definition.Argument{{Name: "y", Type: "float32", Size: "64", Output: true}},
				Parameters: []space.Parameter{{Name: "mode", Values: c.values}},
			})
			trace := filepath.Join(t.TempDir(), "trace")
			pool := newTestPool(t, a, p, Options{Workers: 1, BuildTimeout: 5 * time.Second, KernelTimeout: time.Second / 2})
			pool.host.Environment = append(pool.host.Environment, traceVariable+"="+trace)
			if c.best {
				pool.Observe(tune.Result{Status: tune.Correct, Times: []float64{1}, Objective: 1})
			}
			o := pool.run(t, loop.Options{})
			text, err := os.ReadFile(trace)
			if err != nil {
				t.Fatal(err)
			}
			wantStatus(t, string(a), o.Results[len(o.Results)-1], tune.Timeout, "the first launch took longer than 500ms (--kernel-timeout)")
			if got := fmt.Sprint(strings.Count(string(text), " evaluate mode=2\n")); got != c.want {
				t.Errorf("%s, %v: evaluated %s times, want %s", a, c.values, got, c.want)
			}
		}
	}
}

// TestSlowHoldsUpNobody: on a device that others do not disturb, a configuration that was measured once is repeated after the builds that wait
// now, or has its result at once if there is no time.
func TestSlowHoldsUpNobody(t *testing.T) {
	p := &Pool{problem: tiny(t, 4, ""), devices: make([]device.Listed, 1), began: time.Now()}
	m := &member{spent: &p.spent, state: working}
	assigned := func(i int) *assignment {
		return &assignment{configuration: configurationOf(t, p.problem, map[string]space.Value{"i": i}), build: time.Second}
	}
	waiting, slow := assigned(0), assigned(1)
	p.toEvaluate.add(waiting)
	result := tune.Result{Status: tune.Correct, Times: []float64{9}, EarlyStopped: true, Durations: tune.Durations{Measure: repeatLeast * 3 / 4}}
	p.answer(m, slow, result, time.Now())
	if len(p.results) > 0 || !slices.Equal(p.toEvaluate, queue{waiting, slow}) {
		t.Errorf("%d results, %d wait: want the repeat last", len(p.results), len(p.toEvaluate))
	}
	p.answer(m, assigned(2), result, time.Now())
	if len(p.results) != 1 || len(p.toEvaluate) != 2 || len(p.slow) > 0 {
		t.Errorf("%d results, %d wait: want a result at once, since the first repeat takes the time", len(p.results), len(p.toEvaluate))
	}
	p.answer(m, slow, tune.Result{Status: tune.Correct, Times: []float64{1, 1}}, time.Now())
	if len(p.results) != 2 || len(p.results[1].Times) != 2 {
		t.Errorf("%v: want the result of the repeat", p.results)
	}
}
