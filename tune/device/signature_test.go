package device

import (
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/source"
)

// TestArgumentsOfCUDA makes sure that arguments of other kinds and types than those of a kernel in CUDA C are refused in the same
// words as for OpenCL C, and that nothing is said of what the text does not tell.
func TestArgumentsOfCUDA(t *testing.T) {
	const kernel = `
extern __shared__ int bytes[];
template <typename T> __global__ void k(const double *a, float b, T c, T *d, const float *const *e, uint16 f, real *g) { bytes[0] = 1; }`
	infos := declared(kernel, "space::k<float>", 8)
	if len(infos) != 8 {
		t.Fatalf("%+v", infos)
	}
	of := func(kind definition.ArgumentKind, typ array.Type) problem.Argument {
		return problem.Argument{Kind: kind, Element: problem.Element{Type: typ}}
	}
	buffer, scalar, local := definition.BufferArgument, definition.ScalarArgument, definition.LocalArgument
	for _, c := range []struct {
		index int
		given problem.Argument
		want  string
	}{
		{0, of(buffer, array.Float64), ""},
		{0, of(buffer, array.Float32), "the kernel takes elements of double, the definition gives float"},
		{0, of(scalar, array.Float64), "the kernel takes a buffer («double* a»), the definition gives a scalar"},
		{1, of(scalar, array.Float32), ""},
		{1, of(scalar, array.Float64), "the kernel takes float, the definition gives double"},
		{1, of(scalar, array.Int32), "the kernel takes float, the definition gives int"},
		{1, of(buffer, array.Float32), "the kernel takes a scalar («float b»), the definition gives a buffer"},
		{2, of(buffer, array.Float32), ""}, {2, of(scalar, array.Float64), ""},
		{3, of(buffer, array.Float64), ""},
		{3, of(scalar, array.Float64), "the kernel takes a buffer («d»), the definition gives a scalar"},
		{4, of(buffer, array.Uint64), ""},
		{5, of(scalar, array.Uint8), ""}, {5, of(buffer, array.Uint8), ""},
		{6, of(buffer, array.Uint16), ""},
		{7, of(local, array.Float32), ""},
		{7, of(buffer, array.Float32), "the kernel takes local memory («int* bytes»), the definition gives a buffer"},
	} {
		if got := mismatch(infos[c.index], c.given); got != c.want {
			t.Errorf("argument %d: %q, want %q", c.index, got, c.want)
		}
	}
	for text, n := range map[string]int{
		kernel: 6, strings.Replace(kernel, "float b", "ARGUMENT(b)", 1): 8, kernel + kernel: 8, "__global__ void k(ARGUMENTS) {}": 0, "__global__ void other() {}": 0, "__kernel void k() {}": 0,
	} {
		if infos := declared(text, "k", n); infos != nil {
			t.Errorf("%d arguments in\n%s: %+v", n, text, infos)
		}
	}
}

func TestSignaturesOfCUDA(t *testing.T) {
	all := CUDASignatures(`
__constant__ float filter[9];
extern __shared__ float tile[];
__global__ void forward(int *a);
template <int n> __global__ void a(unsigned char *out, const struct S s) { tile[0] = filter[0]; }
__global__ void b(const float4 *in, uint16 *odd) {}
__global__ void c(ARGUMENTS) {}`)
	if len(all) != 3 {
		t.Fatalf("%+v", all)
	}
	for i, want := range [][]cl.ArgInfo{
		{{Name: "out", Type: "uchar*", Address: cl.AddressGlobal}, {Name: "s", Type: "S", Address: cl.AddressPrivate}, {Name: "tile", Type: "float*", Address: cl.AddressLocal}},
		{{Name: "in", Type: "float4*", Address: cl.AddressGlobal, Qualifier: cl.TypeConst}, {Name: "odd", Type: "uint16*", Address: cl.AddressGlobal}},
		nil,
	} {
		if len(all[i].Arguments) != len(want) || all[i].Unread != (want == nil) || len(all[i].Symbols) > 0 != (i == 0) {
			t.Fatalf("%+v, want %+v", all[i], want)
		}
		for j := range want {
			want[j].Access = cl.AccessNone
			if all[i].Arguments[j] != want[j] {
				t.Errorf("%+v, want %+v", all[i].Arguments[j], want[j])
			}
		}
	}
	if want := (source.Variable{Name: "n", Type: "int"}); len(all[0].Template) != 1 || all[0].Template[0].Name != want.Name {
		t.Errorf("%+v", all[0].Template)
	}
}
