package cl_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ndtune/ndtune/cl"
)

const scale = `
	// standin: scale is scale(out, in, by); fixed is fill(out, 10 * local_x + local_y)
	kernel void scale(global float *restrict out, const global float *in, float by) {
		out[get_global_id(0)] = in[get_global_id(0)] * by;
	}
	kernel __attribute__((reqd_work_group_size(4, 2, 1))) void fixed(global int *out) {
		out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_local_size(0) * 10 + get_local_size(1);
	}
`

func TestNumArgs(t *testing.T) {
	r := newRig(t)
	k := r.kernel(scale, "scale")
	if n := must(k.NumArgs())(t); n != 3 {
		t.Errorf("%d arguments", n)
	}
}

func TestArgInfo(t *testing.T) {
	r := newRig(t)
	k := must(r.program(scale, "-cl-kernel-arg-info").NewKernel("scale"))(t)
	defer k.Release()
	for i, want := range []cl.ArgInfo{
		{Name: "out", Type: "float*", Address: cl.AddressGlobal, Access: cl.AccessNone, Qualifier: cl.TypeRestrict},
		{Name: "in", Type: "float*", Address: cl.AddressGlobal, Access: cl.AccessNone, Qualifier: cl.TypeConst},
		{Name: "by", Type: "float", Address: cl.AddressPrivate, Access: cl.AccessNone},
	} {
		if got := must(k.ArgInfo(i))(t); got != want {
			t.Errorf("argument %d: %+v, want %+v", i, got, want)
		}
	}
	for _, i := range []int{-1, 3} {
		if _, err := k.ArgInfo(i); !errors.Is(err, cl.InvalidArgIndex) {
			t.Errorf("argument %d: %v", i, err)
		}
	}
}

func TestWorkGroupInfo(t *testing.T) {
	r := newRig(t)
	info := must(r.kernel(scale, "scale").WorkGroupInfo())(t)
	if info.MaxSize < 1 || info.MaxSize > r.info.MaxWorkGroupSize || info.CompileSize != [3]int{} {
		t.Errorf("%+v", info)
	}
	fixed := must(r.kernel(scale, "fixed").WorkGroupInfo())(t)
	if fixed.CompileSize != [3]int{4, 2, 1} {
		t.Errorf("%+v", fixed)
	}
	local := r.kernel(`// standin: f is nothing(); f uses 1024
		kernel void f(global int *o) {
			local int l[256];
			l[get_local_id(0)] = o[0];
			barrier(1);
			o[1] = l[255 - get_local_id(0)];
		}`, "f")
	if used := must(local.WorkGroupInfo())(t).LocalMem; used < 1024 {
		t.Errorf("local memory: %d bytes", used)
	}
}

func TestLaunchOverThreeDimensions(t *testing.T) {
	r := newRig(t)
	k := r.kernel(`kernel void f(global int *out) {
		int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
		out[(z * 8 + y) * 8 + x] = 1 + get_work_dim();
	}`, "f")
	out := r.buffer(make([]byte, 4*8*8*8))
	r.check(k.SetArg(0, out))
	r.done(r.queue.EnqueueKernel(k, []int{1, 2, 3}, []int{4, 2, 4}, []int{2, 1, 4}))
	got := make([]int32, 8*8*8)
	r.check(r.queue.Read(out, 0, cl.Bytes(got)))
	for i, v := range got {
		x, y, z := i%8, i/8%8, i/64
		inside := x >= 1 && x < 5 && y >= 2 && y < 4 && z >= 3 && z < 7
		if inside != (v == 4) || !inside && v != 0 {
			t.Fatalf("work-item %d,%d,%d: %d", x, y, z, v)
		}
	}
}

func TestBadLaunches(t *testing.T) {
	r := newRig(t)
	k := r.kernel(scale, "scale")
	b := r.buffer(make([]byte, 4096))
	if _, err := r.queue.EnqueueKernel(k, nil, []int{16}, nil); !errors.Is(err, cl.InvalidKernelArgs) {
		t.Errorf("no arguments: %v", err)
	}
	r.check(k.SetArgs(b, b, float32(1)))
	for _, c := range []struct {
		offset, global, local []int
		status                cl.Status
	}{
		{nil, nil, nil, cl.InvalidWorkDimension},
		{nil, []int{1, 1, 1, 1}, nil, cl.InvalidWorkDimension},
		{nil, []int{1 << 20}, []int{1 << 20}, cl.InvalidWorkGroupSize},
		{nil, []int{16}, []int{0}, cl.InvalidWorkGroupSize},
		{nil, []int{16}, []int{4, 4}, cl.InvalidWorkGroupSize},
		{nil, []int{-16}, nil, cl.InvalidGlobalWorkSize},
		{[]int{-1}, []int{16}, nil, cl.InvalidGlobalOffset},
	} {
		_, err := r.queue.EnqueueKernel(k, c.offset, c.global, c.local)
		if !errors.Is(err, c.status) && !(c.status == cl.InvalidWorkGroupSize && errors.Is(err, cl.InvalidWorkItemSize)) {
			t.Errorf("%v %v %v: %v", c.offset, c.global, c.local, err)
		}
		var e *cl.Error
		if !errors.As(err, &e) || e.Call != "clEnqueueNDRangeKernel" || !strings.Contains(err.Error(), "scale") {
			t.Errorf("%v %v %v: %v", c.offset, c.global, c.local, err)
		}
	}
	fixed := r.kernel(scale, "fixed")
	r.check(fixed.SetArg(0, b))
	if _, err := r.queue.EnqueueKernel(fixed, nil, []int{16, 16}, []int{2, 2}); !errors.Is(err, cl.InvalidWorkGroupSize) {
		t.Errorf("not the required work-group size: %v", err)
	}
}

// Goroutines with a kernel each share a queue, a program and a buffer.
func TestKernelsSideBySide(t *testing.T) {
	r := newRig(t)
	r.skipSimulator("is not safe for concurrent use")
	const n, rounds = 8, 20
	p := r.program("kernel void f(global int *out, int i, int v) { out[i] += v; }", "")
	out := r.buffer(make([]byte, 4*n))
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			k, err := p.NewKernel("f")
			if err != nil {
				t.Error(err)
				return
			}
			defer k.Release()
			for v := range rounds {
				if err := k.SetArgs(out, int32(i), int32(v)); err != nil {
					t.Error(err)
				}
				e, err := r.queue.EnqueueKernel(k, nil, []int{1}, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if err := e.Wait(); err != nil {
					t.Error(err)
				}
				e.Release()
			}
		})
	}
	group.Wait()
	got := make([]int32, n)
	r.check(r.queue.Read(out, 0, cl.Bytes(got)))
	if want := slices.Repeat([]int32{rounds * (rounds - 1) / 2}, n); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
