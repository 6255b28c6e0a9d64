package cl_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/cl"
)

// arguments holds a zero of every scalar and vector type, and the OpenCL C type that takes
// it. Halves go into shorts, whose size and layout are the same, since few devices have
// half arguments.
var arguments = []struct {
	c    string
	zero any
}{
	{"char", int8(0)},
	{"char2", cl.Char2{}},
	{"char3", cl.Char3{}},
	{"char4", cl.Char4{}},
	{"char8", cl.Char8{}},
	{"char16", cl.Char16{}},
	{"uchar", uint8(0)},
	{"uchar2", cl.UChar2{}},
	{"uchar3", cl.UChar3{}},
	{"uchar4", cl.UChar4{}},
	{"uchar8", cl.UChar8{}},
	{"uchar16", cl.UChar16{}},
	{"short", int16(0)},
	{"short2", cl.Short2{}},
	{"short3", cl.Short3{}},
	{"short4", cl.Short4{}},
	{"short8", cl.Short8{}},
	{"short16", cl.Short16{}},
	{"ushort", uint16(0)},
	{"ushort2", cl.UShort2{}},
	{"ushort3", cl.UShort3{}},
	{"ushort4", cl.UShort4{}},
	{"ushort8", cl.UShort8{}},
	{"ushort16", cl.UShort16{}},
	{"int", int32(0)},
	{"int2", cl.Int2{}},
	{"int3", cl.Int3{}},
	{"int4", cl.Int4{}},
	{"int8", cl.Int8{}},
	{"int16", cl.Int16{}},
	{"uint", uint32(0)},
	{"uint2", cl.UInt2{}},
	{"uint3", cl.UInt3{}},
	{"uint4", cl.UInt4{}},
	{"uint8", cl.UInt8{}},
	{"uint16", cl.UInt16{}},
	{"long", int64(0)},
	{"long2", cl.Long2{}},
	{"long3", cl.Long3{}},
	{"long4", cl.Long4{}},
	{"long8", cl.Long8{}},
	{"long16", cl.Long16{}},
	{"ulong", uint64(0)},
	{"ulong2", cl.ULong2{}},
	{"ulong3", cl.ULong3{}},
	{"ulong4", cl.ULong4{}},
	{"ulong8", cl.ULong8{}},
	{"ulong16", cl.ULong16{}},
	{"ushort", cl.Half(0)},
	{"ushort2", cl.Half2{}},
	{"ushort3", cl.Half3{}},
	{"ushort4", cl.Half4{}},
	{"ushort8", cl.Half8{}},
	{"ushort16", cl.Half16{}},
	{"float", float32(0)},
	{"float2", cl.Float2{}},
	{"float3", cl.Float3{}},
	{"float4", cl.Float4{}},
	{"float8", cl.Float8{}},
	{"float16", cl.Float16{}},
	{"double", float64(0)},
	{"double2", cl.Double2{}},
	{"double3", cl.Double3{}},
	{"double4", cl.Double4{}},
	{"double8", cl.Double8{}},
	{"double16", cl.Double16{}},
}

// Every scalar and vector type arrives in a kernel as it left.
func TestEveryArgumentType(t *testing.T) {
	r := newRig(t)
	var source strings.Builder
	written := map[string]bool{}
	for _, a := range arguments {
		if !written[a.c] && r.has(a.c) {
			fmt.Fprintf(&source, "kernel void echo_%s(global %s *out, %s v) { *out = v; }\n", a.c, a.c, a.c)
			written[a.c] = true
		}
	}
	p := r.program(source.String(), "")
	for _, a := range arguments {
		if !r.has(a.c) {
			t.Logf("%T not tested: the device has no %s", a.zero, a.c)
			continue
		}
		value, want := filled(a.zero)
		out := r.buffer(make([]byte, 128))
		k := must(p.NewKernel("echo_" + a.c))(t)
		r.check(k.SetArgs(out, value))
		r.done(r.queue.EnqueueKernel(k, nil, []int{1}, []int{1}))
		if strings.HasSuffix(a.c, "3") {
			want = want[:len(want)*3/4] // the fourth element is padding
		}
		if got := r.read(out)[:len(want)]; !bytes.Equal(got, want) {
			t.Errorf("%T as %s: %v came as %v", a.zero, a.c, want, got)
		}
		k.Release()
		out.Release()
	}
}

func (r *rig) has(c string) bool { return !strings.HasPrefix(c, "double") || r.info.DoubleFP != 0 }

// filled returns a value whose elements are all different, and its bytes.
func filled(zero any) (any, []byte) {
	v := reflect.New(reflect.TypeOf(zero)).Elem()
	set := func(v reflect.Value, i int) {
		switch {
		case v.CanInt():
			v.SetInt(int64(-3 - i))
		case v.CanUint():
			v.SetUint(uint64(200 + i))
		default:
			v.SetFloat(float64(i) + 0.25)
		}
	}
	if v.Kind() == reflect.Array {
		for i := range v.Len() {
			set(v.Index(i), i)
		}
	} else {
		set(v, 1)
	}
	var b bytes.Buffer
	_ = binary.Write(&b, binary.NativeEndian, v.Interface())
	return v.Interface(), b.Bytes()
}

func TestDerivedAndRawArguments(t *testing.T) {
	r := newRig(t)
	k := r.kernel(`
		typedef struct { int a; float b; long c; } pack;
		kernel void f(global long *out, long d, pack p) { out[0] = d; out[1] = p.a; out[2] = (long)p.b; out[3] = p.c; }`, "f")
	pack := struct {
		a int32
		b float32
		c int64
	}{7, 8, 9}
	var raw bytes.Buffer
	r.check(binary.Write(&raw, binary.NativeEndian, pack.a))
	r.check(binary.Write(&raw, binary.NativeEndian, pack.b))
	r.check(binary.Write(&raw, binary.NativeEndian, pack.c))
	out := r.buffer(make([]byte, 32))
	r.check(k.SetArgs(out, time.Microsecond, cl.Raw(raw.Bytes())))
	r.done(r.queue.EnqueueKernel(k, nil, []int{1}, nil))
	got := make([]int64, 4)
	r.check(r.queue.Read(out, 0, cl.Bytes(got)))
	if want := []int64{1000, 7, 8, 9}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRefusedArguments(t *testing.T) {
	r := newRig(t)
	k := r.kernel("// standin: f is fill(out, v)\nkernel void f(global int *out, int v, local int *l) { *out = v; l[0] = v; }", "f")
	for _, c := range []struct {
		v      any
		status cl.Status
		hint   string
	}{
		{true, cl.InvalidArgValue, "bool"},
		{1, cl.InvalidArgValue, "int32"},
		{uint(1), cl.InvalidArgValue, "int32"},
		{"text", cl.InvalidArgValue, "string"},
		{[]int32{1}, cl.InvalidArgValue, "buffer"},
		{[4]float32{}, cl.InvalidArgValue, "cl.Float4"},
		{struct{}{}, cl.InvalidArgValue, "cl.Raw"},
		{nil, cl.InvalidArgValue, "(*cl.Buffer)(nil)"},
		{(*cl.Image)(nil), cl.InvalidMemObject, "image"},
		{(*cl.Sampler)(nil), cl.InvalidSampler, "sampler"},
		{cl.LocalBytes(0), cl.InvalidArgSize, "local memory"},
		{cl.Raw{}, cl.InvalidArgSize, "no bytes"},
	} {
		err := k.SetArg(1, c.v)
		if !errors.Is(err, c.status) || !strings.Contains(err.Error(), c.hint) || !strings.Contains(err.Error(), "argument 1 of f") {
			t.Errorf("%T: %v", c.v, err)
		}
	}
	if err := k.SetArg(1, int64(1)); !errors.Is(err, cl.InvalidArgSize) {
		t.Errorf("int64 for an int: %v", err)
	}
	for _, i := range []int{-1, 3} {
		if err := k.SetArg(i, int32(1)); !errors.Is(err, cl.InvalidArgIndex) {
			t.Errorf("index %d: %v", i, err)
		}
	}
}

func TestNullBuffer(t *testing.T) {
	r := newRig(t)
	k := r.kernel("kernel void f(global int *out, global int *none) { *out = none == 0 ? 42 : 7; }", "f")
	out := r.buffer(make([]byte, 4))
	r.check(k.SetArgs(out, (*cl.Buffer)(nil)))
	r.done(r.queue.EnqueueKernel(k, nil, []int{1}, nil))
	if got := r.read(out)[0]; got != 42 {
		t.Errorf("%d", got)
	}
}

func TestLocalMemory(t *testing.T) {
	r := newRig(t)
	const group, groups = 16, 8
	k := r.kernel(`
		kernel void reverse(global int *data, local int *tile) {
			int i = get_local_id(0), n = get_local_size(0);
			tile[i] = data[get_global_id(0)];
			barrier(CLK_LOCAL_MEM_FENCE);
			data[get_global_id(0)] = tile[n - 1 - i];
		}`, "reverse")
	in := make([]int32, group*groups)
	for i := range in {
		in[i] = int32(i)
	}
	b := r.buffer(cl.Bytes(in))
	r.check(k.SetArgs(b, cl.LocalBytes(4*group)))
	r.done(r.queue.EnqueueKernel(k, nil, []int{group * groups}, []int{group}))
	got := make([]int32, len(in))
	r.check(r.queue.Read(b, 0, cl.Bytes(got)))
	for i := range got {
		if want := int32(i/group*group + group - 1 - i%group); got[i] != want {
			t.Fatalf("element %d: %d, want %d", i, got[i], want)
		}
	}
}
