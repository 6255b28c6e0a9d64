package device

import (
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// cudaSource fills y with twice the factors, in its own way in each mode.
const cudaSource = `
// standin: scale is scale(y, factors, 2); scale takes 1000 * block_size_x; scale errs at 7 when mode == 1
// standin: build fails "k.cu(7): error: no such statement" when mode == 2; scale uses 1024 * (mode == 3 ? 60 : 1); scale is set(y, 515, 1) when mode == 4
__constant__ float factors[n];
extern __shared__ float tile[];
template <typename T, int block> __global__ void __launch_bounds__(64) scale(T *__restrict__ y, const unsigned int mode)
{
    y[blockIdx.x * block + threadIdx.x] = 2 * factors[blockIdx.x * block + threadIdx.x];
}
`

// Kernels in CUDA C have templates, symbols and shared memory, and each mistake is a result of its own with a reason.
func TestKernelsInCUDA(t *testing.T) {
	if standin.OnSystem() {
		t.Skip("the stand-in knows the kernel")
	}
	platform, err := cl.CUDA()
	if err != nil {
		t.Fatal(err)
	}
	devices, err := platform.Devices(cl.DeviceAll)
	if err != nil {
		t.Fatal(err)
	}
	factors, twice := make([]float32, 512), make([]float32, 512)
	for i := range factors {
		factors[i], twice[i] = float32(i), float32(2*i)
	}
	d := definition.Definition{
		Kernel:      definition.Kernel{Name: "scale<float, {block_size_x}>", Source: cudaSource},
		Constants:   []definition.Constant{{Name: "n", Value: 512}},
		ProblemSize: []definition.Expr{"n"},
		Arguments: []definition.Argument{
			{Name: "y", Type: "float32", Size: "n", Output: true}, {Name: "mode", Type: "uint32", Value: "mode"},
			{Name: "factors", Type: "float32", Data: factors, Symbol: true}, {Name: "tile", Type: "float32", LocalSize: "256 * kib"},
		},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{32, 64, 128}}, {Name: "mode", Values: []space.Value{0, 1, 2, 3, 4}},
			{Name: "kib", Values: []space.Value{1, 100, 226, 300}},
		},
		Verify: expect(map[string]any{"y": twice}),
	}
	e, err := Open(devices[0], mustProblem(t, d), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, c := range []struct {
		block, mode, kib int
		status           tune.Status
		reason           string
	}{
		{32, 0, 1, tune.Correct, ""},
		{64, 0, 226, tune.Correct, ""}, // with 1 KiB of its own
		{32, 0, 300, tune.Constraints, "local memory 307200 B > device limit 232448 B"},
		{128, 0, 1, tune.Constraints, "work-group of 128"},
		{32, 1, 1, tune.Correctness, "element 7"},
		{32, 2, 1, tune.Compile, "no such statement"},
		{32, 3, 1, tune.Constraints, "uses too much shared data"},
		{32, 4, 1, tune.Correctness, "behind the 512 elements of y, from element 515 on"},
		{64, 0, 100, tune.Correct, ""},
	} {
		r := e.evaluateFor(t, map[string]space.Value{"block_size_x": c.block, "mode": c.mode, "kib": c.kib})
		wantStatus(t, r.Configuration.String(), r, c.status, c.reason)
		if want := float64(c.block) / 1000; c.status == tune.Correct && (!r.Verified || slices.Max(r.Times) != want || slices.Min(r.Times) != want) {
			t.Errorf("%s: %v, want %g ms", r.Configuration, r.Times, want)
		}
	}

	first := func(name string, status tune.Status, reason string) {
		e, err := Open(devices[0], mustProblem(t, d), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		wantStatus(t, name, e.evaluateFor(t, map[string]space.Value{"block_size_x": 32, "mode": 0, "kib": 1}), status, reason)
	}
	shared := d.Arguments
	d.Arguments = shared[:3]
	first("shared memory is forgotten", tune.Compile, "takes 3 arguments, 2 are given; dynamic shared memory (local_size) counts as one more, the last")
	d.Arguments, d.Kernel.Source = shared, strings.Replace(cudaSource, "extern __shared__ float tile[];\n", "", 1)
	d.Parameters[2].Values = []space.Value{1}
	first("without a use for shared memory", tune.Correct, "")
	d.Arguments[1].Type = "float32"
	first("a float where the source has an unsigned int", tune.Compile, "the kernel takes uint, the definition gives float")
	d.Arguments[1].Type, d.Kernel.Target, d.Kernel.Source = "uint32", "sm_80", cudaSource
	first("machine code for another architecture", tune.Runtime, "cuModuleLoadData: factors: CUDA_ERROR_NO_BINARY_FOR_GPU")
	d.Kernel.Target, d.Kernel.Source = "", strings.Replace(cudaSource, "factors[n]", "others[n]", 1)
	first("without the symbol", tune.Compile, "the source has no variable factors")
	d.Kernel.Name = "scale"
	first("a template without arguments", tune.Compile, `scale is a template: its name needs arguments, such as kernel.name: "scale<float, {block_size_x}>"`)
}
