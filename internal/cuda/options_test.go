package cuda

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestParseOptions(t *testing.T) {
	for line, want := range map[string]request{
		"":                                   {},
		"  -lineinfo\t--use_fast_math ":      {arguments: []string{"-lineinfo", "--use_fast_math"}},
		"-cl-std=CL2.0 -cl-mad-enable -w":    {arguments: []string{"-w"}},
		"-cl-nv-verbose -cl-kernel-arg-info": {arguments: []string{"--ptxas-options=-v"}},
		"-cl-fast-relaxed-math -cl-denorms-are-zero -cl-nv-maxrregcount=64": {arguments: []string{"--use_fast_math", "--ftz=true", "--maxrregcount=64"}},
		`-D a=1 -Db -D "c=x y" -D "f(x)=(x + 1)" -U b -D e=`:                {macros: "#define a 1\n#define b 1\n#define c x y\n#define f(x) (x + 1)\n#undef b\n#define e \n"},
		`-D "quoted=\"a \\n\"" -D also=\"b\"`:                               {macros: "#define quoted \"a \\n\"\n#define also \"b\"\n"},
		`-I /usr/include -I"a b/include" -I C:\cuda\include`:                {arguments: []string{"-I/usr/include", "-Ia b/include", `-IC:\cuda\include`}},
		`-ndtune-name="add<float, 128>" -ndtune-name=inner::f`:              {names: []string{"add<float, 128>", "inner::f"}},
		"-arch=sm_80 --gpu-architecture=sm_90a":                             {target: "sm_90a"},
		"-arch sm_80":                                                       {target: "sm_80"},
		"--gpu-architecture compute_75 --maxrregcount 32 -D":                {target: "compute_75", arguments: []string{"--maxrregcount", "32"}, macros: "#define  1\n"},
		"-DNDTUNE_FRESH_17a2=1":                                             {macros: "#define NDTUNE_FRESH_17a2 1\n", fresh: true},
		`--define-macro=x=1 -Xptxas -O1 "--ptxas-options=-O1 -v" "" "open `: {arguments: []string{"--define-macro=x=1", "-Xptxas", "-O1", "--ptxas-options=-O1 -v", "", "open "}},
	} {
		if got := parse(line); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v\nwant %+v", line, got, want)
		}
	}
}

// As NVRTC writes it, in the forms of several versions.
const somePTX = `
.version 8.4
.target sm_90
.address_size 64

.extern .func  (.param .b32 func_retval0) vprintf
(
	.param .b64 vprintf_param_0,
	.param .b64 vprintf_param_1
)
;
.extern .shared .align 16 .b8 stage[];
.extern .shared .align 4 .b8 _ZN5inner5stageE[];

.visible .entry f(
	.param .u64 .ptr .align 1 f_param_0,
	.param .align 8 .b8 f_param_1[32],
	.param .f64 f_param_2,
	.param .u16 f_param_3
)
.maxntid 128, 2, 1
.minnctapersm 2
{
	.shared .align 4 .b8 _ZZ1fE1t[1200];
	.shared .align 4 .u32 _ZZ1fE1n;
	// begin inline asm
	{
.reg .pred p;
}
	// end inline asm
	ld.shared.f32 	%f1, [_ZN5inner5stageE+4];
	ret;
}
	// .globl	_Z1gv
.visible .entry _Z1gv()
.reqntid 8, 4
{
	ret;
}
.entry _ZN5inner7by_callEPf(
	.param .u64 _ZN5inner7by_callEPf_param_0
)
{
	{ // callseq 0, 0
	call.uni
	helper,
	(
	);
	} // callseq 0
	ret;
}
.func helper()
{
	mov.u32 	%r1, stage;
	ret;
}
.weak .entry _Z3addIfLi128EEvPT_(
	.param .u64 _Z3addIfLi128EEvPT__param_0
)
{
	ret;
}
.visible .entry _Z4samePf(
	.param .u64 _Z4samePf_param_0
)
{
	ret;
}
.visible .entry _ZN5inner4samePf(
	.param .u64 _ZN5inner4samePf_param_0
)
{
	ret;
}
`

func TestPTX(t *testing.T) {
	got := declarations(somePTX, nil, map[string][]string{"_Z3addIfLi128EEvPT_": {"add<float, 128>", "add<float,128>"}})
	want := []declaration{
		{Name: "f", Symbol: "f", Parameters: []int{8, 32, 8, 2}, Dynamic: true, Shared: 1204, MostThreads: 256},
		{Name: "g", Symbol: "_Z1gv", Parameters: []int{}, Threads: [3]int{8, 4, 1}, MostThreads: 32},
		{Name: "by_call", Symbol: "_ZN5inner7by_callEPf", Parameters: []int{8}, Dynamic: true, calls: true},
		{Name: "add<float, 128>", Symbol: "_Z3addIfLi128EEvPT_", Parameters: []int{8}},
		{Name: "add<float,128>", Symbol: "_Z3addIfLi128EEvPT_", Parameters: []int{8}},
		{Name: "_Z4samePf", Symbol: "_Z4samePf", Parameters: []int{8}},
		{Name: "_ZN5inner4samePf", Symbol: "_ZN5inner4samePf", Parameters: []int{8}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestSourceName(t *testing.T) {
	for symbol, want := range map[string]string{
		"f": "f", "_Z1fPf": "f", "_Z12vector_add_2PfPKfi": "vector_add_2", "_ZN5inner4deep1fEv": "f", "_ZL1fv": "f", "_ZN12_GLOBAL__N_11fEv": "f",
		"_Z3addIfEvPT_": "add", "_Z": "_Z", "_Z99f": "_Z99f", "_start": "_start",
	} {
		if got := sourceName(symbol); got != want {
			t.Errorf("%s: %s, want %s", symbol, got, want)
		}
	}
}

func TestTidy(t *testing.T) {
	const log = "<source>(12): warning #177-D: variable \"x\" was declared\n      int x; // f(3): y\n          ^\n\nRemark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n" +
		"a b/c.cuh(3): error: no\n__nv_name_map(2): error: none\nptxas info    : Used 8 registers\nptxas info    : Compile time = 1.609 ms\n\x00ptxas error   : too much\n\x00"
	const want = "<source>:12: warning #177-D: variable \"x\" was declared\n      int x; // f(3): y\n          ^\n\n" +
		"a b/c.cuh:3: error: no\nname of the kernel: error: none\nptxas info    : Used 8 registers\nptxas error   : too much"
	if got := tidy(log); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestOpenCLText(t *testing.T) {
	for source, want := range map[string]bool{
		"__kernel void f() {}": true, "kernel void f() {}": true, "kernel __attribute__((reqd_work_group_size(1, 1, 1))) void f() {}": true,
		"// the kernel void of space\n__global__ void f() {}": false, "void kernel();": false,
		"// no __global__ /*\n__kernel void f() {} /* a\n__global__ */": true, "/* kernel\nvoid f(); */ kernel void f();": true, "/* kernel void f() */": false,
	} {
		if isOpenCL(source) != want {
			t.Errorf("%s: not %v", source, want)
		}
	}
	const source = "kernel void f(global const float4 *a,\n    local uint *restrict stage\n)\n{\n    local float t[3], *p;\n    local int *q = t;\n    local_size = (float4)(1, 2, 3, 4) + (uint2) (7);\n}\n"
	const want = "__kernel void f(__global const float4 *a\n    \n)\n{ extern __shared__ uint stage[];\n    __shared__ float t[3], *p;\n    __local int *q = t;\n    local_size = float4(1, 2, 3, 4) + uint2(7);\n}\n"
	if got := translated(source); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// NVRTC is found in the packages of an active Python, first those that the driver takes, with the headers beside it.
func TestSearch(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("other names")
	}
	folder := t.TempDir()
	for _, variable := range []string{"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX", "PATH", "HOME"} {
		t.Setenv(variable, "")
	}
	t.Setenv("VIRTUAL_ENV", folder)
	packages := filepath.Join(folder, "lib", "python3.12", "site-packages", "nvidia")
	write := func(path ...string) string {
		file := filepath.Join(append([]string{packages}, path...)...)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	thirteen, twelve := write("cu13", "lib", "libnvrtc.so.13"), write("cuda_nvrtc", "lib", "libnvrtc.so.12")
	write("cu13", "lib", "libnvrtc-builtins.so.13.0")
	own := func() []string {
		return slices.DeleteFunc(libraries(), func(name string) bool { return !strings.HasPrefix(name, folder) })
	}
	if got, want := own(), []string{twelve, thirteen}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	defer func(before int) { newestMajor = before }(newestMajor)
	newestMajor = 12
	if got := libraries(); got[0] != "libnvrtc.so.12" || got[len(got)-1] != thirteen {
		t.Errorf("an NVRTC that is newer than the driver is not the last: %q", got)
	}
	write("cu13", "include", "cuda_fp16.h")
	write("cu13", "include", "cccl", "cub", "cub.cuh")
	write("cuda_runtime", "include", "cuda_fp16.h")
	write("cuda_cccl", "include", "cub", "cub.cuh")
	for library, want := range map[string][]string{thirteen: {"cu13/include", "cu13/include/cccl"}, twelve: {"cuda_runtime/include", "cuda_cccl/include"}} {
		var got []string
		for _, one := range headers(library) {
			relative, _ := filepath.Rel(packages, one)
			got = append(got, filepath.ToSlash(relative))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", library, got, want)
		}
	}
}
