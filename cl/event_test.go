package cl_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ndtune/ndtune/cl"
)

func TestProfile(t *testing.T) {
	r := newRig(t)
	k := r.kernel("// standin: f is increment(x, 0.5)\nkernel void f(global float *x) { float a = x[get_global_id(0)]; for (int i = 0; i < 1000; i++) a = a * a + 0.5f; x[get_global_id(0)] = a; }", "f")
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
	q := must(r.context.NewQueue(r.device, 0))(t)
	defer q.Release()
	e := r.event(q.EnqueueMarker())
	r.check(e.Wait())
	if _, err := e.Profile(); !errors.Is(err, cl.ProfilingInfoNotAvailable) && !r.simulated() {
		t.Errorf("without profiling: %v", err)
	}
	u := must(r.context.NewUserEvent())(t)
	defer u.Release()
	r.check(u.Complete())
	if _, err := u.Profile(); !errors.Is(err, cl.ProfilingInfoNotAvailable) {
		t.Errorf("user event: %v", err)
	}
}

func TestFlushAndFinish(t *testing.T) {
	r := newRig(t)
	b := r.buffer(make([]byte, 16))
	e := r.event(r.queue.EnqueueWrite(b, 0, make([]byte, 16)))
	r.check(r.queue.Flush())
	r.check(r.queue.Finish())
	if status := must(e.Status())(t); status != cl.Complete || status.Err() != nil {
		t.Errorf("after Finish: %s", status)
	}
}

// Flush returns while a command cannot even begin.
func TestFlushDoesNotWait(t *testing.T) {
	r := newRig(t)
	r.skipSimulator("runs nothing before a wait")
	u := must(r.context.NewUserEvent())(t)
	defer u.Release()
	e := r.event(r.queue.EnqueueMarker(u.Event))
	r.check(r.queue.Flush())
	if status := must(e.Status())(t); status == cl.Complete {
		t.Error("complete before what it waits for")
	}
	r.check(u.Complete())
	r.check(e.Wait())
}

func TestOutOfOrder(t *testing.T) {
	r := newRig(t)
	r.skipSimulator("runs nothing before a wait")
	q, err := r.context.NewQueue(r.device, cl.OutOfOrder|cl.Profiling)
	if errors.Is(err, cl.InvalidQueueProperties) {
		t.Skipf("%s has no out-of-order queues: %v", r.device, err)
	}
	r.check(err)
	defer q.Release()
	u := must(r.context.NewUserEvent())(t)
	defer u.Release()
	a, b := r.buffer(pattern(64)), r.buffer(make([]byte, 64))
	out := make([]byte, 64)
	fill := r.event(q.EnqueueFill(a, []byte{9}, 0, 64, u.Event, nil))
	copied := r.event(q.EnqueueCopy(a, b, 0, 0, 64, fill))
	read := r.event(q.EnqueueRead(b, 0, out, copied))
	barrier := r.event(q.EnqueueBarrier(read))
	after := r.event(q.EnqueueMarker())
	r.check(q.Flush())
	for i, e := range []*cl.Event{fill, copied, read, barrier, after} {
		if status := must(e.Status())(t); status <= cl.Complete {
			t.Errorf("command %d is %s before the user event", i, status)
		}
	}
	r.check(u.Complete())
	r.check(cl.WaitForEvents(nil, read, barrier, after))
	if !bytes.Equal(out, bytes.Repeat([]byte{9}, 64)) {
		t.Errorf("%v", out)
	}
	f, c := must(fill.Profile())(t), must(copied.Profile())(t)
	if f.End > c.Start {
		t.Errorf("copy %+v began before fill %+v ended", c, f)
	}
}

func TestUserEventEndsOnce(t *testing.T) {
	r := newRig(t)
	u := must(r.context.NewUserEvent())(t)
	defer u.Release()
	if status := must(u.Status())(t); status <= cl.Complete {
		t.Errorf("at first: %s", status)
	}
	if err := u.Fail(cl.Success); !errors.Is(err, cl.InvalidValue) {
		t.Errorf("failing well: %v", err)
	}
	r.check(u.Complete())
	if status := must(u.Status())(t); status != cl.Complete {
		t.Errorf("then: %s", status)
	}
	if err := u.Complete(); !errors.Is(err, cl.InvalidOperation) {
		t.Errorf("twice: %v", err)
	}
	if err := u.Fail(cl.OutOfResources); !errors.Is(err, cl.InvalidOperation) {
		t.Errorf("failing afterwards: %v", err)
	}
}

func TestFailedUserEvent(t *testing.T) {
	r := newRig(t)
	r.skipSimulator("does not fail what waits for a failed event")
	u := must(r.context.NewUserEvent())(t)
	defer u.Release()
	q := must(r.context.NewQueue(r.device, 0))(t)
	defer q.Release()
	b := r.buffer(make([]byte, 16))
	e := r.event(q.EnqueueFill(b, []byte{1}, 0, 16, u.Event))
	r.check(u.Fail(cl.OutOfResources))
	if status := must(u.Status())(t); !errors.Is(status.Err(), cl.OutOfResources) {
		t.Errorf("user event: %s", status)
	}
	err := e.Wait()
	t.Log(err)
	if !errors.Is(err, cl.ExecStatusErrorForEventsInWaitList) && !errors.Is(err, cl.OutOfResources) {
		t.Errorf("what waits for it: %v", err)
	}
	if r.read(b)[0] != 0 {
		t.Error("a command ran though the event it waits for had failed")
	}
}

// A user event that nobody ends ends with its Release.
func TestReleasedUserEvent(t *testing.T) {
	r := newRig(t)
	r.skipSimulator("does not fail what waits for a failed event")
	q := must(r.context.NewQueue(r.device, 0))(t)
	defer q.Release()
	u := must(r.context.NewUserEvent())(t)
	e := r.event(q.EnqueueMarker(u.Event))
	u.Release()
	u.Release()
	if err := e.Wait(); err == nil {
		t.Error("a command ended well though what it waits for did not")
	}
}
