package diffusion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// agreement is how far a device may be from the CPU, in degrees.
const agreement = 1e-3

func mustSimulate(t testing.TB, d *cl.Device, p *problem.Problem, c space.Configuration, f *Field) *Simulation {
	t.Helper()
	s, err := NewSimulation(d, p, c, f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// TestDeviceAgreesWithCPU runs every bundled kernel on fields of six sizes, each in another configuration; with NDTUNE_LONG=1 in
// six on each size. Where kernels have to be compiled, two sizes do: the tests of package kernels have those at the limits.
func TestDeviceAgreesWithCPU(t *testing.T) {
	d := testDevice(t)
	for _, kernel := range kernelNames(t) {
		sizes := [][2]int{{101, 37}, {1, 1}, {2, 5}, {3, 3}, {129, 131}, {37, 250}}
		if standin.OnSystem() && os.Getenv("NDTUNE_LONG") == "" {
			sizes = sizes[:2]
		}
		for i, size := range sizes {
			t.Run(fmt.Sprintf("%s/%dx%d", kernel, size[0], size[1]), func(t *testing.T) {
				p := bundled(t, kernel, size[0], size[1], nil)
				configurations := someConfigurations(t, d, p, 6)
				if os.Getenv("NDTUNE_LONG") == "" {
					configurations = configurations[i%len(configurations):][:1]
				}
				for _, c := range configurations {
					f := NewField(size[0], size[1], 8)
					s := mustSimulate(t, d, p, c, f)
					const steps = 240
					timing, err := s.Advance(context.Background(), steps)
					if err != nil {
						t.Fatal(err)
					}
					if timing.Steps != steps || timing.Cells != f.InnerCells() || timing.Wall <= 0 {
						t.Errorf("%s: %+v", c, timing)
					}
					got, err := s.Field()
					if err != nil {
						t.Fatal(err)
					}
					if _, err := Advance(context.Background(), f, steps, testDT, 1); err != nil {
						t.Fatal(err)
					}
					if off := got.MaxDifference(f); off > agreement {
						t.Errorf("%s: off by %g degrees", c, off)
					}
				}
			})
		}
	}
}

// TestEveryNumberOfSteps: the field comes from the right one of the two buffers, after one
// advance and after several, also where a number of steps is no multiple of what a launch does.
func TestEveryNumberOfSteps(t *testing.T) {
	d := testDevice(t)
	for _, kernel := range kernelNames(t) {
		p := bundled(t, kernel, 33, 29, nil)
		f := NewField(33, 29, 4)
		s := mustSimulate(t, d, p, someConfigurations(t, d, p, 1)[0], f)
		for _, steps := range []int{0, 1, 2, 3, 1, 1, 64, 65} {
			if _, err := s.Advance(context.Background(), steps); err != nil {
				t.Fatal(err)
			}
			if _, err := Advance(context.Background(), f, steps, testDT, 1); err != nil {
				t.Fatal(err)
			}
			got, err := s.Field()
			if err != nil {
				t.Fatal(err)
			}
			if off := got.MaxDifference(f); off > agreement {
				t.Fatalf("%s, %d more steps: off by %g degrees", kernel, steps, off)
			}
		}
	}
}

// TestWhatIsLeftOver: a kernel of several steps a launch makes any number of them, and no launch
// more than it takes.
func TestWhatIsLeftOver(t *testing.T) {
	d := testDevice(t)
	p := bundled(t, "temporal", 45, 52, nil)
	values := map[string]space.Value{
		"time_steps": 6, "rows_kept_in": "cache", "block_size_x": 1, "block_size_y": 1, "vector_width": 8, "vectors": 4,
		"rows": 16, "ahead": 1, "arithmetic": "plain", "unroll_rows": 2, "skip_checks": "group", "neighbours": "shifted",
		"staging": "registers",
	}
	inRegisters := maps.Clone(values)
	maps.Copy(inRegisters, map[string]space.Value{
		"time_steps": 4, "rows_kept_in": "registers", "block_size_x": 16, "vectors": 1, "unroll_rows": 4, "ahead": 2,
		"arithmetic": "scaled", "neighbours": "local_memory",
	})
	for _, values := range []map[string]space.Value{values, inRegisters} {
		c, err := p.Parameters().Configure(values)
		if err != nil {
			t.Fatal(err)
		}
		f := NewField(45, 52, 4)
		s := mustSimulate(t, d, p, c, f)
		per := c.Int("time_steps")
		if s.StepsPerLaunch() != per {
			t.Fatalf("%d steps a launch, want %d", s.StepsPerLaunch(), per)
		}
		for _, steps := range []int{per + 1, 2 * per, per - 1, 3*per + 1} {
			timing, err := s.Advance(context.Background(), steps)
			if err != nil {
				t.Fatal(err)
			}
			if timing.Steps != steps {
				t.Errorf("%s: %d steps done, want %d", c, timing.Steps, steps)
			}
			if _, err := Advance(context.Background(), f, steps, testDT, 1); err != nil {
				t.Fatal(err)
			}
			got, err := s.Field()
			if err != nil {
				t.Fatal(err)
			}
			if off := got.MaxDifference(f); off > agreement {
				t.Fatalf("%s, %d more steps: off by %g degrees", c, steps, off)
			}
		}
		if len(s.rests) != 2 {
			t.Errorf("%s: %d kernels for what is left over, want one for each of 1 and %d steps", c, len(s.rests), per-1)
		}
	}
}

// TestTutorial runs a kernel of docs/diffusion.md on PoCL.
func TestTutorial(t *testing.T) {
	if !standin.OnSystem() {
		standin.RunOnPoCL(t, "TestDeviceAgreesWithCPU/tiled/101x37")
	}
}

// TestTheDeviceTakesTime: on the stand-in, a launch of 256 × 256 work-items takes exactly 18384 ns.
func TestTheDeviceTakesTime(t *testing.T) {
	d := testDevice(t)
	p := bundled(t, "naive", 256, 256, nil)
	s := mustSimulate(t, d, p, someConfigurations(t, d, p, 1)[0], NewField(256, 256, 1))
	timing, err := s.Advance(context.Background(), 200)
	if err != nil {
		t.Fatal(err)
	}
	if timing.Device <= 0 {
		t.Skip("the driver has no timestamps")
	}
	if standin.OnSystem() && timing.Device > timing.Wall || !standin.OnSystem() && timing.Device != 200*18384 {
		t.Errorf("%v on the device, %v in all", timing.Device, timing.Wall)
	}
	if share, ok := timing.LaunchShare(); !ok || share < 0 || share >= 1 {
		t.Errorf("launches cost a share of %v (%v)", share, ok)
	}
	t.Logf("%v on the device, %v in all, %.3g updates/s", timing.Device, timing.Wall, timing.UpdatesPerSecond())
}

func TestCancelledSimulationIsConsistent(t *testing.T) {
	d := testDevice(t)
	p := bundled(t, "naive", 128, 128, nil)
	f := NewField(128, 128, 6)
	s := mustSimulate(t, d, p, someConfigurations(t, d, p, 1)[0], f)
	ctx := newCountdown(13) // batches of 1, 2, 4, … 512
	timing, err := s.Advance(ctx, 1<<30)
	if !errors.Is(err, context.Canceled) || timing.Steps == 0 {
		t.Fatal(timing, err)
	}
	if _, err := Advance(context.Background(), f, timing.Steps, testDT, 0); err != nil {
		t.Fatal(err)
	}
	got, err := s.Field()
	if err != nil {
		t.Fatal(err)
	}
	if off := got.MaxDifference(f); off > agreement {
		t.Errorf("after %d steps: off by %g degrees", timing.Steps, off)
	}

	more, err := s.Advance(ctx, 10)
	if !errors.Is(err, context.Canceled) || more.Steps != 0 {
		t.Errorf("a cancelled context: %+v, %v", more, err)
	}
}

func TestWhatIsNoSimulationIsRefused(t *testing.T) {
	d := testDevice(t)
	naive := bundled(t, "naive", 32, 16, nil)
	c := someConfigurations(t, d, naive, 1)[0]
	huge, err := naive.Parameters().Configure(map[string]space.Value{"block_size_x": 1 << 20, "block_size_y": 1})
	if err != nil {
		t.Fatal(err)
	}
	buffer := func(name string) definition.Argument {
		return definition.Argument{Name: name, Type: "float32", Size: "nx * ny"}
	}
	define := func(source string, arguments ...definition.Argument) *problem.Problem {
		p, err := problem.New(definition.Definition{
			Kernel:      definition.Kernel{Name: "diffuse_kernel", Source: source},
			Constants:   []definition.Constant{{Name: "nx", Value: 32}, {Name: "ny", Value: 16}},
			ProblemSize: []definition.Expr{"nx", "ny"},
			Arguments:   arguments,
			Parameters:  naive.Definition().Parameters,
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, wrong := range []struct {
		name    string
		problem *problem.Problem
		c       space.Configuration
		field   *Field
		says    string
	}{
		{"another size", naive, c, NewField(31, 16, 1), "31 × 16"},
		{"turned", naive, c, NewField(16, 32, 1), "the problem 32 × 16"},
		{"no values", naive, c, &Field{NX: 32, NY: 16}, "0 values"},
		{"unstable", bundled(t, "naive", 32, 16, map[string]string{"dt": "0.26f"}), c, NewField(32, 16, 1), "stable"},
		{"work-group", naive, huge, NewField(32, 16, 1), "1048576"},
		{"one buffer", define("kernel void diffuse_kernel(global float *u) {}", buffer("u")), c, NewField(32, 16, 1), "u_new and u"},
		{"other names", define("kernel void diffuse_kernel(global float *a, global float *u) {}", buffer("a"), buffer("u")), c, NewField(32, 16, 1), "u_new and u"},
		{"does not compile", define("kernel void diffuse_kernel(oops // standin: build fails \"error: oops\"", buffer("u_new"), buffer("u")), c, NewField(32, 16, 1), "oops"},
		{"no such kernel", define("kernel void other(global float *a) {} // standin: other is nothing()", buffer("u_new"), buffer("u")), c, NewField(32, 16, 1), "diffuse_kernel"},
	} {
		t.Run(wrong.name, func(t *testing.T) {
			s, err := NewSimulation(d, wrong.problem, wrong.c, wrong.field)
			if err == nil {
				s.Close()
				t.Fatal("it was set up")
			}
			if text := err.Error(); !strings.Contains(text, wrong.says) || !strings.Contains(text, wrong.c.String()) {
				t.Errorf("the error does not say %q and %q: %v", wrong.says, wrong.c, err)
			}
		})
	}

	s := mustSimulate(t, d, naive, c, NewField(32, 16, 1))
	if _, err := s.Advance(context.Background(), -1); err == nil {
		t.Error("went back in time")
	}
	s.Close()
	s.Close()
	if _, err := s.Advance(context.Background(), 1); !errors.Is(err, cl.ErrReleased) {
		t.Errorf("a closed simulation: %v", err)
	}
	if _, err := s.Field(); err == nil {
		t.Error("a closed simulation has a field")
	}
}

// TestFourThousandSteps is the tutorial's run. It takes a minute or two on a small CPU.
func TestFourThousandSteps(t *testing.T) {
	if os.Getenv("NDTUNE_LONG") == "" {
		t.Skip("4000 steps of 1024 × 1024 cells: make test-long")
	}
	if !standin.OnPoCL(t) {
		return
	}
	d := testDevice(t)
	const n, steps = 1024, 4000
	want := NewField(n, n, 1)
	timing, err := Advance(context.Background(), want, steps, testDT, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("CPU: %v, %.4g updates/s", timing.Wall, timing.UpdatesPerSecond())
	for _, kernel := range kernelNames(t) {
		p := bundled(t, kernel, n, n, nil)
		c := someConfigurations(t, d, p, 2)[1]
		s := mustSimulate(t, d, p, c, NewField(n, n, 1))
		timing, err := s.Advance(context.Background(), steps)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Field()
		if err != nil {
			t.Fatal(err)
		}
		off := got.MaxDifference(want)
		if off > agreement {
			t.Errorf("%s (%s): off by %g degrees", kernel, c, off)
		}
		t.Logf("%s (%s): off by %.3g degrees; %v on the device, %v in all, %.4g updates/s",
			kernel, c, off, timing.Device, timing.Wall, timing.UpdatesPerSecond())
	}
}
