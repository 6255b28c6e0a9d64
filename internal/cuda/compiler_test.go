package cuda

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// nvrtc skips a test without the real NVRTC, which needs no device: make test-nvrtc has it from its wheel.
func nvrtc(t *testing.T) *compiler {
	t.Helper()
	if os.Getenv(NVRTCVariable) == "" {
		t.Skip("needs NVRTC: make test-nvrtc")
	}
	c, err := theCompiler()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// built compiles a source that must compile, and returns its kernels by name.
func built(t *testing.T, source, options, architecture string) (*code, map[string]declaration) {
	t.Helper()
	c, log, failed := compile(source, options, architecture)
	if failed != nil {
		t.Fatalf("%+v\n%s", failed, log)
	}
	kernels := map[string]declaration{}
	for _, k := range c.Kernels {
		kernels[k.Name] = k
	}
	return c, kernels
}

func TestCompilerVersion(t *testing.T) {
	nvrtc(t)
	if got := compilerVersion(); !strings.HasPrefix(got, "NVRTC 1") {
		t.Error(got)
	}
}

const declared = `
struct pair { double a; int b[5]; };
__constant__ float filter[16];
extern __shared__ float stage[];
extern "C" __global__ void parameters(float *a, const int n, pair p, char c, float4 v, unsigned short s, double d)
{
    a[0] = n + p.a + p.b[2] + c + v.x + s + d + filter[n];
}
extern "C" __global__ void nothing() {}
__global__ void tile(float *a)
{
    __shared__ float t[300];
    t[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = t[threadIdx.x ^ 1];
}
__global__ void __launch_bounds__(128) dynamic(float *a)
{
    stage[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = stage[threadIdx.x ^ 1];
}
__device__ __noinline__ float staged(int i) { return stage[i]; }
namespace inner { __global__ void indirect(float *a) { a[0] = staged(threadIdx.x); } }
__global__ void __block_size__((8, 4, 2)) unused();
__global__ void twice(float *a) { a[0] = 1; }
namespace inner { __global__ void twice(float *a) { a[0] = 2; } }
namespace { __global__ void hidden(float *a) { a[0] = 3; } }
template <typename T, int n> __global__ void add(T *a) { a[threadIdx.x] += n; }
template __global__ void add<double, 7>(double *);
`

func TestDeclarations(t *testing.T) {
	c := nvrtc(t)
	source := strings.Replace(declared, "__global__ void __block_size__((8, 4, 2)) unused();\n", "", 1)
	for _, architecture := range []string{"sm_75", "sm_90"} {
		b, kernels := built(t, source, `-ndtune-name="add<float, 3>" -ndtune-name="add<float,3>" -ndtune-name=inner::twice`, architecture)
		if !strings.HasPrefix(string(b.Machine), "\x7fELF") {
			t.Errorf("%s: no machine code: %.20q", architecture, b.Machine)
		}
		for name, want := range map[string]declaration{
			"parameters":    {Symbol: "parameters", Parameters: []int{8, 4, 32, 1, 16, 2, 8}},
			"nothing":       {Symbol: "nothing", Parameters: []int{}},
			"tile":          {Symbol: "_Z4tilePf", Parameters: []int{8}, Shared: 1200},
			"dynamic":       {Symbol: "_Z7dynamicPf", Parameters: []int{8}, Dynamic: true, MostThreads: 128},
			"indirect":      {Symbol: "_ZN5inner8indirectEPf", Parameters: []int{8}, Dynamic: true},
			"twice":         {Symbol: "_Z5twicePf", Parameters: []int{8}},
			"inner::twice":  {Symbol: "_ZN5inner5twiceEPf", Parameters: []int{8}},
			"add<float, 3>": {Symbol: "_Z3addIfLi3EEvPT_", Parameters: []int{8}},
			"add<float,3>":  {Symbol: "_Z3addIfLi3EEvPT_", Parameters: []int{8}},
			"add":           {Symbol: "_Z3addIdLi7EEvPT_", Parameters: []int{8}},
		} {
			got, ok := kernels[name]
			want.Name, want.calls = name, got.calls
			if !ok || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %+v\nwant %+v", architecture, got, want)
			}
		}
		if _, ok := kernels["hidden"]; !ok {
			t.Errorf("%s: no kernel in a namespace without a name: %v", architecture, b.Kernels)
		}
	}
	if _, kernels := built(t, source, "", "sm_75"); kernels["twice"].Name != "" || kernels["_Z5twicePf"].Name == "" {
		t.Error("a name that two kernels have finds one of them")
	}
	if c.major >= 13 { // it is new
		_, kernels := built(t, "__global__ void __block_size__((8, 4, 2)) f(float *a) { a[0] = 1; }", "", "sm_90")
		if k := kernels["f"]; k.Threads != [3]int{8, 4, 2} || k.MostThreads != 64 {
			t.Errorf("%+v", k)
		}
	}
}

func TestBinaries(t *testing.T) {
	nvrtc(t)
	source := "__global__ void f(float *a) { int unused; a[0] = 1; }"
	first, _ := built(t, source, "-cl-nv-verbose", "sm_90")
	again, _ := built(t, source, "-cl-nv-verbose -D NDTUNE_FRESH_1=1", "sm_90")
	if string(first.encode()) != string(again.encode()) {
		t.Error("two builds of one source differ")
	}
	decoded, err := decode(first.encode())
	if err != nil || !reflect.DeepEqual(decoded.Kernels[0].Parameters, []int{8}) || decoded.Log != first.Log || string(decoded.Machine) != string(first.Machine) {
		t.Errorf("%+v, %v", decoded, err)
	}
	if !strings.Contains(first.Log, `<source>:1: warning`) {
		t.Errorf("the log of a build lacks its warning: %s", first.Log)
	}
	for _, bad := range []string{"", "\x7fELF", "{}", "{}\n"} {
		if _, err := decode([]byte(bad)); (err == nil) != (bad == "{}\n") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	source = "__global__ void f(float *a) { __shared__ float s[300]; s[threadIdx.x] = a[1]; __syncthreads(); a[0] = s[threadIdx.x ^ 1]; }"
	virtual, kernels := built(t, source, "--gpu-architecture compute_75", "sm_90")
	if !strings.Contains(string(virtual.Machine), ".entry _Z1fPf") || len(kernels["f"].Parameters) != 1 || kernels["f"].Shared != 1200 {
		t.Errorf("a virtual architecture makes no PTX: %.80q", virtual.Machine)
	}
}

// The log has the places of the source, also those of #line directives, as other compilers write them.
func TestLogs(t *testing.T) {
	c := nvrtc(t)
	for _, test := range []struct{ source, options, want string }{
		{"__global__ void f(float *a) {\n    a[0] = missing; }", "-D n=3 -DX=1", `<source>:2: error: identifier "missing" is undefined`},
		{"__global__ void f(float *a) {\n#line 7 \"part.cuh\"\n    a[0] = missing; }", "-D n=3", `part.cuh:7: error: identifier "missing" is undefined`},
		{"__kernel void f(__global float *a) {\n    a[0] = missing; }", "-D n=3", `<source>:2: error: identifier "missing" is undefined`},
		{"__global__ void f() {}", "--nonsense", "nvrtc: error: unrecognized option --nonsense found"},
		{"__global__ void f() {}", "-arch=sm_999", fmt.Sprintf("(NVRTC %d.%d does not compile for sm_999; NDTUNE_NVRTC_LIBRARY names another one)", c.major, c.minor)},
		{"#include <none.h>", "", `"none.h": put what is for the host between #ifndef __CUDACC_RTC__ and #endif`},
		{"__global__ void f() {}\nint main() {}", "", "2: error: A function without execution space annotations (__host__/__device__/__global__) is considered a host function, " +
			"and host functions are not allowed: put what is for the host"},
		{"__kernel void f(__global float *a) { // as a __global__ function\n    a[0] = missing; }", "", `<source>:2: error: identifier "missing" is undefined`},
		{"__global__ void f() {}", "-ndtune-name=g<1>", `name of the kernel: error: identifier "g" is undefined`},
		{"extern \"C\" __global__ void f(float *a) { __shared__ float s[20000]; s[threadIdx.x] = a[0]; __syncthreads(); a[0] = s[threadIdx.x ^ 1]; }",
			"", "Entry function 'f' uses too much shared data (0x13880 bytes, 0xc000 max)"},
	} {
		_, log, failed := compile(test.source, test.options, "sm_75")
		if failed == nil || failed.Status != buildProgramFailure || failed.Call != "nvrtcCompileProgram" ||
			!slices.Contains([]string{"NVRTC_ERROR_COMPILATION", "NVRTC_ERROR_INVALID_OPTION"}, failed.Text) || !strings.Contains(log, test.want) {
			t.Errorf("%+v\n%s\nwant %s", failed, log, test.want)
		}
	}
	built, _ := built(t, declared[:strings.Index(declared, "__global__ void __block_size__")], `-cl-nv-verbose -ndtune-name=inner::indirect`, "sm_90")
	for _, want := range []string{"Compiling entry function '_Z4tilePf' for 'sm_90'", "Function properties for _Z4tilePf", "1200 bytes smem"} {
		if !strings.Contains(built.Log, want) {
			t.Errorf("the log lacks «%s»:\n%s", want, built.Log)
		}
	}
}

func TestOptionsReachTheCompiler(t *testing.T) {
	nvrtc(t)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "own.h"), []byte("#define own 5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	const source = "\ufeff" + `
#include "own.h"
static_assert(own == 5 && size == 4096 && twice(4) == 8 && one == 1 && __CUDA_ARCH__ == 800, "macros");
#ifdef gone
#error gone
#endif
__constant__ char text[] = quoted;
static_assert(sizeof text == 5, "a b\"");
__global__ void f(float *a) { a[size] = 1.0f / a[0]; }
`
	built(t, source, `-cl-std=CL3.0 -I "`+folder+`" -D size=4096 -Dtwice(x)=(2*x) -D one -D gone -U gone -D quoted="\"a b\\\"\"" `+
		`--std=c++14 -cl-fast-relaxed-math -cl-denorms-are-zero -cl-nv-maxrregcount=64 -lineinfo --gpu-architecture=sm_80`, "sm_75")
	built(t, "static_assert(__cplusplus == 201703L, \"C++17\"); __global__ void f() {}", "", "sm_75")
}

// The headers of the toolkit are found beside NVRTC.
func TestHeaders(t *testing.T) {
	if c := nvrtc(t); len(c.headers) == 0 {
		t.Skip("no headers of the toolkit beside " + c.Path)
	}
	built(t, `
#include <cuda_fp16.h>
#include <cub/cub.cuh>
__global__ void f(const __half *a, float *out)
{
    typedef cub::BlockReduce<float, 128> Reduce;
    __shared__ typename Reduce::TempStorage stage;
    *out = Reduce(stage).Sum(__half2float(a[threadIdx.x]));
}`, "", "sm_90")
}

// Every kernel of ndtune that is OpenCL C compiles.
func TestOwnKernels(t *testing.T) {
	nvrtc(t)
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	type text struct{ name, source, options string }
	var all []text
	for _, macros := range []string{"-D FLOAT=16", "-D FLOAT=32", "-D FLOAT=64", "-D FLOAT=32 -D VECTOR3 -D CONTIGUOUS"} {
		all = append(all, text{"ndtune_verify", read("tune/device/verify_kernel.cl"), macros})
	}
	for _, kind := range []string{"char", "short", "int", "long"} {
		for _, integer := range []string{kind, "u" + kind} {
			all = append(all, text{"ndtune_verify", read("tune/device/verify_kernel.cl"), "-D INTEGER=" + integer + " -D UNSIGNED=u" + kind})
		}
	}
	for _, lanes := range []int{1, 2, 4} {
		sum := []string{"(v)", "", "((v).s0 + (v).s1)", "", "((v).s0 + (v).s1 + (v).s2 + (v).s3)"}[lanes-1:][0]
		if lanes > 1 {
			sum = map[int]string{2: "((uint)(v).s0 + (uint)(v).s1)", 4: "((uint)(v).s0 + (uint)(v).s1 + (uint)(v).s2 + (uint)(v).s3)"}[lanes]
		}
		vector := strings.TrimSuffix("uint"+strconv.Itoa(lanes), "1")
		macros := fmt.Sprintf(`-D vector=%s "-D sum_lanes(v)=%s" -D items=4 -D block_size_x=256`, vector, sum)
		all = append(all, text{"peak_copy", read("kernels/peak/memory.cl"), macros}, text{"peak_read", read("kernels/peak/memory.cl"), macros})
	}
	for _, scalar := range []string{"float", "double", "half"} {
		for _, lanes := range []int{1, 2, 4, 8} {
			vector, sum, ramp := scalar, "(float)(v)", "(("+scalar+")(0))"
			if lanes > 1 {
				vector, sum, ramp = scalar+strconv.Itoa(lanes), "(float)(v).s0", ""
				for i := range lanes {
					sum += fmt.Sprintf(" + (float)(v).s%d", i)
					ramp += fmt.Sprintf(", %d", i)
				}
				ramp = "((" + vector + ")(" + ramp[2:] + "))"
			}
			for _, form := range []string{"fma(x, a, b)", "((x) * (a) + (b))"} {
				macros := "#define use_" + scalar + "\n#define scalar " + scalar + "\n#define vector " + vector + "\n#define ramp " + ramp +
					"\n#define sum_lanes(v) (" + sum + ")\n#define multiply_add(x, a, b) " + form + "\n"
				all = append(all, text{"peak_arithmetic", macros + read("kernels/peak/arithmetic.cl"),
					fmt.Sprintf("-cl-mad-enable -D lanes=%d -D chains=4 -D block_size_x=256", lanes)})
			}
		}
	}
	blocks := "-D block_size_x=16 -D block_size_y=16 "
	element := read("kernels/matmul/matmul_element.h")
	reference := strings.Replace(read("kernels/matmul/matmul_reference.cl"), "#include \"matmul_element.h\"\n", element, 1)
	all = append(all,
		text{"peak_fill", read("kernels/peak/content.cl"), ""}, text{"peak_count", read("kernels/peak/content.cl"), "-D contiguous"},
		text{"copy", read("kernels/copy/copy.cl"), "-D count=1000 -D per_item=4 -D block_size_x=64"},
		text{"diffuse_kernel", read("kernels/diffusion/diffuse_naive.cl"), blocks + "-D nx=512 -D ny=512 -D dt=0.2f"},
		text{"matmul_kernel", read("kernels/matmul/matmul_naive.cl"), blocks + "-D size=512 -D coalesced=1"},
		text{"matmul_kernel", reference, blocks + "-D size=512"},
		text{"matmul_kernel", reference, blocks + "-D m=8 -D n=16 -D k=32 -D element=half"},
		text{"matmul_kernel", reference, blocks + "-D size=512 -D element=double"})
	found := 0
	files, _ := filepath.Glob(filepath.Join("..", "..", "tune", "device", "*.go"))
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(literal.Value, "`\n__kernel") {
				source := strings.Trim(literal.Value, "`")
				_, name, _ := strings.Cut(source, "void ")
				name, _, _ = strings.Cut(name, "(")
				all, found = append(all, text{name, source, ""}), found+1
			}
			return true
		})
	}
	if found < 4 {
		t.Errorf("only %d kernels found in tune/device", found)
	}
	for _, one := range all {
		t.Run(one.name+" "+one.options, func(t *testing.T) {
			for _, architecture := range []string{"sm_75", "sm_90"} {
				b, kernels := built(t, one.source, "-cl-nv-verbose "+one.options, architecture)
				if !strings.Contains(b.Log, " 0 bytes stack frame, 0 bytes spill stores") { // vectors stay in registers
					t.Error(b.Log)
				}
				if k, ok := kernels[one.name]; !ok || k.Dynamic != strings.Contains(one.source, "__local uint *memory") {
					t.Errorf("%s: %+v", architecture, kernels)
				}
			}
		})
	}
}
