package device

import (
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// TestMain leaves the example out where there is no device: an example cannot skip itself.
func TestMain(m *testing.M) {
	standin.Use("standin-cpu", "nvidia-h200-cuda")
	flag.Parse()
	if _, err := findTestDevice(); err != nil && os.Getenv("NDTUNE_REQUIRE_OPENCL") == "" {
		if err := flag.Set("test.skip", "^Example"); err != nil {
			panic(err)
		}
	}
	os.Exit(standin.Main(m))
}

// onPoCL are the tests that need a compiler, images, or what else the stand-in leaves out. TestOnPoCL runs them in one process.
var onPoCL = []string{
	// arguments by value, guards behind buffers, and kernels that the stand-in cannot compute
	"TestScalarsOfEveryType", "TestVectorScalars", "TestStructByValue", "TestBytesByValue", "TestBuffersOfStructs",
	"TestLocalMemoryArguments", "TestViewsOfABufferAreAllowed", "TestOffsetsAndWorkGroupsOfTheDriver", "TestTheFinalMeasurementTakesTurns",
	// the log of a compiler
	"TestSourcesThatDoNotBuild",
	// memory: caches, and writes from one buffer into another
	"TestColdLaunchesFindTheirDataInMemory", "TestAWriteIntoAnInitialContentCostsNobodyElse",
	// images
	"TestImagesOfEveryShape", "TestSamplers", "TestImagesBeyondTheDevice", "TestACommandJudgesImages",
	// ndtune_verify
	"TestWhatTheDevicePasses",
}

// longOnPoCL are those that NDTUNE_LONG adds: each has a cheaper one of its kind above.
var longOnPoCL = []string{
	"TestGaussianBlurOfAnImage", "TestTheDevicePassesOnlyWhatTheHostPasses",
	"TestRoundingOnTheDevicePassesNothing", "TestDenormals",
}

// both are the tests that run on PoCL and on the stand-in.
var both = []string{
	"TestEveryFailureIsAResultWithAReason", // a kernel that is built, launched and verified, or not
	"TestScalarsThatChangeByStep",          // a pipeline
}

func TestOnPoCL(t *testing.T) {
	if standin.OnSystem() {
		t.Skip("all tests run on the system's drivers")
	}
	tests := append(both, onPoCL...)
	if os.Getenv("NDTUNE_LONG") != "" {
		tests = append(tests, longOnPoCL...)
	}
	if left := standin.RunOnPoCL(t, tests...); len(left) > 0 {
		t.Errorf("skipped on PoCL: %v", left)
	}
}

// testDevice is the device that tests run on: NDTUNE_TEST_DEVICE as a selector, else the
// first CPU, else any. Without a device tests are skipped, unless NDTUNE_REQUIRE_OPENCL is
// set.
func testDevice(t testing.TB) *cl.Device {
	t.Helper()
	if !standin.OnSystem() && slices.Contains(append(longOnPoCL, onPoCL...), t.Name()) {
		t.Skip("TestOnPoCL runs it")
	}
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

func mustProblem(t testing.TB, d definition.Definition) *problem.Problem {
	t.Helper()
	p, err := problem.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func open(t testing.TB, d definition.Definition) *Evaluator {
	t.Helper()
	e, err := Open(testDevice(t), mustProblem(t, d), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// evaluateAll runs a definition over its whole space and returns the results by key.
func evaluateAll(t testing.TB, d definition.Definition) map[string]tune.Result {
	t.Helper()
	e := open(t, d)
	outcome, err := loop.Run(context.Background(), e.problem, e, loop.Options{Finalists: -1})
	if err != nil {
		t.Fatal(err)
	}
	byKey := map[string]tune.Result{}
	for _, r := range outcome.Results {
		byKey[r.Configuration.Key()] = r
	}
	return byKey
}

// evaluateFor evaluates one configuration of an open evaluator: the first value of every
// parameter, but for those given.
func (e *Evaluator) evaluateFor(t testing.TB, values map[string]space.Value) tune.Result {
	t.Helper()
	r, err := e.One(context.Background(), configurationOf(t, e.problem, values), Prebuilt{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func configurationOf(t testing.TB, p *problem.Problem, values map[string]space.Value) space.Configuration {
	t.Helper()
	c, err := p.Parameters().ConfigureFirst(values)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// evaluateFirst evaluates the first configuration of a definition.
func evaluateFirst(t testing.TB, d definition.Definition) tune.Result {
	t.Helper()
	return open(t, d).evaluateFor(t, nil)
}

func wantStatus(t testing.TB, what string, r tune.Result, status tune.Status, reason string) {
	t.Helper()
	if r.Status != status || !strings.Contains(r.Reason, reason) {
		t.Errorf("%s: %s %q, want %s with %q", what, r.Status, r.Reason, status, reason)
	}
}

// wantCorrect wants a verified result with seven times.
func wantCorrect(t testing.TB, what string, r tune.Result) {
	t.Helper()
	if r.Status != tune.Correct || !r.Verified || len(r.Times)-r.Repeated != 7 || r.Stats().Min <= 0 {
		t.Errorf("%s: %s %q, verified %v, times %v", what, r.Status, r.Reason, r.Verified, r.Times)
	}
}

// read is the content of a buffer as the last launch left it.
func (e *Evaluator) read(t testing.TB, name string) *array.Array {
	t.Helper()
	for i, info := range e.session.infos {
		if info.Name == name {
			a, err := e.session.read(i, nil)
			if err != nil {
				t.Fatal(err)
			}
			return a.Clone()
		}
	}
	t.Fatalf("no argument %s", name)
	return nil
}

func hasDouble(t testing.TB) bool {
	info, err := testDevice(t).Info()
	return err == nil && info.DoubleFP != 0
}

// diesOfLocalMemory reports whether the driver ends the process when a kernel has more
// local memory than the device: PoCL 5 does, and says beforehand that the kernel has none.
func diesOfLocalMemory(t testing.TB) bool {
	identity, err := Describe(testDevice(t))
	if err != nil {
		t.Fatal(err)
	}
	dies := identity.Platform == "Portable Computing Language" && !strings.HasPrefix(identity.Driver, "3.") && !strings.HasPrefix(identity.Driver, "1.")
	if dies {
		t.Logf("PoCL %s ends the process for want of local memory: left out", identity.Driver)
	}
	return dies
}

// expect is a verification by outputs that are known.
func expect(outputs map[string]any) *definition.Verification {
	return &definition.Verification{Reference: func(map[string]*array.Array) (map[string]*array.Array, error) {
		all := map[string]*array.Array{}
		for name, v := range outputs {
			a, err := array.From(v)
			if err != nil {
				return nil, err
			}
			all[name] = a
		}
		return all, nil
	}}
}

func one(name string, v space.Value) []space.Parameter {
	return []space.Parameter{{Name: name, Values: []space.Value{v}}}
}

// scaleSource doubles x into y; «mode» picks how it goes wrong.
const scaleSource = `
// standin: scale is scale(y, x, 2) over n; scale is set(y, 77, 154.25) when mode == 3; build fails "error: no such statement" when mode == 4
// standin: scale uses 16777216 * (mode == 5)
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

func scale(modes ...space.Value) definition.Definition {
	x := make([]float32, scaleLength)
	for i := range x {
		x[i] = float32(i)
	}
	return definition.Definition{
		Kernel:      definition.Kernel{Name: "scale", Source: scaleSource},
		ProblemSize: []definition.Expr{"1000"},
		Arguments: []definition.Argument{
			{Name: "y", Type: "float32", Size: "1000", Output: true},
			{Name: "x", Data: x},
			{Name: "n", Value: int32(scaleLength)},
		},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{32, 64}},
			{Name: "mode", Values: modes},
		},
		Verify: &definition.Verification{Reference: func(in map[string]*array.Array) (map[string]*array.Array, error) {
			y := make([]float32, in["x"].Len())
			for i := range y {
				y[i] = float32(2 * in["x"].Float(i))
			}
			return map[string]*array.Array{"y": array.Of(y)}, nil
		}},
	}
}

func TestEveryFailureIsAResultWithAReason(t *testing.T) {
	modes := []space.Value{1, 3, 4, 5}
	if diesOfLocalMemory(t) {
		modes = modes[:3]
	}
	results := evaluateAll(t, scale(modes...))
	for mode, want := range map[string]struct {
		status tune.Status
		reason string
	}{
		"1": {tune.Correct, ""},
		"3": {tune.Correctness, "element 77"},
		"4": {tune.Compile, "no"},
		"5": {tune.Constraints, "local memory"},
	} {
		if len(modes) == 3 && mode == "5" {
			continue
		}
		for _, block := range []string{"32", "64"} {
			r, ok := results[block+","+mode]
			if !ok || r.Status != want.status || !strings.Contains(r.Reason, want.reason) {
				t.Errorf("mode %s: %s %q, want %s with %q", mode, r.Status, r.Reason, want.status, want.reason)
			}
			if want.status == tune.Correct && (!r.Verified || len(r.Times)-r.Repeated != 7 || r.Time() <= 0) {
				t.Errorf("mode %s: verified %v, times %v", mode, r.Verified, r.Times)
			}
		}
	}
}
