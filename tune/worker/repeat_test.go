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
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

// TestSlowLaunches: a configuration whose launches were slow is evaluated once more before it is given up, or is measured only once, if
// there is time. The launches of some are slow in the first evaluation only.
func TestSlowLaunches(t *testing.T) {
	t.Parallel()
	if standin.OnSystem() {
		t.Skip("which launch is slow is known of the stand-in only")
	}
	p := mustProblem(t, task.Definition{
		Kernel: task.Kernel{Name: "slow", Source: `
__kernel void slow(__global float *y) { y[get_global_id(0)] = 1; }
// standin: slow is fill(y, 1); slow hangs when mode == 1 && launch == 2 first 1; slow hangs when mode == 2 && launch == 2
// standin: slow takes 900000000 when mode == 3 first 3; slow takes 900000000 when mode == 4; slow takes 25000000
// standin: slow hangs when mode == 5 && launch == 12 first 1`},
		ProblemSize: []task.Expr{"64"}, BlockSize: [3]task.Expr{"64"},
		Arguments:  []task.Argument{{Name: "y", Type: "float32", Size: "64", Output: true}},
		Parameters: []space.Parameter{{Name: "mode", Values: []space.Value{0, 1, 2, 3, 4, 5}}},
		Verify:     &task.Verification{Expected: map[string]any{"y": slices.Repeat([]float32{1}, 64)}},
	})
	for _, c := range []struct {
		began time.Duration // before now: the search
		want  []string      // by mode: the status, the number of launches, and that of evaluations
	}{
		{time.Hour, []string{"correct 7 1", "correct 7 2", "timeout 0 2", "correct 7 2", "correct 1 2", "correct 7 1"}},
		{-time.Hour, []string{"correct 7 1", "timeout 0 1", "timeout 0 1", "correct 1 1", "correct 1 1", "correct 7 1"}}, // there is no time
	} {
		for _, a := range []arrangement{whole, builders} {
			folder := t.TempDir()
			trace := filepath.Join(folder, "trace")
			pool := newTestPool(t, a, p, Options{Workers: 1, KernelTimeout: time.Second / 2, EarlyStop: 3})
			pool.host.Environment = append(pool.host.Environment, standin.StateVariable+"="+folder, traceVariable+"="+trace)
			pool.began = time.Now().Add(-c.began)
			o := pool.run(t, tune.Options{Finalists: -1})
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
			times, err := pool.Remeasure(context.Background(), []space.Configuration{o.Results[0].Configuration, configurationOf(t, p, map[string]space.Value{"mode": 5})}, 20)
			if err != nil || len(times) != 2 || len(times[0]) != 20 || len(times[1]) != 20 {
				t.Errorf("%s: measured again: %v, %v", a, times, err)
			}
		}
	}
}
