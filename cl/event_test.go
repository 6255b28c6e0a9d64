package cl_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/standin"
)

func TestProfile(t *testing.T) {
	r := newRig(t)
	k := r.kernel(`// standin: f is increment(x, 0.5)
		kernel void f(global float *x) {
			float a = x[get_global_id(0)];
			for (int i = 0; i < 1000; i++) a = a * a + 0.5f;
			x[get_global_id(0)] = a;
		}`, "f")
	r.check(k.SetArg(0, r.buffer(make([]byte, 4096))))
	var last cl.Profile
	for range 3 {
		e := r.event(r.queue.EnqueueKernel(k, nil, []int{1024}, []int{32}))
		r.check(e.Wait())
		p := must(e.Profile())(t)
		if p.Queued > p.Submit || p.Submit > p.Start || p.Start >= p.End || p.Start < last.End {
			t.Errorf("%+v after %+v", p, last)
		}
		if p.Duration().Nanoseconds() != int64(p.End-p.Start) {
			t.Errorf("%v", p.Duration())
		}
		last = p
	}
	if (cl.Profile{Start: 2, End: 1}).Duration() != 0 {
		t.Error("reversed times")
	}
}

func TestProfileNotAvailable(t *testing.T) {
	r := newRig(t)
	q := must(r.context.NewQueue(0))(t)
	defer q.Release()
	e := r.event(q.EnqueueCopy(r.buffer(pattern(4)), r.buffer(pattern(4)), 0, 0, 4))
	r.check(e.Wait())
	if _, err := e.Profile(); !errors.Is(err, cl.ProfilingInfoNotAvailable) && !r.simulated() {
		t.Errorf("without profiling: %v", err)
	}
}

func TestFlushAndFinish(t *testing.T) {
	r := newRig(t)
	a, b := r.buffer(pattern(16)), r.buffer(make([]byte, 16))
	e := r.event(r.queue.EnqueueCopy(a, b, 0, 0, 16))
	r.check(r.queue.Flush())
	r.check(r.queue.Finish())
	must(e.Profile())(t) // which only a command that has ended has
	if !bytes.Equal(r.read(b), pattern(16)) {
		t.Error("the copy differs")
	}
}

// Commands of an out-of-order queue wait for the events that they are given; nil events are ignored.
func TestOutOfOrder(t *testing.T) {
	r := newRig(t)
	q, err := r.context.NewQueue(cl.OutOfOrder | cl.Profiling)
	if errors.Is(err, cl.InvalidQueueProperties) {
		t.Skipf("%s has no out-of-order queues: %v", r.device, err)
	}
	r.check(err)
	defer q.Release()
	a, b, c := r.buffer(pattern(64)), r.buffer(make([]byte, 64)), r.buffer(make([]byte, 64))
	first := r.event(q.EnqueueCopy(a, b, 0, 0, 64, nil))
	second := r.event(q.EnqueueCopy(b, c, 0, 0, 64, first, nil))
	out := make([]byte, 64)
	r.check(q.Read(c, 0, out, second))
	if !bytes.Equal(out, pattern(64)) {
		t.Errorf("%v", out)
	}
	if f, s := must(first.Profile())(t), must(second.Profile())(t); f.End > s.Start {
		t.Errorf("the second copy %+v began before the first %+v ended", s, f)
	}
}

// The error of a command is that of its event, where the driver tells it. The device is lost, in a process of its own.
func TestFailedCommand(t *testing.T) {
	if standin.OnSystem() {
		t.Skip("a real device would be lost")
	}
	if os.Getenv("NDTUNE_TEST_LOSES") == "" {
		child := exec.Command(os.Args[0], "-test.run", "^TestFailedCommand$")
		child.Env = append(os.Environ(), "NDTUNE_TEST_LOSES=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	r := newRig(t)
	k := r.kernel("// standin: f is nothing(); f loses device\nkernel void f(global int *o) { *o = 1; }", "f")
	r.check(k.SetArg(0, r.buffer(make([]byte, 4))))
	e := r.event(r.queue.EnqueueKernel(k, nil, []int{1}, nil))
	if err := e.Wait(); !errors.Is(err, cl.Status(-9999)) || !strings.Contains(err.Error(), "the command failed") {
		t.Errorf("%v", err)
	}
}
