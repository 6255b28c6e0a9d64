package dynamic

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

func TestMain(m *testing.M) { os.Exit(standin.Main(m)) }

// saxpy computes y = a·x + y in place. The parameter fault makes it wrong, or unable to build or to launch.
const saxpy = `
// standin: saxpy is axpy(y, a, x) over n; saxpy is increment(y, 1) over n when fault == 1; saxpy takes 20000 + block_size_x - work
// standin: build fails "error: this configuration does not build" when fault == 2; saxpy fails -54 when fault == 4
// standin: saxpy errs at 0 when fault == 3 && launch > 1
#if fault == 2
#error this configuration does not build
#elif fault == 4
__attribute__((reqd_work_group_size(3, 1, 1)))
#endif
__kernel void saxpy(__global float *y, __global const float *x, const float a) {
    int i = get_group_id(0) * block_size_x * work + get_local_id(0);
    for (int k = 0; k < work; k++, i += block_size_x) {
        if (i >= n) return;
        y[i] += a * x[i];
#if fault == 1
        y[i] += 1;
#elif fault == 3
        if (x[i] > 2) y[i] += 1; // not in the data of the problem
#endif
    }
}`

// The faults. Those of the kernel are found by the verification, but for wrongForLarge.
const (
	none          = 0
	wrong         = 1
	unbuildable   = 2
	wrongForLarge = 3
	unlaunchable  = 4
)

const n = 10_000

// problemWith is saxpy with three sizes of a work-group and these values of fault.
func problemWith(t *testing.T, verified bool, faults ...space.Value) *problem.Problem {
	t.Helper()
	d := task.Definition{
		Kernel:      task.Kernel{Name: "saxpy", Source: saxpy},
		Constants:   []task.Constant{{Name: "n", Value: n}},
		ProblemSize: []task.Expr{"n"},
		GridDiv:     [3][]task.Expr{{"block_size_x", "work"}},
		Arguments: []task.Argument{
			{Name: "y", Type: "float32", Size: "n", Fill: task.Fill{Kind: array.Random}, Output: true},
			{Name: "x", Type: "float32", Size: "n", Fill: task.Fill{Kind: array.Random}},
			{Name: "a", Value: float32(2)},
		},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{16, 32, 64}},
			{Name: "work", Values: []space.Value{1, 2}},
			{Name: "fault", Values: faults},
		},
	}
	if verified {
		d.Verify = &task.Verification{Reference: func(in map[string]*array.Array) (map[string]*array.Array, error) {
			x, err := array.Slice[float32](in["x"])
			if err != nil {
				return nil, err
			}
			y, err := array.Slice[float32](in["y"])
			for i := range y {
				y[i] += 2 * x[i]
			}
			return map[string]*array.Array{"y": in["y"]}, err
		}}
	}
	p, err := problem.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// An application adds vectors whose data change from step to step, and checks every result.
type application struct {
	t        *testing.T
	launcher *device.Launcher
	y, x     *cl.Buffer
	rng      *rand.Rand
	large    bool // some values are large
	works    int  // number of calls of work
	trials   int  // number of these that are trials
}

func newApplication(t *testing.T) *application {
	t.Helper()
	all, err := device.List()
	if err != nil && os.Getenv("NDTUNE_REQUIRE_OPENCL") == "" {
		t.Skipf("no OpenCL device: %v", err)
	}
	chosen, err := device.Select(all, cmp.Or(os.Getenv("NDTUNE_TEST_DEVICE"), "cpu"))
	if err != nil {
		t.Fatal(err)
	}
	a := &application{t: t, rng: rand.New(rand.NewPCG(1, 2))}
	if a.launcher, err = device.NewLauncher(chosen.Device, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.launcher.Release)
	for _, b := range []**cl.Buffer{&a.y, &a.x} {
		if *b, err = a.launcher.Context.NewBuffer(cl.ReadWrite, 4*n); err != nil {
			t.Fatal(err)
		}
		t.Cleanup((*b).Release)
	}
	return a
}

func (a *application) open(p *problem.Problem, o Options) *Kernel {
	a.t.Helper()
	k, err := New(a.launcher, p, o)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { _ = k.Close() })
	return k
}

// step makes a step with new data, whose result must be right, and returns the configuration that made it. Check
// lets the application tell the kernel of wrong results of trials.
func (a *application) step(k *Kernel, check bool) (c space.Configuration, trial bool) {
	a.t.Helper()
	x, y, out := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i] = a.rng.Float32(), a.rng.Float32()
		if a.large && i%100 == 0 {
			x[i] += 10
		}
	}
	scalar := a.rng.Float32()
	wrongAt, calls := -1, 0
	_, hadBest := k.Best()
	err := k.Do(a.t.Context(), func(s *Step) error {
		a.works++
		calls++
		c, trial, wrongAt = s.Variant.Configuration, s.Trial, -1
		if trial {
			a.trials++
		}
		queue := a.launcher.Queue
		if err := errors.Join(queue.Write(a.x, 0, cl.Bytes(x)), queue.Write(a.y, 0, cl.Bytes(y))); err != nil {
			return err
		}
		if err := s.Run(a.y, a.x, scalar); err != nil {
			return err
		}
		if err := queue.Read(a.y, 0, cl.Bytes(out)); err != nil {
			return err
		}
		for i := range out {
			if want := y[i] + scalar*x[i]; out[i]-want > 1e-4 || want-out[i] > 1e-4 {
				wrongAt = i
				break
			}
		}
		if check && wrongAt >= 0 {
			return fmt.Errorf("%w at %d", ErrWrong, wrongAt)
		}
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
	if wrongAt >= 0 {
		a.t.Errorf("the result of %s is wrong", c)
	}
	if calls > 1 && hadBest && trial {
		a.t.Errorf("after a failure, the step was made with a further trial, %s", c)
	}
	return c, trial
}

// finish makes steps until the search is over, and returns its outcome.
func (a *application) finish(k *Kernel, check bool) *tune.Outcome {
	a.t.Helper()
	for range 1000 {
		if o, over := k.Outcome(); over {
			return o
		}
		a.step(k, check)
	}
	a.t.Fatal("the search does not end")
	return nil
}

// statuses counts the results by fault and status.
func statuses(o *tune.Outcome) map[string]int {
	counts := map[string]int{}
	for _, r := range o.Results {
		counts[fmt.Sprintf("%d %s", r.Configuration.Int("fault"), r.Status)]++
	}
	return counts
}
