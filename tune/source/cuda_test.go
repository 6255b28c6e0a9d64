package source

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestFindKernelOfCUDA makes sure that a kernel in CUDA C reads as the same kernel in OpenCL C does.
func TestFindKernelOfCUDA(t *testing.T) {
	const opencl = `
float twice(float x) { return HELP * x; }
__attribute__((unused))
__kernel void add(__global float *c, __global const float *restrict a, int n, int m)
{
	__shared__ float tile[BLOCK];
	int i = get_group_id(0) * get_local_size(0) * PER + get_local_id(0), j = get_group_id(1) * BLOCK;
	tile[get_local_id(0)] = a[i];
	barrier();
	if (i < n && j < m)
		c[i] = twice(tile[get_local_id(0)]) + get_num_groups(0);
}
__kernel void other() { OTHER; }`
	const cuda = `
extern "C" { __device__ float twice(float x) { return HELP * x; } }
template <typename T, int BLOCK>
__global__ void __launch_bounds__(BLOCK * 2) add(float *c, const float *__restrict__ a, int n, int m)
{
	__shared__ __align__(16) float tile[BLOCK];
	int i = blockDim.x * blockIdx.x * PER + threadIdx.x, j = blockIdx.y * BLOCK;
	tile[threadIdx.x] = a[i];
	__syncthreads();
	if (i < n && j < m)
		c[i] = twice(tile[threadIdx.x]) + gridDim.x;
}
extern "C" __global__ void other() { OTHER; }`
	want, got := FindKernel(opencl, "add"), FindKernel(cuda, "space::add <std::pair<a, b>, {block_size_x}>")
	if got == nil || want == nil {
		t.Fatal(want, got)
	}
	if got.code != want.code {
		t.Errorf("the code is\n%s, want\n%s", got.code, want.code)
	}
	for _, name := range []string{"HELP", "BLOCK", "PER", "OTHER"} {
		if got.Reach[name] != want.Reach[name] || got.Reach[name] == (name == "OTHER") {
			t.Errorf("it reaches %s: %t", name, got.Reach[name])
		}
	}
	for _, f := range []*Function{want, got} {
		f.code, f.Reach, f.WorkGroup = "", nil, nil
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want\n%+v", got, want)
	}
	if want := []string{"get_local_size ( 0 )", "PER"}; !slices.Equal(got.PerGroup[0], want) || got.Dimensions != 2 || !got.Shares {
		t.Errorf("%+v", got)
	}
	for _, text := range []string{"extern", `extern "C"`, `extern "C" {`, "threadIdx .", "blockDim.x * blockIdx", "__launch_bounds__(", "threadIdx.w", "template", "template <", "void k(", "k(void"} {
		FindKernel("__global__ void k() { "+text, "k") // ends
		Kernels(text + " __global__ " + text)
		Kernels(text + " __global__ void k() {}")
	}
}

func TestKernels(t *testing.T) {
	all := Kernels(`
__constant__ float2 vertices[SIZE + 1][2], alpha = 3;
__constant__ __align__(16) struct S s;
__constant__ float known[2] = {1, 2};
__constant__ int unused[3];
__device__ int helper() { return s.x; }
__global__ void forward(int *a);
template <typename T, int block = 4 * 4, bool fast>
__launch_bounds__(64) __global__ void k(const T *__restrict__ a, float b[], unsigned long long n, T *const *p, const struct S s) {
	extern __shared__ __align__(8) unsigned char raw[];
	raw[0] = helper();
}
extern "C" __global__ void none(void) {}
__global__ void empty() {}
__global__ void odd(ARGUMENTS) {}
__global__ void reference(int &a, float x) {}
__global__ void macro(POINTER(float) a) {}
__global__ void special(std::complex<float> *a) {}
template <> __global__ void k<float, 1, true>(float *a) {}`)
	names := ""
	for _, k := range all {
		names += k.Name + " "
	}
	if names != "k none empty odd reference macro special " {
		t.Fatalf("the kernels are %s", names)
	}
	want := Kernel{
		Name: "k",
		Arguments: []Variable{
			{Name: "a", Type: "T", Pointers: 1, Const: true}, {Name: "b", Type: "float", Counts: []string{""}},
			{Name: "n", Type: "unsigned long long"}, {Name: "p", Type: "T", Pointers: 2}, {Name: "s", Type: "S", Const: true},
		},
		Template: []Variable{{Name: "T", Type: "typename"}, {Name: "block", Type: "int", Default: "4*4"}, {Name: "fast", Type: "bool"}},
		Shared:   []Variable{{Name: "raw", Type: "unsigned char", Counts: []string{""}}},
		Symbols:  []Variable{{Name: "s", Type: "S"}},
	}
	if !reflect.DeepEqual(all[0], want) {
		t.Errorf("%+v, want\n%+v", all[0], want)
	}
	for _, k := range all[1:3] {
		if k.Arguments == nil || len(k.Arguments) > 0 {
			t.Errorf("%s has the arguments %+v", k.Name, k.Arguments)
		}
	}
	for _, k := range all[3:] {
		if k.Arguments != nil {
			t.Errorf("%s: the text does not tell the arguments, and they are %+v", k.Name, k.Arguments)
		}
	}
}

func TestOpenCLType(t *testing.T) {
	for cuda, want := range map[string]string{
		"float": "float", "unsigned int": "uint", "unsigned": "uint", "long long": "long", "ulonglong2": "ulong2", "float4": "float4", "float1": "float", "uchar4": "uchar4",
		"float3": "", "float8": "", "int16": "", "uint8_t": "uchar", "uint16": "", "T": "", "4": "", "": "", "__half": "half", "__half2": "half2", "longlong1": "long", "long": "", "unsigned long": "", "size_t": "ulong", "bool": "uchar", "struct S": "", "int64_t": "long",
	} {
		if got := OpenCLType(cuda); got != want {
			t.Errorf("%s is %q, want %q", cuda, got, want)
		}
	}
}

// TestConditionsOfCUDA makes sure that the conditions of CUDA C are not taken for those of a source in OpenCL C.
func TestConditionsOfCUDA(t *testing.T) {
	const text = "#ifdef __CUDACC__\n#define N 1\nint yes;\n#endif\n#if CUDA_VERSION > 12000\n#endif\n#if defined(__HIPCC__)\nint hip;\n#endif\n"
	if active := Active(text+"__global__ void k() {}", nil); !strings.Contains(active, "int yes") || strings.Contains(active, "int hip") {
		t.Error(active)
	}
	if active := Active(text, nil); strings.Contains(active, "int yes") {
		t.Error(active)
	}
	if _, removed := Override(text+"__global__ void k() {}", []string{"N"}, nil); len(removed) != 1 {
		t.Error(removed)
	}
	if missing := Tested(text+"__global__ void k() {}", nil); len(missing) > 0 {
		t.Error(missing)
	}
}
