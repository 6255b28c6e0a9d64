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

// arguments holds a value of every type of number, and the OpenCL C type that takes it.
var arguments = []struct {
	c     string
	value any
}{
	{"char", int8(-4)}, {"uchar", uint8(201)},
	{"short", int16(-4)}, {"ushort", uint16(201)},
	{"int", int32(-4)}, {"uint", uint32(201)},
	{"long", int64(-4)}, {"ulong", uint64(201)},
	{"float", float32(1.25)}, {"double", 1.25},
	{"float4", cl.Raw(cl.Bytes([]float32{1, 2, 3, 4}))},
	{"uchar3", cl.Raw{1, 2, 3, 4}},
	{"long16", cl.Raw(cl.Bytes([]int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}))},
}

// Numbers of every type, and vectors as bytes, arrive in a kernel as they left.
func TestEveryArgumentType(t *testing.T) {
	r := newRig(t)
	var source strings.Builder
	for _, a := range arguments {
		if r.has(a.c) {
			fmt.Fprintf(&source, "kernel void echo_%s(global %s *out, %s v) { *out = v; }\n", a.c, a.c, a.c)
		}
	}
	p := r.program(source.String(), "")
	for _, a := range arguments {
		if !r.has(a.c) {
			t.Logf("%T not tested: the device has no %s", a.value, a.c)
			continue
		}
		want, raw := a.value.(cl.Raw)
		if !raw {
			want = must(binary.Append(nil, binary.NativeEndian, a.value))(t)
		}
		out := r.buffer(make([]byte, 128))
		k := must(p.NewKernel("echo_" + a.c))(t)
		r.check(k.SetArgs(out, a.value))
		r.done(r.queue.EnqueueKernel(k, nil, []int{1}, []int{1}))
		if strings.HasSuffix(a.c, "3") {
			want = want[:len(want)*3/4] // the fourth element is padding
		}
		if got := r.read(out)[:len(want)]; !bytes.Equal(got, want) {
			t.Errorf("%T as %s: %v came as %v", a.value, a.c, want, got)
		}
		k.Release()
		out.Release()
	}
}

func (r *rig) has(c string) bool { return !strings.HasPrefix(c, "double") || r.info.DoubleFP != 0 }

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
		{[4]float32{}, cl.InvalidArgValue, "cl.Raw(cl.Bytes(v[:]))"},
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
