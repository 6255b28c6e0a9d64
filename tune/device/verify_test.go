package device

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/space"
)

// oneStep adds 1 to each cell.
const oneStep = `
// standin: one_step is copy(u_new, u); one_step is increment(u_new, 1)
__kernel void one_step(__global float *u_new, __global const float *u) {
    int i = get_global_id(0);
    u_new[i] = u[i] + 1;
}`

// manySteps does several steps at once.
const manySteps = `
// standin: many_steps is copy(u_new, u); many_steps is increment(u_new, steps + wrong)
__kernel void many_steps(__global float *u_new, __global const float *u) {
    int i = get_global_id(0);
    u_new[i] = u[i] + (steps + wrong);
}`

func stepping() definition.Definition {
	reference := definition.Definition{
		Kernel:      definition.Kernel{Name: "one_step", Source: oneStep},
		ProblemSize: []definition.Expr{"200"},
		Arguments:   []definition.Argument{{Name: "u_new", Type: "float32", Size: "200"}, {Name: "u", Type: "float32", Size: "200"}},
		Parameters:  one("block_size_x", 50),
	}
	return definition.Definition{
		Kernel:      definition.Kernel{Name: "many_steps", Source: manySteps},
		ProblemSize: []definition.Expr{"200"},
		Arguments: []definition.Argument{
			{Name: "u_new", Type: "float32", Size: "200", Output: true},
			{Name: "u", Type: "float32", Size: "200", Fill: definition.Fill{Kind: array.Random}},
		},
		Parameters: []space.Parameter{
			{Name: "steps", Values: []space.Value{1, 2, 3, 6}}, {Name: "wrong", Values: []space.Value{0, 1}}, {Name: "block_size_x", Values: []space.Value{25}},
		},
		Verify: &definition.Verification{Problem: &reference, Launches: "steps", Swap: [2]string{"u_new", "u"}},
	}
}

// TestReferenceByAnotherKernel compares k steps at once with k launches of one step, whose
// buffers change places.
func TestReferenceByAnotherKernel(t *testing.T) {
	e := open(t, stepping())
	for _, steps := range []int{1, 2, 3, 6, 2} {
		wantCorrect(t, "k steps", e.evaluateFor(t, map[string]space.Value{"steps": steps}))
		if steps > 1 {
			wantStatus(t, "a step too many", e.evaluateFor(t, map[string]space.Value{"steps": steps, "wrong": 1}), tune.Correctness, "u_new: element")
		}
	}
	if n := len(e.references.made); n != 4 {
		t.Errorf("%d references were made", n)
	}
}

// TestScratchDependsOnTheConfiguration: a kernel with scratch of its own is verified by one of its configurations.
func TestScratchDependsOnTheConfiguration(t *testing.T) {
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "two_passes", Source: `
// standin: two_passes is scale(y, x, 2 + wrong); two_passes is fill(scratch, groups) over groups
__kernel void two_passes(__global float *y, __global float *scratch, __global const float *x) {
    int i = get_global_id(0);
    if (i < groups) scratch[i] = groups;
    y[i] = (2 + wrong) * x[i];
}`},
		ProblemSize: []definition.Expr{"200"},
		Arguments: []definition.Argument{
			{Name: "y", Type: "float32", Size: "200", Output: true}, {Name: "scratch", Type: "float32", Size: "groups"},
			{Name: "x", Type: "float32", Size: "200", Fill: definition.Fill{Kind: array.Random, Low: "1", High: "2"}},
		},
		Parameters: []space.Parameter{{Name: "groups", Values: []space.Value{4, 8}}, {Name: "wrong", Values: []space.Value{0, 1}}, {Name: "block_size_x", Values: []space.Value{25}}},
	}
	reference := d
	d.Verify = &definition.Verification{Problem: &reference, Configuration: map[string]space.Value{"groups": 4, "wrong": 0}}
	e := open(t, d)
	wantCorrect(t, "as the reference", e.evaluateFor(t, nil))
	wantCorrect(t, "other scratch", e.evaluateFor(t, map[string]space.Value{"groups": 8}))
	wantStatus(t, "wrong", e.evaluateFor(t, map[string]space.Value{"groups": 8, "wrong": 1}), tune.Correctness, "y: element 0")
	if n := len(e.references.made); n != 1 {
		t.Errorf("%d references were made", n)
	}
}

// TestVectorsAreComparedWithScalars: the reference has float where the kernel has float4.
func TestVectorsAreComparedWithScalars(t *testing.T) {
	d := stepping()
	d.Kernel.Source = strings.ReplaceAll(manySteps, "float", "float4")
	d.ProblemSize = []definition.Expr{"50"}
	for i := range d.Arguments {
		d.Arguments[i].Type, d.Arguments[i].Size = "float4", "50"
	}
	e := open(t, d)
	wantCorrect(t, "vectors", e.evaluateFor(t, map[string]space.Value{"steps": 3}))
	wantStatus(t, "wrong", e.evaluateFor(t, map[string]space.Value{"wrong": 1}), tune.Correctness, "u_new: element 0.s0")
}

// TestWrongOutputsAreToldApart: equal ones have one digest, and a kernel that writes nothing is called that.
func TestWrongOutputsAreToldApart(t *testing.T) {
	results := evaluateAll(t, scale(1, 3))
	if a, b := results["32,3"].Outputs, results["64,3"].Outputs; a == 0 || a != b || results["32,1"].Outputs != 0 {
		t.Errorf("equal wrong outputs have the digests %x and %x, and correct ones %x", a, b, results["32,1"].Outputs)
	}
	d := scale(1)
	d.Kernel.Source = "__kernel void scale(__global float *y, __global const float *x, const int n) {} // standin: scale is nothing()"
	r := evaluateFirst(t, d)
	wantStatus(t, "a kernel that writes nothing", r, tune.Correctness, "; the kernel has left the outputs as they were")
	if r.Outputs != 0 {
		t.Error("outputs that were left as they were count as equal")
	}
}

// TestAReferenceThatIsNaNForSomeSizes fails only the configurations of these sizes.
func TestAReferenceThatIsNaNForSomeSizes(t *testing.T) {
	d := scale(1)
	d.Arguments[0].Size = "1000 + 0 * block_size_x"
	d.Verify = expect(map[string]any{"y": slices.Repeat([]float32{float32(math.NaN())}, scaleLength)})
	wantStatus(t, "NaN", evaluateFirst(t, d), tune.Correctness, "the reference of y is NaN")
}

// TestAReferenceThatFailsEndsTheRun has reference kernels that can give nothing to compare
// with: that is said once, and is no configuration's fault.
func TestAReferenceThatFailsEndsTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(reference *definition.Definition, d *definition.Definition)
		want  string
	}{
		"does not build": {func(r, _ *definition.Definition) { r.Kernel.Source = `no kernel // standin: build fails "error"` }, "build one_step"},
		"has no kernel":  {func(r, _ *definition.Definition) { r.Kernel.Name = "two_steps" }, "no kernel named two_steps"},
		"is too large":   {func(r, _ *definition.Definition) { r.Parameters = one("block_size_x", 1<<20) }, "work-items > device limit"},
		"takes other arguments": {func(r, _ *definition.Definition) {
			r.Arguments = append(r.Arguments, definition.Argument{Name: "n", Value: int32(1)})
		}, "takes 2 arguments, 3 are given"},
		"has other sizes": {func(r, d *definition.Definition) {
			r.Arguments[1].Size = "100 + 0 * device.compute_units"
		}, "buffer u has 100 elements"},
		"needs too much": {func(r, _ *definition.Definition) {
			r.Arguments[0].Size = "device.global_memory"
			r.Arguments[0].Type = "float32"
		}, "device limit"},
	} {
		d := stepping()
		c.spoil(d.Verify.Problem, &d)
		if d.Verify.Problem.Arguments[1].Size != d.Arguments[1].Size {
			d.Verify.Swap, d.Verify.Launches = [2]string{}, ""
		}
		if d.Verify.Problem.Arguments[0].Size != d.Arguments[0].Size {
			d.Verify.Swap, d.Verify.Launches = [2]string{}, ""
		}
		e := open(t, d)
		o, err := loop.Run(context.Background(), e.problem, e, loop.Options{})
		if err == nil || !strings.Contains(err.Error(), "make the reference output with kernel") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
		if len(o.Results) != 0 {
			t.Errorf("%s: %d results", name, len(o.Results))
		}
	}
}

func TestAReferenceFunctionThatFailsEndsTheRun(t *testing.T) {
	for name, c := range map[string]struct {
		outputs map[string]*array.Array
		err     error
		want    string
	}{
		"with an error":     {nil, errors.New("no input"), "compute the reference: no input"},
		"with nothing":      {nil, nil, "gave nothing for the output y"},
		"with another type": {map[string]*array.Array{"y": array.Of(make([]float64, scaleLength))}, nil, "gave float64 for the output y"},
		"with a NaN":        {map[string]*array.Array{"y": array.Of(slices.Repeat([]float32{float32(math.NaN())}, scaleLength))}, nil, "the reference of y is NaN, which no output equals: 1000 of 1000 numbers, the first at 0"},
		"with another size": {map[string]*array.Array{"y": array.Of(make([]float32, 3))}, nil, "the reference of y has 3 elements, the output 1000"},
	} {
		d := scale(1)
		d.Verify.Reference = func(map[string]*array.Array) (map[string]*array.Array, error) { return c.outputs, c.err }
		e := open(t, d)
		if _, err := loop.Run(context.Background(), e.problem, e, loop.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAReferenceFunctionCannotSpoilTheInput changes what it is given.
func TestAReferenceFunctionCannotSpoilTheInput(t *testing.T) {
	d := scale(1)
	right := d.Verify.Reference
	d.Verify.Reference = func(in map[string]*array.Array) (map[string]*array.Array, error) {
		out, err := right(in)
		clear(in["x"].Bytes)
		return out, err
	}
	for key, r := range evaluateAll(t, d) {
		wantCorrect(t, key, r)
	}
}

func TestReferenceByFiles(t *testing.T) {
	y := make([]float32, scaleLength)
	for i := range y {
		y[i] = float32(2 * i)
	}
	path := t.TempDir() + "/y.npy"
	if err := array.WriteNPY(path, array.Of(y), nil); err != nil {
		t.Fatal(err)
	}
	d := scale(1, 3)
	d.Verify = &definition.Verification{Files: map[string]string{"y": path}}
	e := open(t, d)
	wantCorrect(t, "right", e.evaluateFor(t, nil))
	wantStatus(t, "wrong", e.evaluateFor(t, map[string]space.Value{"mode": 3}), tune.Correctness, "y: element 77: got 154.25, want 154")
}

func TestCheckFunction(t *testing.T) {
	d := scale(1, 3)
	d.Verify = &definition.Verification{Check: func(c space.Configuration, outputs map[string]*array.Array) error {
		if y := outputs["y"]; len(outputs) != 1 || y.Len() != scaleLength || y.Float(77) != 154 {
			return errors.New("\xffnot what was asked for")
		}
		return nil
	}}
	e := open(t, d)
	wantCorrect(t, "right", e.evaluateFor(t, nil))
	wantStatus(t, "wrong", e.evaluateFor(t, map[string]space.Value{"mode": 3}), tune.Correctness, "\uFFFDnot what was asked for")
}

func TestUnverifiedResultsSayThatTheyAre(t *testing.T) {
	d := scale(3)
	d.Verify = nil
	if r := evaluateFirst(t, d); r.Status != tune.Correct || r.Verified || len(r.Times) != 7 {
		t.Errorf("%s, verified %v, times %v", r.Status, r.Verified, r.Times)
	}
}

// nearly is a kernel whose output is off by «off»: relative for floats, absolute for
// integers.
func nearly(typ string, off space.Value) definition.Definition {
	want := any([]float32{1000})
	if typ == "int" {
		want = []int32{1000}
	}
	return definition.Definition{
		Kernel:      definition.Kernel{Name: "nearly", Source: "__kernel void nearly(__global " + typ + " *y, float off) { *y = *y * off; } // standin: nearly is scale(y, y, off)"},
		ProblemSize: []definition.Expr{"1"},
		Arguments: []definition.Argument{
			{Name: "y", Type: typ, Size: "1", Fill: definition.Fill{Kind: array.Constant, Value: "1000"}, Output: true},
			{Name: "off", Type: "float32", Value: off},
		},
		Verify: expect(map[string]any{"y": want}),
	}
}

func TestTolerances(t *testing.T) {
	for _, c := range []struct {
		typ        string
		off        space.Value
		aTol, rTol definition.Expr
		status     tune.Status
	}{
		{"float", 1.00005, "", "", tune.Correct}, {"float", 1.0005, "", "", tune.Correctness},
		{"float", 1.0005, "1", "", tune.Correct}, {"float", 1.0005, "", "1e-3", tune.Correct}, {"float", 1.0005, "0.1", "1e-6", tune.Correctness},
		{"float", 1.00005, "0", "", tune.Correctness},
		{"int", 1, "", "", tune.Correct}, {"int", 1.0015, "", "", tune.Correctness}, {"int", 1.0015, "1", "", tune.Correct},
		{"float", math.NaN(), "1e30", "1e30", tune.Correctness}, {"float", math.Inf(1), "1e30", "1e30", tune.Correctness},
	} {
		d := nearly(c.typ, c.off)
		d.Verify.ATol, d.Verify.RTol = c.aTol, c.rTol
		if r := evaluateFirst(t, d); r.Status != c.status {
			t.Errorf("%s off by %v, atol %q, rtol %q: %s %q", c.typ, c.off, c.aTol, c.rTol, r.Status, r.Reason)
		}
	}
}

func TestTolerancesMayDependOnTheConfiguration(t *testing.T) {
	d := nearly("float", 1.0005)
	d.Parameters = []space.Parameter{{Name: "fast", Values: []space.Value{true, false}}}
	d.Verify.RTol = "fast ? 1e-3 : 1e-5"
	results := evaluateAll(t, d)
	wantCorrect(t, "fast", results["1"])
	wantStatus(t, "exact", results["0"], tune.Correctness, "off by")
}

func TestASecondOutputIsComparedToo(t *testing.T) {
	d := definition.Definition{
		Kernel:      definition.Kernel{Name: "two", Source: "__kernel void two(__global int *a, __global int *b) { *a = 1; *b = 2; } // standin: two is set(a, 0, 1); two is set(b, 0, 2)"},
		ProblemSize: []definition.Expr{"1"},
		Arguments:   []definition.Argument{{Name: "a", Type: "int32", Size: "1", Output: true}, {Name: "b", Type: "int32", Size: "1", Output: true}},
		Verify:      expect(map[string]any{"a": []int32{1}, "b": []int32{3}}),
	}
	wantStatus(t, "the second", evaluateFirst(t, d), tune.Correctness, "b: element 0: got 2, want 3")
}

// TestAReferenceThatChangesNothing has a kernel that adds a little to its buffer, and tolerances beyond which the
// little counts or not.
func TestAReferenceThatChangesNothing(t *testing.T) {
	d := definition.Definition{
		Kernel:      definition.Kernel{Name: "add", Source: "__kernel void add(__global float *x) { x[get_global_id(0)] += 0.01f; } // standin: add is increment(x, 0.01)"},
		ProblemSize: []definition.Expr{"64"},
		Arguments:   []definition.Argument{{Name: "x", Type: "float32", Size: "64", Output: true, RestoreEachLaunch: true}},
		Parameters:  one("block_size_x", 32),
		Verify:      &definition.Verification{Expected: map[string]any{"x": slices.Repeat([]float32{0.01}, 64)}},
	}
	for atol, want := range map[definition.Expr]bool{"0.1": true, "0.001": false} {
		d.Verify.ATol = atol
		if r := evaluateFirst(t, d); r.Status != tune.Correct || (r.Notice != "") != want {
			t.Errorf("%s: notice %q, %s %s", atol, r.Notice, r.Status, r.Reason)
		}
	}
}
