package device

import (
	"context"
	"os"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/space"
)

// testDevice is the device that tests run on: NDTUNE_TEST_DEVICE as a selector, else the
// first CPU, else any. Without a device tests are skipped, unless NDTUNE_REQUIRE_OPENCL is
// set.
func testDevice(t testing.TB) *cl.Device {
	t.Helper()
	l, err := findTestDevice()
	if err != nil {
		if os.Getenv("NDTUNE_REQUIRE_OPENCL") != "" {
			t.Fatalf("no OpenCL device: %v", err)
		}
		t.Skipf("no OpenCL device: %v", err)
	}
	return l.Device
}

func findTestDevice() (Listed, error) {
	all, err := List()
	if err != nil {
		return Listed{}, err
	}
	if selector := os.Getenv("NDTUNE_TEST_DEVICE"); selector != "" {
		return Select(all, selector)
	}
	if l, err := Select(all, "cpu"); err == nil {
		return l, nil
	}
	return Select(all, "")
}

func mustProblem(t testing.TB, d tune.Definition) *tune.Problem {
	t.Helper()
	p, err := tune.NewProblem(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func open(t testing.TB, d tune.Definition) *Evaluator {
	t.Helper()
	e, err := Open(testDevice(t), mustProblem(t, d), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// evaluateAll runs a definition over its whole space and returns the results by key.
func evaluateAll(t testing.TB, d tune.Definition) map[string]tune.Result {
	t.Helper()
	e := open(t, d)
	outcome, err := tune.Run(context.Background(), e.problem, e, tune.Options{Finalists: -1})
	if err != nil {
		t.Fatal(err)
	}
	byKey := map[string]tune.Result{}
	for _, r := range outcome.Results {
		byKey[r.Configuration.Key()] = r
	}
	return byKey
}

// scaleSource doubles x into y; «mode» picks how it goes wrong.
const scaleSource = `
__kernel void scale(__global float *y, __global const float *x, const int n) {
#if mode == 4
    no such statement;
#endif
#if mode == 5
    __local float big[4 * 1024 * 1024];
    big[get_local_id(0)] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = big[get_local_size(0) - 1 - get_local_id(0)];
#endif
    int i = get_global_id(0);
    if (i < n) y[i] = 2 * x[i] + (mode == 3 && i == 77 ? 0.25f : 0);
}
`

const scaleLength = 1000

func scale(modes ...space.Value) tune.Definition {
	x := make([]float32, scaleLength)
	for i := range x {
		x[i] = float32(i)
	}
	return tune.Definition{
		Kernel:      tune.Kernel{Name: "scale", Source: scaleSource},
		ProblemSize: []tune.Expr{"1000"},
		Arguments: []tune.Argument{
			{Name: "y", Type: "float32", Size: "1000", Output: true},
			{Name: "x", Data: x},
			{Name: "n", Value: int32(scaleLength)},
		},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{32, 64}},
			{Name: "mode", Values: modes},
		},
		Verify: &tune.Verification{Reference: func(in map[string]*array.Array) (map[string]*array.Array, error) {
			y := make([]float32, in["x"].Len())
			for i := range y {
				y[i] = float32(2 * in["x"].Float(i))
			}
			return map[string]*array.Array{"y": array.Of(y)}, nil
		}},
	}
}
