package source

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestLanguageOf(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"k.cl", "__kernel void k() {}", "opencl"},
		{"", "", "opencl"},
		{"k.cu", "__kernel void k() {}", "cuda"},
		{"dir.cl/K.CUH", "", "cuda"},
		{"k.h", "extern \"C\" __global__ void k() {}", "cuda"},
		{"", "#define KERNEL __global__\nKERNEL void k() {}", "cuda"},
		{"", "template <int n> __global__ void k() {}", "cuda"},
		{"k.cl", "// __global__\n/* __global__ */ __constant char a[] = \"__global__\"; int __global__x;", "opencl"},
		{"k.cpp", "char a[] = R\"(\n__global__ \" void k() {})\", b[] = LR\"x(__global__)\" )x\", c = '\"';", "opencl"},
		{"k.cpp", "R\"()\" __global__", "cuda"},
		{"k.cl", "#ifdef __OPENCL_VERSION__\n#define KERNEL kernel\n#else\n#define KERNEL __global__\n#endif", "opencl"},
		{"k.cl", "#if defined(__CUDACC__)\n__global__\n#elif defined(__HIPCC__)\n#include <hip/hip_runtime.h>\n#endif", "opencl"},
		{"k.hip", "", "HIP"},
		{"", "#include <hip/hip_runtime.h>\n__global__ void k() {}", "HIP"},
		{"k.cu", "# include \"hip_runtime_api.h\"", "HIP"},
		{"k.cu", "// #include <hip/hip_runtime.h>\n#include \"ship/hip_runtime.h\"", "cuda"},
		{"k.cu", "#ifdef __HIP_PLATFORM_AMD__\n#include <hip/hip_fp16.h>\n#endif", "cuda"},
	} {
		got, err := LanguageOf(c.file, c.text)
		if refused := err != nil && strings.Contains(err.Error(), "HIP"); refused != (c.want == "HIP") || !refused && string(got) != c.want {
			t.Errorf("%s %q: %q, %v; want %s", c.file, c.text, got, err, c.want)
		}
	}
}

// TestRawStringsOfCUDA makes sure that a source in CUDA C stays whole, and that one in a string of a program in C++ is taken out of it.
func TestRawStringsOfCUDA(t *testing.T) {
	const kernel = "__global__ void k() { asm(R\"(exit;)\"); }"
	files := fstest.MapFS{"k.cu": {Data: []byte(kernel)}, "k.h": {Data: []byte(kernel)}, "host.cpp": {Data: []byte("char k[] = R\"(__global__ void k() {})\";")}}
	for file, want := range map[string]string{"k.cu": kernel, "k.h": kernel, "host.cpp": "__global__ void k() {}"} {
		if got, err := ResolveIncludes(files.ReadFile, file, nil); got != want {
			t.Errorf("%s: %q, %v; want %q", file, got, err, want)
		}
	}
}
