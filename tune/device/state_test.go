package device

import (
	"context"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// increment adds one to a buffer in place, which every launch does once more.
func increment(restore bool) definition.Definition {
	want := make([]int32, 64)
	for i := range want {
		want[i] = int32(i + 1)
	}
	return definition.Definition{
		Kernel:      definition.Kernel{Name: "increment", Source: "__kernel void increment(__global int *x) { x[get_global_id(0)]++; } // standin: increment is increment(x, 1)"},
		ProblemSize: []definition.Expr{"64"},
		Arguments: []definition.Argument{{
			Name: "x", Type: "int32", Size: "64", Fill: definition.Fill{Kind: array.Sequence},
			Output: true, RestoreEachLaunch: restore,
		}},
		Parameters: []space.Parameter{{Name: "block_size_x", Values: []space.Value{16, 32, 64}}},
		Verify:     expect(map[string]any{"x": want}),
	}
}

func TestAKernelInPlaceFindsTheInitialContent(t *testing.T) {
	for _, c := range []struct {
		restore bool
		timer   string
		left    float64 // in element 0 after a measurement
	}{
		{true, hardware.TimerEvent, 1}, {true, hardware.TimerHost, 1}, {false, hardware.TimerEvent, 8}, {false, hardware.TimerHost, 8},
	} {
		e := open(t, increment(c.restore))
		e.useTimer(c.timer)
		for _, block := range []int{16, 32, 64, 16} {
			r := e.evaluateFor(t, map[string]space.Value{"block_size_x": block})
			wantCorrect(t, "in place", r)
			left := c.left
			if !c.restore {
				left += float64(r.Repeated)
			}
			if got := e.read(t, "x").Float(0); got != left {
				t.Errorf("restore %v, timer %s: element 0 is %v after the last launch, want %v", c.restore, c.timer, got, left)
			}
		}
		// The final measurement ends with a launch of each from the initial content.
		two := []space.Configuration{configurationOf(t, e.problem, nil), configurationOf(t, e.problem, map[string]space.Value{"block_size_x": 64})}
		times, err := e.Remeasure(context.Background(), "", two, 3, false)
		if err != nil || len(times[0].Times) != 3 || len(times[1].Times) != 3 {
			t.Fatalf("%v, %v", times, err)
		}
		if got := e.read(t, "x").Float(0); got != 1 {
			t.Errorf("restore %v: element 0 is %v after the final measurement", c.restore, got)
		}
	}
}

// useTimer has an evaluator measure by the host's clock, or by events, where the driver has
// them.
func (e *Evaluator) useTimer(timer string) {
	if e.identity.Timer == hardware.TimerHost {
		return
	}
	e.identity.Timer, e.session.Timer = timer, timer
}

func TestTheHostsTimer(t *testing.T) {
	e := open(t, scale(1, 3))
	e.useTimer(hardware.TimerHost)
	wantCorrect(t, "by the host's clock", e.evaluateFor(t, nil))
	wantStatus(t, "wrong", e.evaluateFor(t, map[string]space.Value{"mode": 3}), tune.Correctness, "element 77")
	if e.Device().Timer != hardware.TimerHost {
		t.Errorf("timer %s", e.Device().Timer)
	}
}

// A driver that refuses profiling makes queues without it: the host's clock measures.
func TestAQueueWithoutProfiling(t *testing.T) {
	e := open(t, scale(1, 3))
	e.session.Queue.Release()
	var err error
	if e.session.Queue, err = e.session.Context.NewQueue(0); err != nil {
		t.Fatal(err)
	}
	if e.session.Timer, err = e.session.probeTimer(); err != nil || e.session.Timer != hardware.TimerHost {
		t.Fatalf("timer %q, %v", e.session.Timer, err)
	}
	e.identity.Timer = e.session.Timer
	wantCorrect(t, "by the host's clock", e.evaluateFor(t, nil))
}

// TestNoConfigurationSeesAnothers has a kernel that adds to its output, destroys its input,
// and whose output buffer is larger than what it writes.
func TestNoConfigurationSeesAnothers(t *testing.T) {
	want := make([]float32, 100)
	for i := range 64 {
		want[i] = float32(2 * i)
	}
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "destroy", Source: `
// standin: destroy is axpy(y, 2, x); destroy is fill(x, 0 / 0); destroy is set(y, 99, 1) when block_size_x == 32
__kernel void destroy(__global float *y, __global float *x) {
    int i = get_global_id(0);
    y[i] += 2 * x[i];
    x[i] = NAN;
    if (block_size_x == 32) y[99] += 1;
}`},
		ProblemSize: []definition.Expr{"64"},
		Arguments: []definition.Argument{
			{Name: "y", Type: "float32", Size: "100", Output: true},
			{Name: "x", Type: "float32", Size: "64", Fill: definition.Fill{Kind: array.Sequence}},
		},
		Parameters: []space.Parameter{{Name: "block_size_x", Values: []space.Value{16, 32, 64}}},
		Verify:     expect(map[string]any{"y": want}),
	}
	results := evaluateAll(t, d)
	wantCorrect(t, "first", results["16"])
	wantCorrect(t, "after a wrong one", results["64"])
	wantStatus(t, "wrong", results["32"], tune.Correctness, "element 99: got")
}

// TestBuffersFollowTheConfiguration has sizes that depend on a parameter, back and forth,
// and references that follow them.
func TestBuffersFollowTheConfiguration(t *testing.T) {
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "grow", Source: `
// standin: grow is copy(y, x); grow is increment(y, global_x)
__kernel void grow(__global int *y, __global const int *x) {
    int i = get_global_id(0);
    y[i] = x[i] + get_global_size(0);
}`},
		ProblemSize: []definition.Expr{"16 * times"},
		Arguments: []definition.Argument{
			{Name: "y", Type: "int32", Size: "16 * times", Output: true},
			{Name: "x", Type: "int32", Size: "16 * times", Fill: definition.Fill{Kind: array.Sequence}},
		},
		Parameters: []space.Parameter{{Name: "times", Values: []space.Value{3, 1, 2}}},
		Verify: &definition.Verification{Reference: func(in map[string]*array.Array) (map[string]*array.Array, error) {
			y := make([]int32, in["x"].Len())
			for i := range y {
				y[i] = int32(i + len(y))
			}
			return map[string]*array.Array{"y": array.Of(y)}, nil
		}},
	}
	e := open(t, d)
	var all []space.Configuration
	for _, times := range []int{3, 1, 2, 3, 1} {
		r := e.evaluateFor(t, map[string]space.Value{"times": times})
		wantCorrect(t, "a size that depends on a parameter", r)
		if got := e.read(t, "y").Len(); got != 16*times {
			t.Errorf("%d elements, want %d", got, 16*times)
		}
		all = append(all, r.Configuration)
	}
	times, err := e.Remeasure(context.Background(), "", all[:3], 2, false)
	if err != nil || len(times[0].Times) != 2 || len(times[1].Times) != 2 || len(times[2].Times) != 2 {
		t.Errorf("%v, %v", times, err)
	}
}

func TestReferencesAreKeptWithinBounds(t *testing.T) {
	var values []space.Value
	for i := range 2*maxReferences + 3 {
		values = append(values, i+1)
	}
	d := definition.Definition{
		Kernel:      definition.Kernel{Name: "ones", Source: "__kernel void ones(__global int *y) { y[get_global_id(0)] = 1; } // standin: ones is fill(y, 1)"},
		ProblemSize: []definition.Expr{"1"},
		Arguments:   []definition.Argument{{Name: "y", Type: "int32", Size: "n", Output: true}},
		Parameters:  []space.Parameter{{Name: "n", Values: values}},
		Verify: &definition.Verification{Reference: func(in map[string]*array.Array) (map[string]*array.Array, error) {
			return map[string]*array.Array{"y": in["y"]}, nil
		}},
	}
	e := open(t, d)
	for _, n := range values {
		v, err := e.problem.Variant(configurationOf(t, e.problem, map[string]space.Value{"n": n}), e.identity)
		if err != nil {
			t.Fatal(err)
		}
		outputs, err := e.references.of(context.Background(), e.session, v)
		if err != nil || outputs["y"].Len() != n || len(e.references.made) > maxReferences {
			t.Fatalf("n = %v: %v, %v, %d kept", n, outputs["y"].Len(), err, len(e.references.made))
		}
	}
}
