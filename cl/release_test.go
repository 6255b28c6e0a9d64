package cl_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/ndtune/ndtune/cl"
)

// objects makes one of everything that has a Release, and a use of each that must answer
// ErrReleased afterwards.
func (r *rig) objects() map[string]struct {
	release func()
	use     func() error
	status  cl.Status
} {
	t := r.t
	context := must(cl.NewContext(r.device))(t)
	queue := must(r.context.NewQueue(0))(t)
	buffer := must(r.context.NewBuffer(0, 64))(t)
	var sampler *cl.Sampler // nil on CUDA, which has none
	if !onCUDA() {
		sampler = must(r.context.NewSampler(false, cl.AddressUndefined, cl.FilterNearest))(t)
	}
	program := must(r.context.NewProgram(r.source("// standin: f is nothing()\nkernel void f(global int *o, sampler_t s) { *o = 1; }")))(t)
	r.check(program.Build(""))
	kernel := must(program.NewKernel("f"))(t)
	other := must(program.NewKernel("f"))(t)
	t.Cleanup(other.Release)
	event := must(r.queue.EnqueueCopy(r.buffer(pattern(4)), r.buffer(pattern(4)), 0, 0, 4))(t)
	return map[string]struct {
		release func()
		use     func() error
		status  cl.Status
	}{
		"context": {context.Release, func() error { b, err := context.NewBuffer(0, 1); b.Release(); return err }, cl.InvalidContext},
		"queue":   {queue.Release, queue.Finish, cl.InvalidCommandQueue},
		"buffer":  {buffer.Release, func() error { return r.queue.Read(buffer, 0, make([]byte, 1)) }, cl.InvalidMemObject},
		"sampler": {sampler.Release, func() error { return other.SetArg(1, sampler) }, cl.InvalidSampler},
		"program": {program.Release, func() error { return program.Build("") }, cl.InvalidProgram},
		"kernel":  {kernel.Release, func() error { return kernel.SetArg(0, buffer) }, cl.InvalidKernel},
		"event":   {event.Release, event.Wait, cl.InvalidEvent},
	}
}

func TestReleaseTwice(t *testing.T) {
	r := newRig(t)
	r.check(r.queue.Finish())
	for name, o := range r.objects() {
		o.release()
		o.release()
		if err := o.use(); !errors.Is(err, cl.ErrReleased) || !errors.Is(err, o.status) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Release from many goroutines, beside uses, neither crashes nor releases twice. What else
// came of a context shows whether a count went wrong.
func TestReleaseConcurrently(t *testing.T) {
	r := newRig(t)
	r.skipSimulator("is not safe for concurrent use")
	for range 10 {
		for name, o := range r.objects() {
			if name == "program" { // with kernels, it cannot be built again beside them
				o.release()
				continue
			}
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() {
					if err := o.use(); err != nil && !errors.Is(err, cl.ErrReleased) {
						t.Errorf("%s: %v", name, err)
					}
					o.release()
				})
			}
			group.Wait()
			if err := o.use(); !errors.Is(err, cl.ErrReleased) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if got := r.read(r.buffer([]byte{7})); got[0] != 7 {
		t.Error("the context is damaged")
	}
}

func TestLaunchWithReleasedBuffer(t *testing.T) {
	r := newRig(t)
	k := r.kernel("// standin: f is copy(a, b)\nkernel void f(global int *a, global int *b) { *a = *b; }", "f")
	a, b := r.buffer(make([]byte, 4)), r.buffer(make([]byte, 4))
	r.check(k.SetArgs(a, b))
	b.Release()
	_, err := r.queue.EnqueueKernel(k, nil, []int{1}, nil)
	if !errors.Is(err, cl.ErrReleased) || !errors.Is(err, cl.InvalidMemObject) || !strings.Contains(err.Error(), "argument 1 of f") {
		t.Errorf("%v", err)
	}
	r.check(k.SetArg(1, a))
	r.done(r.queue.EnqueueKernel(k, nil, []int{1}, nil))
}

// Everything that a command under way needs may be released at once.
func TestReleaseBeforeEnd(t *testing.T) {
	r := newRig(t)
	queue := must(r.context.NewQueue(0))(t)
	program := must(r.context.NewProgram(r.source(`// standin: f is copy(a, b)
		kernel void f(global int *a, global int *b) { a[get_global_id(0)] = b[get_global_id(0)]; }`)))(t)
	r.check(program.Build(""))
	kernel := must(program.NewKernel("f"))(t)
	in, out := must(r.context.NewBufferFrom(0, pattern(64)))(t), r.buffer(make([]byte, 64))
	r.check(kernel.SetArgs(out, in))
	e := must(queue.EnqueueKernel(kernel, nil, []int{16}, nil))(t)
	in.Release()
	kernel.Release()
	program.Release()
	queue.Release()
	r.check(e.Wait())
	e.Release()
	if got := r.read(out); string(got) != string(pattern(64)) {
		t.Errorf("%v", got)
	}
}

func TestNilAndZeroObjects(t *testing.T) {
	(*cl.Context)(nil).Release()
	(*cl.Queue)(nil).Release()
	(*cl.Buffer)(nil).Release()
	(*cl.Image)(nil).Release()
	(*cl.Sampler)(nil).Release()
	(*cl.Program)(nil).Release()
	(*cl.Kernel)(nil).Release()
	(*cl.Event)(nil).Release()
	new(cl.Context).Release()
	new(cl.Queue).Release()
	new(cl.Buffer).Release()
	new(cl.Event).Release()
	for name, err := range map[string]error{
		"nil queue":     (*cl.Queue)(nil).Finish(),
		"zero queue":    new(cl.Queue).Finish(),
		"nil event":     (*cl.Event)(nil).Wait(),
		"zero event":    new(cl.Event).Wait(),
		"zero program":  new(cl.Program).Build(""),
		"nil kernel":    (*cl.Kernel)(nil).SetArg(0, int32(1)),
		"zero kernel":   new(cl.Kernel).SetArg(0, int32(1)),
		"zero transfer": new(cl.Queue).Write(new(cl.Buffer), 0, []byte{1}),
	} {
		if !errors.Is(err, cl.ErrReleased) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
