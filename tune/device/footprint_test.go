package device

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/footprint"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// tiles is a pipeline of two kernels whose local memory depends on the configuration: 4·tile bytes, and 4·tile of an
// argument.
func tiles() definition.Definition {
	return definition.Definition{
		Kernel: definition.Kernel{Name: "tiles", Source: `
// standin: declared is fill(out, 1); declared uses 4 * tile; given is fill(out, 2)
__kernel void declared(__global float *out) {
    __local float t[tile];
    t[get_local_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = t[0];
}
__kernel void given(__global float *out, __local float *t) { t[get_local_id(0)] = 2; out[get_global_id(0)] = t[0]; }`},
		ProblemSize: []definition.Expr{"64"},
		BlockSize:   [3]definition.Expr{"1"},
		Stages:      []definition.Stage{{Kernel: "declared", Arguments: []string{"out"}}, {Kernel: "given"}},
		Arguments:   []definition.Argument{{Name: "out", Type: "float32", Size: "64"}, {Name: "t", Type: "float32", LocalSize: "tile + 1"}},
		Parameters:  []space.Parameter{{Name: "tile", Values: []space.Value{64, 256}}},
	}
}

func TestBuildRestrictionsRefuseBuiltKernels(t *testing.T) {
	d := tiles()
	d.BuildRestrictions = []definition.Expr{"local_bytes <= 4 * 64 + 4"}
	d.Metrics = []definition.Metric{{Name: "KiB", Expression: "local_bytes / 1024"}}
	e := open(t, d)
	r := e.evaluateFor(t, nil)
	if want := []hardware.Reading{{Quantity: footprint.LocalBytes, Value: 260}}; r.Status != tune.Correct || !slices.Equal(r.Readings, want) {
		t.Errorf("%s %s, readings %v, want %v", r.Status, r.Reason, r.Readings, want)
	}
	wantStatus(t, "a tile of 256", e.evaluateFor(t, map[string]space.Value{"tile": 256}), tune.Constraints,
		"1028 B of local memory: build_restrictions[0], local_bytes <= 4 * 64 + 4, refuses it")
	built, _, err := e.Build(context.Background(), configurationOf(t, e.problem, map[string]space.Value{"tile": 256}), false, "")
	if err != nil || built.Status != tune.Constraints {
		t.Errorf("built elsewhere: %s %s, %v", built.Status, built.Reason, err)
	}
}

// TestAKnownFootprintIsNotFoundAgain has readings of another process.
func TestAKnownFootprintIsNotFoundAgain(t *testing.T) {
	d := tiles()
	d.BuildRestrictions = []definition.Expr{"spill_bytes == 0"}
	e := open(t, d)
	c := configurationOf(t, e.problem, nil)
	for spilled, want := range map[float64]tune.Status{0: tune.Correct, 64: tune.Constraints} {
		r, err := e.One(context.Background(), c, Prebuilt{Readings: []hardware.Reading{{Quantity: footprint.SpillBytes, Value: spilled}}})
		if err != nil || r.Status != want {
			t.Errorf("%v B spilled: %s %s, %v", spilled, r.Status, r.Reason, err)
		}
		if want == tune.Constraints && r.Reason != "spills 64 B: build_restrictions[0], spill_bytes == 0, refuses it" {
			t.Error(r.Reason)
		}
	}
}

// TestAnUnknownFootprintHasAReason is for a device whose driver says nothing of registers.
func TestAnUnknownFootprintHasAReason(t *testing.T) {
	d := tiles()
	d.Measure.Observe = footprint.Quantities()
	e := open(t, d)
	if i := e.session.Info; e.identity.Type != "cpu" || i.HasExtension("cl_nv_compiler_options") {
		t.Skip("the test device may say what kernels take")
	}
	r := e.evaluateFor(t, nil)
	for _, name := range []string{footprint.Registers, footprint.SpillBytes} {
		if reading, ok := hardware.ReadingOf(r.Readings, name); !ok || !math.IsNaN(reading.Value) || !strings.Contains(reading.Missing, "does not say it") {
			t.Errorf("%s: %+v, want a reason", name, reading)
		}
	}
	d.BuildRestrictions = []definition.Expr{"spill_bytes == 0 or tile > 64"}
	e = open(t, d)
	_, err := e.One(context.Background(), configurationOf(t, e.problem, nil), Prebuilt{})
	if err == nil || !strings.Contains(err.Error(), "needs spill_bytes, which is not known of tile=64: the driver") {
		t.Errorf("%v, want an error that names spill_bytes", err)
	}
}
