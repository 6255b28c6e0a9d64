package device

import (
	"context"
	"errors"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
)

// setArguments hands a kernel its buffers, scalars and local memory.
func (s *session) setArguments(k *cl.Kernel, v *tune.Variant) error {
	for i, info := range s.infos {
		var value any
		switch info.Kind {
		case tune.BufferArgument:
			value = s.buffers[i].working
		case tune.ScalarArgument:
			value = cl.Raw(v.Scalars[i])
		case tune.LocalArgument:
			value = cl.LocalBytes(v.LocalBytes[i])
		}
		if err := k.SetArg(i, value); err != nil {
			return fail(tune.Compile, "argument %d (%s): %v", i, info.Name, err)
		}
	}
	return nil
}

// enqueue launches a kernel.
func (s *session) enqueue(k *cl.Kernel, r tune.NDRange) (*cl.Event, error) {
	event, err := s.queue.EnqueueKernel(k, nil, r.Global(), r.WorkGroup())
	if err != nil {
		return nil, s.refusedLaunch(k, r, err)
	}
	return event, nil
}

// refusedLaunch tells a work-group that is too large for the built kernel from another
// failure to launch.
func (s *session) refusedLaunch(k *cl.Kernel, r tune.NDRange, err error) error {
	for _, size := range []cl.Status{cl.InvalidWorkGroupSize, cl.InvalidWorkItemSize, cl.OutOfResources} {
		if !errors.Is(err, size) {
			continue
		}
		if info, e := k.WorkGroupInfo(s.device); e == nil && info.MaxSize > 0 && r.WorkItems() > info.MaxSize {
			return fail(tune.Constraints, "work-group of %d work-items > the built kernel's limit %d (registers or private memory): %v", r.WorkItems(), info.MaxSize, err)
		}
	}
	return fail(tune.Runtime, "launch: %v", err)
}

// launch runs a kernel to its end and returns its time in milliseconds by the session's
// timer. What stands before it in the queue is not part of the time.
func (s *session) launch(k *cl.Kernel, r tune.NDRange, untimed bool) (float64, error) {
	if s.timer == tune.TimerHost && !untimed {
		if err := s.queue.Finish(); err != nil {
			return 0, fail(tune.Runtime, "wait for the device: %v", err)
		}
	}
	began := time.Now()
	event, err := s.enqueue(k, r)
	if err != nil {
		return 0, err
	}
	defer event.Release()
	if err := event.Wait(); err != nil {
		return 0, fail(tune.Runtime, "run: %v", err)
	}
	elapsed := time.Since(began)
	if untimed || s.timer == tune.TimerHost {
		return milliseconds(elapsed), nil
	}
	return eventTime(event)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// eventTime is the time of a finished launch in milliseconds by its profiling events.
func eventTime(e *cl.Event) (float64, error) {
	p, err := e.Profile()
	if err != nil {
		return 0, fail(tune.Runtime, "read the profiling timestamps: %v", err)
	}
	if p.End < p.Start {
		return 0, fail(tune.Runtime, "the driver's timestamps run backwards: start %d ns, end %d ns", p.Start, p.End)
	}
	return float64(p.End-p.Start) / 1e6, nil
}

// batchable bounds the launches that are enqueued without waiting, on the host's clock:
// together they keep the device busy, and a run that is cancelled still ends soon.
const batchable = 20 * time.Millisecond

// measure warms up with one launch and then times n of them. Estimate is what a launch
// takes on the host's clock at most.
func (s *session) measure(ctx context.Context, k *cl.Kernel, r tune.NDRange, n int, estimate time.Duration) ([]float64, error) {
	if s.timer == tune.TimerHost || s.restoresEachLaunch() || estimate > batchable {
		return s.measureSingly(ctx, k, r, n)
	}
	most := n + 1
	if estimate > 0 {
		most = max(1, int(min(batchable/estimate, time.Duration(n+1))))
	}
	times := make([]float64, 0, n+1)
	for len(times) < n+1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		batch, err := s.measureBatch(k, r, min(most, n+1-len(times)))
		if err != nil {
			return nil, err
		}
		times = append(times, batch...)
	}
	return times[1:], nil
}

// measureBatch enqueues n launches and reads their times afterwards.
func (s *session) measureBatch(k *cl.Kernel, r tune.NDRange, n int) ([]float64, error) {
	events := make([]*cl.Event, 0, n)
	defer func() {
		for _, e := range events {
			e.Release()
		}
	}()
	for range n {
		e, err := s.enqueue(k, r)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	if err := events[n-1].Wait(); err != nil {
		return nil, fail(tune.Runtime, "run: %v", err)
	}
	times := make([]float64, n)
	for i, e := range events {
		var err error
		if times[i], err = eventTime(e); err != nil {
			return nil, err
		}
	}
	return times, nil
}

// measureSingly waits for each launch before the next.
func (s *session) measureSingly(ctx context.Context, k *cl.Kernel, r tune.NDRange, n int) ([]float64, error) {
	times := make([]float64, 0, n)
	for i := range n + 1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.restore(true); err != nil {
			return nil, err
		}
		t, err := s.launch(k, r, false)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			times = append(times, t)
		}
	}
	return times, nil
}
