package device

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

func TestScalarsOfEveryType(t *testing.T) {
	wantCorrect(t, "integers and float", evaluateFirst(t, definition.Definition{
		Kernel: definition.Kernel{Name: "scalars", Source: `
__kernel void scalars(__global long *out, char a, uchar b, short c, ushort d, int e, uint f, long g, ulong h, float i, int j, float k) {
    out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; out[6] = g; out[7] = (long)h;
    out[8] = (long)(i * 1024); out[9] = j; out[10] = (long)(k * 1000 + 0.5f);
}`},
		Constants:   []definition.Constant{{Name: "n", Value: 7}, {Name: "dt", Value: "0.225f"}},
		ProblemSize: []definition.Expr{"1"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "int64", Size: "11", Output: true},
			{Name: "a", Value: int8(-100)}, {Name: "b", Type: "uchar", Value: 200}, {Name: "c", Value: int16(-30000)},
			{Name: "d", Type: "uint16", Value: 60000}, {Name: "e", Value: int32(-2000000000)}, {Name: "f", Type: "uint", Value: 4000000000},
			{Name: "g", Value: int64(-1 << 60)}, {Name: "h", Type: "uint64", Value: "0xfedcba9876543210"}, {Name: "i", Value: float32(-1.5)},
			{Name: "j", Type: "int32", Value: "n * unroll"}, {Name: "k", Type: "float", Value: "dt"},
		},
		Parameters: one("unroll", 3),
		Verify: expect(map[string]any{"out": []int64{
			-100, 200, -30000, 60000, -2000000000, 4000000000, -1 << 60, -0x123456789abcdf0, -1536, 21, 225,
		}}),
	}))
	if !hasDouble(t) {
		t.Log("the device has no double precision")
		return
	}
	wantCorrect(t, "double", evaluateFirst(t, definition.Definition{
		Kernel:      definition.Kernel{Name: "scalars", Source: `__kernel void scalars(__global double *out, double a) { *out = a; }`},
		ProblemSize: []definition.Expr{"1"},
		Arguments:   []definition.Argument{{Name: "out", Type: "float64", Size: "1", Output: true}, {Name: "a", Value: 1e-300}},
		Verify:      expect(map[string]any{"out": []float64{1e-300}}),
	}))
}

// TestArgumentsOfAnApplication: what is built for an application takes an argument for each one of the problem.
func TestArgumentsOfAnApplication(t *testing.T) {
	p, d := mustProblem(t, scale(1)), testDevice(t)
	l, err := NewLauncher(d, "")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	identity, err := Describe(d)
	if err != nil {
		t.Fatal(err)
	}
	built, err := l.BuildFor(t.Context(), p, configurationOf(t, p, nil), identity)
	if err != nil {
		t.Fatal(err)
	}
	defer built.Release()
	if err := built.Bind(int32(1)); err == nil || err.Error() != "run scale: 1 arguments are given, the problem has 3" {
		t.Error(err)
	}
}

func TestVectorScalars(t *testing.T) {
	wantCorrect(t, "vectors", evaluateFirst(t, definition.Definition{
		Kernel: definition.Kernel{Name: "vectors", Source: `
__kernel void vectors(__global float *out, float4 a, int3 b, uchar2 c, float8 d) {
    vstore4(a, 0, out); vstore3(convert_float3(b), 0, out + 4); vstore2(convert_float2(c), 0, out + 7); vstore8(d, 0, out + 9);
}`},
		ProblemSize: []definition.Expr{"1"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "float32", Size: "17", Output: true},
			{Name: "a", Type: "float4", Value: []any{"unroll / 2", -1, 0.5, "2.5f"}},
			{Name: "b", Type: "int3", Value: []int{-1, 2, -3}},
			{Name: "c", Type: "uchar2", Value: []uint8{255, 1}},
			{Name: "d", Type: "float8", Value: []float32{1, 2, 3, 4, 5, 6, 7, 8}},
		},
		Parameters: one("unroll", 3),
		Verify:     expect(map[string]any{"out": []float32{1.5, -1, 0.5, 2.5, -1, 2, -3, 255, 1, 1, 2, 3, 4, 5, 6, 7, 8}}),
	}))
}

// TestBuffersOfManyTypes copies buffers on the device whose content comes from data, fills
// and other buffers.
func TestBuffersOfManyTypes(t *testing.T) {
	types := []string{"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "float4", "int3", "uchar16", "short2"}
	if hasDouble(t) {
		types = append(types, "double", "double2")
	}
	fills := []definition.Fill{
		{}, {Kind: array.Ones}, {Kind: array.Constant, Value: "3"}, {Kind: array.Random}, {Kind: array.Normal, Mean: "5"}, {Kind: array.Sequence},
		{Expression: "index % 7 + lane"},
	}
	for i, typ := range types {
		r := evaluateFirst(t, definition.Definition{
			Kernel: definition.Kernel{Name: "duplicate", Source: strings.ReplaceAll(`
__kernel void duplicate(__global T *out, __global const T *in) { out[get_global_id(0)] = in[get_global_id(0)]; } // standin: duplicate is copy(out, in)`, "T", typ)},
			ProblemSize: []definition.Expr{"100"},
			Arguments: []definition.Argument{
				{Name: "out", Type: typ, Size: "100", Output: true},
				{Name: "in", Type: typ, Size: "100", Fill: fills[i%len(fills)]},
			},
			Verify: &definition.Verification{Reference: func(in map[string]*array.Array) (map[string]*array.Array, error) {
				return map[string]*array.Array{"out": in["in"]}, nil
			}},
		})
		wantCorrect(t, typ, r)
	}
}

func TestContentFromDataFilesAndCopies(t *testing.T) {
	data := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	path := t.TempDir() + "/in.npy"
	if err := array.WriteNPY(path, array.Of(data), nil); err != nil {
		t.Fatal(err)
	}
	wantCorrect(t, "content", evaluateFirst(t, definition.Definition{
		Kernel: definition.Kernel{Name: "add", Source: `
// standin: add is axpy(out, 1, a); add is axpy(out, 1, b); add is axpy(out, 1, c)
__kernel void add(__global float *out, __global const float *a, __global const float *b, __global const float4 *c) {
    size_t i = get_global_id(0);
    out[i] += a[i] + b[i] + ((__global const float *)c)[i];
}`},
		ProblemSize: []definition.Expr{"8"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "float32", Size: "8", Fill: definition.Fill{Copy: "a"}, Output: true},
			{Name: "a", Data: data},
			{Name: "b", Type: "float32", Fill: definition.Fill{File: path}},
			{Name: "c", Type: "float4", Data: data},
		},
		Verify: expect(map[string]any{"out": []float32{4, 8, 12, 16, 20, 24, 28, 32}}),
	}))
}

func TestLocalMemoryArguments(t *testing.T) {
	want := make([]int32, 64)
	for i := range want {
		want[i] = int32(i/16*16 + 15 - i%16)
	}
	e := open(t, definition.Definition{
		Kernel: definition.Kernel{Name: "turn", Source: `
__kernel void turn(__global int *out, __local int *tile, __local int *other) {
    int l = get_local_id(0);
    tile[l] = get_global_id(0);
    other[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[get_local_size(0) - 1 - l] + other[l];
}`},
		ProblemSize: []definition.Expr{"64"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "int32", Size: "64", Output: true},
			{Name: "tile", Type: "int32", LocalSize: "block_size_x"},
			{Name: "other", Type: "int32", LocalSize: "device.local_memory * much + block_size_x"},
		},
		Parameters: []space.Parameter{{Name: "block_size_x", Values: []space.Value{16}}, {Name: "much", Values: []space.Value{0, 1}}},
		Verify:     expect(map[string]any{"out": want}),
	})
	wantCorrect(t, "local memory", e.evaluateFor(t, nil))
	wantStatus(t, "too much", e.evaluateFor(t, map[string]space.Value{"much": 1}), tune.Constraints, fmt.Sprintf("> device limit %d B", e.identity.LocalMemory))
}

// TestStaticAndDynamicLocalMemoryAddUp has arrays that fit alone and not together.
func TestStaticAndDynamicLocalMemoryAddUp(t *testing.T) {
	if diesOfLocalMemory(t) {
		return
	}
	info, err := testDevice(t).Info()
	if err != nil {
		t.Fatal(err)
	}
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "both", Source: `
// standin: both is nothing(); both uses bytes
__kernel void both(__global char *out, __local char *tile) {
    __local char own[bytes];
    int l = get_local_id(0);
    own[l] = l; tile[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = own[1 - l] + tile[1 - l];
}`},
		Constants:   []definition.Constant{{Name: "bytes", Value: info.LocalMemSize * 3 / 4}},
		ProblemSize: []definition.Expr{"2"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "int8", Size: "2"},
			{Name: "tile", Type: "int8", LocalSize: "div(bytes, 2)"},
		},
		Parameters: one("block_size_x", 2),
	}
	wantStatus(t, "both", evaluateFirst(t, d), tune.Constraints, "local memory ")
}

// TestOneBufferAsTwoArguments adds a buffer to itself through its alias: it is restored and guarded once.
func TestOneBufferAsTwoArguments(t *testing.T) {
	d := definition.Definition{
		Kernel: definition.Kernel{Name: "twice", Source: `
// standin: twice is axpy(out, 1, in); twice is set(out, 8, 1) when far
__kernel void twice(__global float *out, __global const float *in, int by) {
    out[get_global_id(0) + by] += in[get_global_id(0)];
}`},
		ProblemSize: []definition.Expr{"8"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "float2", Alias: "in"},
			{Name: "in", Data: []float32{1, 2, 3, 4, 5, 6, 7, 8}, Output: true, RestoreEachLaunch: true},
			{Name: "by", Type: "int", Value: "8 * far"},
		},
		Parameters: []space.Parameter{{Name: "far", Values: []space.Value{0, 1}}},
		Verify:     expect(map[string]any{"in": []float32{2, 4, 6, 8, 10, 12, 14, 16}}),
	}
	e := open(t, d)
	wantCorrect(t, "twice", e.evaluateFor(t, nil))
	if out, err := array.Slice[float32](e.read(t, "in")); err != nil || out[7] != 16 {
		t.Errorf("after the last launch: %v (%v), want 16", out, err)
	}
	wantStatus(t, "out of bounds", e.evaluateFor(t, map[string]space.Value{"far": 1}), tune.Correctness, "behind the 8 elements of in")
	d.Arguments[1].RestoreEachLaunch = false
	e = open(t, d)
	wantCorrect(t, "not restored", e.evaluateFor(t, nil))
	if out, err := array.Slice[float32](e.read(t, "in")); err != nil || out[7] != 8<<8 { // of a warm-up and seven launches
		t.Errorf("after eight launches: %v (%v), want %d", out, err, 8<<8)
	}
}

func TestWrongArgumentsAreNamed(t *testing.T) {
	buffer := definition.Argument{Name: "y", Type: "float32", Size: "16"}
	for name, c := range map[string]struct {
		arguments []definition.Argument
		reason    string
	}{
		"too few":             {[]definition.Argument{buffer}, "the kernel k takes 3 arguments, 1 are given"},
		"too many":            {[]definition.Argument{buffer, buffer, buffer, buffer}, "the kernel k takes 3 arguments, 4 are given"},
		"scalar for a buffer": {[]definition.Argument{{Value: int32(1)}, {Value: int32(1)}, {Type: "float", LocalSize: "1"}}, "argument 0 (a): "},
		"buffer for a scalar": {[]definition.Argument{buffer, buffer, {Type: "float", LocalSize: "1"}}, "argument 1 (b): "},
		"scalar for local":    {[]definition.Argument{buffer, {Value: int32(1)}, {Value: int32(1)}}, "argument 2 (c): "},
		"buffer for local":    {[]definition.Argument{buffer, {Value: int32(1)}, buffer}, "argument 2 (c): "},
		"size of a scalar":    {[]definition.Argument{buffer, {Value: int64(1)}, {Type: "float", LocalSize: "1"}}, "argument 1 (b): "},
		"doubles for floats":  {[]definition.Argument{{Type: "float64", Size: "16"}, {Value: int32(1)}, {Type: "float", LocalSize: "1"}}, "argument 0 (a): the kernel takes elements of float, the definition gives double"},
	} {
		if strings.Contains(name, "doubles") && !tellsArguments(t) {
			continue
		}
		for i := range c.arguments {
			c.arguments[i].Name = string('a' + rune(i))
		}
		r := evaluateFirst(t, definition.Definition{
			Kernel:      definition.Kernel{Name: "k", Source: "__kernel void k(__global float *y, int n, __local float *l) { y[n] = l[n]; } // standin: k is nothing()"},
			ProblemSize: []definition.Expr{"1"}, Arguments: c.arguments,
		})
		wantStatus(t, name, r, tune.Compile, c.reason)
	}
}

// TestObjectsDeclaredAsBuffersAreRefused declares images, samplers and buffers as each other.
// Setting such an argument has crashed drivers.
func TestObjectsDeclaredAsBuffersAreRefused(t *testing.T) {
	if !tellsArguments(t) {
		t.Log("the driver does not tell the types of arguments")
		return
	}
	buffer := definition.Argument{Name: "x", Type: "float4", Size: "16"}
	for _, c := range []struct {
		takes, reason string
		given         definition.Argument
	}{
		{"__read_only image2d_t x", "the kernel takes an image («image2d_t x»), the definition gives a buffer", buffer},
		{"__write_only image3d_t x", "the kernel takes an image («image3d_t x»), the definition gives a buffer", buffer},
		{"__read_only image1d_buffer_t x", "the kernel takes an image («image1d_buffer_t x»), the definition gives a buffer", buffer},
		{"__read_only image2d_array_t x", "the kernel takes an image («image2d_array_t x»), the definition gives a scalar", definition.Argument{Name: "x", Value: int64(1)}},
		{"sampler_t x", "the kernel takes a sampler («sampler_t x»), the definition gives a buffer", buffer},
		{"sampler_t x", "the kernel takes a sampler («sampler_t x»), the definition gives a scalar", definition.Argument{Name: "x", Value: int32(1)}},
	} {
		r := evaluateFirst(t, definition.Definition{
			Kernel:      definition.Kernel{Name: "k", Source: "__kernel void k(__global float *y, " + c.takes + ") { *y = 1; } // standin: k is nothing()"},
			ProblemSize: []definition.Expr{"1"},
			Arguments:   []definition.Argument{{Name: "y", Type: "float32", Size: "1"}, c.given},
		})
		wantStatus(t, c.takes, r, tune.Compile, "argument 1 (x): "+c.reason)
	}
}

// tellsArguments reports whether the driver tells the types of a kernel's arguments.
func tellsArguments(t testing.TB) bool {
	e := open(t, definition.Definition{
		Kernel:      definition.Kernel{Name: "k", Source: "__kernel void k(__global float *y) { *y = 1; } // standin: k is nothing()"},
		ProblemSize: []definition.Expr{"1"}, Arguments: []definition.Argument{{Name: "y", Type: "float32", Size: "1"}},
	})
	v, err := e.problem.Variant(configurationOf(t, e.problem, nil), e.identity)
	if err != nil {
		t.Fatal(err)
	}
	built, err := e.session.build(t.Context(), v, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer built.Release()
	_, err = built.kernels[0].ArgInfo(0)
	return err == nil
}

// TestViewsOfABufferAreAllowed takes the same numbers as vectors, as bytes and as the
// unsigned type.
func TestViewsOfABufferAreAllowed(t *testing.T) {
	r := evaluateFirst(t, definition.Definition{
		Kernel: definition.Kernel{Name: "views", Source: `
struct pair { int a, b; };
__kernel void views(__global float4 *a, __global const uchar *b, __constant uint *c, __global struct pair *d, __global void *e) {
    a[0] = (float4)(b[0], c[0], d[0].b, 1);
}`},
		ProblemSize: []definition.Expr{"1"},
		Arguments: []definition.Argument{
			{Name: "a", Type: "float32", Size: "4", Output: true}, {Name: "b", Type: "int32", Data: []int32{5}}, {Name: "c", Data: []int32{6}},
			{Name: "d", Data: []int32{0, 7}}, {Name: "e", Data: []int64{1}},
		},
		Verify: expect(map[string]any{"a": []float32{5, 6, 7, 1}}),
	})
	wantCorrect(t, "views", r)
}
