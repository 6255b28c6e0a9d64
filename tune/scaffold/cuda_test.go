package scaffold

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/spec"
)

// inCUDA returns the specification that is proposed for the only kernel of a source in CUDA C, and the errors when it is read.
func inCUDA(t *testing.T, u Untuned) (text string, err error) {
	t.Helper()
	kernels := device.CUDASignatures(u.Text)
	u.Sources = []string{"k.cu"}
	if u.Kernel, err = chooseKernel("", kernels); err != nil {
		t.Fatal(err)
	}
	text = string(Propose(u, "k.yaml").YAML())
	_, err = spec.LoadFS(fstest.MapFS{"k.yaml": {Data: []byte(text)}, "k.cu": {Data: []byte(u.Text)}}, "k.yaml", spec.Options{})
	return text, err
}

// TestProposalForCUDA makes sure that a kernel in CUDA C has the same proposals as one in OpenCL C, and those for what OpenCL C lacks.
func TestProposalForCUDA(t *testing.T) {
	missing := func(names ...string) (all []source.Macro) {
		for _, name := range names {
			all = append(all, new(Untuned).missingMacro(name, false))
		}
		return all
	}
	for _, c := range []struct {
		name, text string
		missing    []source.Macro
		lines      string // of the specification
		asks       string // fields
	}{
		{
			"macros", `__global__ void k(float *out, const unsigned char *in, int n) {
	int i = (blockIdx.x * block_size_x * per_item) + threadIdx.x;
	if (i < n) out[i] = in[i]; }`, missing("block_size_x", "per_item"),
			"  name: k|  file: k.cu|problem_size: n|grid_div: {x: [block_size_x, per_item]}|  - {name: out, type: float, size: n, output: true}|" +
				"  - {name: in, type: uchar, size: n, fill: random}|  block_size_x: [32, 64, 128, 256]|  per_item: [1, 2, 4]|" +
				"#   line 2 of the source: int i = (blockIdx.x * block_size_x * per_item) + threadIdx.x;", "",
		},
		{
			"blockDim", "__global__ void k(float *out, int w, int h) { int x = blockDim.x * blockIdx.x + threadIdx.x, y = threadIdx.y + blockIdx.y * blockDim.y; if (x < w && y < h) out[y * w + x] = 1; }",
			nil, "problem_size: [w, h]|  block_size_x: [8, 16, 32, 64]|  block_size_y: [1, 2, 4, 8, 16]|  - {name: out, type: float, size: DECIDE, output: true}", "arguments[0].size",
		},
		{
			"a block that the kernel is written for", "__global__ void k(float *out, int n) { __shared__ float t[64]; t[threadIdx.x] = 0; __syncthreads(); if (blockIdx.x * 64 + threadIdx.x < n) out[0] = t[0]; }",
			nil, "block_size: {x: DECIDE}", "block_size.x arguments[0].size",
		},
		{
			"a template", "template <typename T, int BLOCK, int RADIUS = 3, bool fast = true, int depth = sizeof(T), int bias> __global__ void k(T *out, T by, const T *in, int n) {\n" +
				"int i = blockIdx.x * BLOCK + threadIdx.x; if (i < n) out[i] = by * in[i + RADIUS * depth * bias]; }", nil,
			"  name: k<float, {BLOCK}, {RADIUS}, {fast}, {depth}, {bias}>|block_size: {x: BLOCK}|  BLOCK: [32, 64, 128, 256]|  fast: [0, 1]|  RADIUS: {value: 3, host: true}|  bias: {value: DECIDE, host: true}|" +
				"  - {name: by, type: float, value: 0.5}|  # DECIDE: the type T of the template.|  # A parameter of the template.|  # DECIDE: the parameter bias of the template.|  # DECIDE: the parameter depth of the template.",
			"constants.depth.value constants.bias.value arguments[2].size",
		},
		{
			"memory", "#define N 5\n__constant__ float2 weights[N * N][2];\n__constant__ double scale;\n__constant__ int unused[3];\nextern __shared__ float tile[];\n" +
				"__global__ void k(float *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; tile[threadIdx.x] = 0; if (i < n) out[i] = scale * weights[0][0].x + tile[0]; }",
			nil, "  - {name: tile, type: float, local_size: DECIDE}|  - {name: weights, type: float2, symbol: true, size: 50, fill: random}|  - {name: scale, type: double, symbol: true, size: 1, fill: random}", "arguments[2].local_size",
		},
		{
			"types", "typedef unsigned short uint16;\n#define real double\nstruct __align__(16) pair { real a; uint16 b[2]; };\n" +
				"__global__ void k(uint16 *out, real *r, float3 *p, pair both, unsigned long long n, size_t m) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = p[i].x + r[i] + m; }",
			nil, "  three_float: {x: float, y: float, z: float}|  - {name: out, type: ushort, size: n, output: true}|  - {name: r, type: double, size: n, fill: random}|" +
				"  - {name: p, type: three_float, size: n, fill: random}|  - {name: both, type: bytes, value: DECIDE}|  - {name: n, type: ulong, value: n}|  - {name: m, type: ulong, value: m}",
			"constants.m.value arguments[3].value",
		},
	} {
		text, err := inCUDA(t, Untuned{Text: c.text, Missing: c.missing})
		for line := range strings.SplitSeq(c.lines, "|") {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("%s: there is no line %q in\n%s", c.name, line, text)
			}
		}
		var errs spec.Errors
		errors.As(err, &errs)
		var asked []string
		for _, e := range errs {
			if asked = append(asked, e.Field); !strings.Contains(e.Error(), "DECIDE") {
				t.Errorf("%s: %v", c.name, e)
			}
		}
		if got := strings.Join(asked, " "); got != c.asks || c.asks == "" && err != nil {
			t.Errorf("%s: it asks for %q, want %q: %v", c.name, got, c.asks, err)
		}
		if strings.Contains(text, "unused") {
			t.Errorf("%s: the kernel does not read all symbols", c.name)
		}
	}
}

func TestUnreadableArguments(t *testing.T) {
	_, err := chooseKernel("odd", device.CUDASignatures("__global__ void odd(ARGUMENTS) {}\n__global__ void even(int a) {}"))
	if err == nil || !strings.Contains(err.Error(), "the source does not tell the arguments of the kernel odd, since macros or templates make them") {
		t.Error(err)
	}
}
