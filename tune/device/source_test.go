package device

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// TestSPIRV runs a module where the device takes it. Other devices refuse it with a reason.
func TestSPIRV(t *testing.T) {
	d := definition.Definition{
		Kernel:      definition.Kernel{Name: "affine", File: filepath.Join("testdata", "affine.spv")},
		ProblemSize: []definition.Expr{"4"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "uint32", Size: "4", Output: true}, {Name: "x", Type: "uint32", Data: []uint32{0, 1, 2, 3}},
		},
		Parameters: []space.Parameter{{Name: "block_size_x", Values: []space.Value{4}}},
		Verify:     expect(map[string]any{"out": []uint32{0, 1, 2, 3}}),
	}
	e := open(t, d)
	if !strings.Contains(e.session.Info.ILVersion, "SPIR-V") {
		wantStatus(t, "a device without SPIR-V", e.evaluateFor(t, nil), tune.Constraints, "the kernel is a SPIR-V module, and the device takes none")
		t.Skipf("%s takes no SPIR-V: only the refusal was tested", e.identity.Name)
	}
	wantCorrect(t, "a factor of 1", e.evaluateFor(t, nil))
	d.Verify = expect(map[string]any{"out": []uint32{1, 8, 15, 22}})
	wantStatus(t, "another expected output", evaluateFirst(t, d), tune.Correctness, "out")

	d.Kernel.Name = "other"
	wantStatus(t, "another name", evaluateFirst(t, d), tune.Compile, "no kernel named other")
}

// TestCXX builds C++ for OpenCL where the driver compiles it.
func TestCXX(t *testing.T) {
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "sums", BuildOptions: []string{"-cl-std=CLC++"}, Source: `
template <typename T, int n> T sum(const __global T *x) {
	T s = 0;
	for (int i = 0; i < n; i++) s += x[i];
	return s;
}
__kernel void sums(__global int *out, __global const int *x) { *out = sum<int, width>(x); }`},
		ProblemSize: []definition.Expr{"1"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "int32", Size: "1", Output: true}, {Name: "x", Type: "int32", Data: []int32{1, 2, 3, 4}},
		},
		Parameters: []space.Parameter{{Name: "width", Values: []space.Value{3, 4}}},
		Verify:     expect(map[string]any{"out": []int32{6}}),
	}
	e := open(t, d)
	if _, err := e.session.Kernel("__kernel void k() {}", "-cl-std=CLC++", "k"); err != nil {
		wantStatus(t, "a driver without C++", e.evaluateFor(t, nil), tune.Compile, "build sums: the driver does not compile C++ for OpenCL (-cl-std=CLC++)")
		t.Skipf("the driver of %s does not compile C++ for OpenCL: only the refusal was tested", e.identity.Name)
	}
	wantCorrect(t, "a template of 3", e.evaluateFor(t, nil))
	wantStatus(t, "a template of 4", e.evaluateFor(t, map[string]space.Value{"width": 4}), tune.Correctness, "out")
	d.Kernel.Source = "wrong"
	if r := evaluateFirst(t, d); r.Status != tune.Compile || strings.Contains(r.Reason, "does not compile C++") {
		t.Errorf("an error in the source: %s %s", r.Status, r.Reason)
	}
}
