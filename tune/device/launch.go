package device

import (
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
func (s *session) launch(k *cl.Kernel, r tune.NDRange) (float64, error) {
	if s.timer == tune.TimerHost {
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
	if s.timer == tune.TimerHost {
		return milliseconds(time.Since(began)), nil
	}
	return eventTime(event)
}

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
