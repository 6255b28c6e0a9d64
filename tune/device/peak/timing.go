package peak

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
)

const (
	// A launch that is timed takes aim at least, where more work can be had for it: then
	// neither its own cost nor the resolution of the timer count. The host's clock measures
	// much that is no kernel.
	aimByEvent = 2 * time.Millisecond
	aimByHost  = 20 * time.Millisecond

	// A variant is launched again for about its budget, and leastLaunches times at least,
	// unless a launch takes longer than tooLong.
	budget        = 12 * time.Millisecond
	sweepBudget   = 60 * time.Millisecond // for sets of buffers: other processes take a CPU and its caches away for some
	finalBudget   = 250 * time.Millisecond
	warmUp        = 150 * time.Millisecond // in which the clocks of a device that was idle rise
	leastLaunches = 3
	tooLong       = 500 * time.Millisecond
)

// aim is how long a launch that is timed should take.
func (m *Meter) aim() time.Duration {
	if m.timer == tune.TimerHost {
		return aimByHost
	}
	return aimByEvent
}

// A launch is a kernel, with its arguments set, and how many work-groups of it are launched.
type launch struct {
	*built
	local  int
	groups int
}

func (m *Meter) enqueue(l launch) (*cl.Event, error) {
	return m.queue.EnqueueKernel(l.Kernel, nil, []int{l.groups * l.local}, []int{l.local})
}

// once launches and waits, and gives the time.
func (m *Meter) once(l launch) (time.Duration, error) {
	if m.timer == tune.TimerHost {
		if err := m.queue.Finish(); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	event, err := m.enqueue(l)
	if err != nil {
		return 0, err
	}
	defer event.Release()
	if err := event.Wait(); err != nil {
		return 0, err
	}
	if m.timer == tune.TimerHost {
		return time.Since(began), nil
	}
	return elapsed(event)
}

// elapsed is the time of an event that has ended.
func elapsed(e *cl.Event) (time.Duration, error) {
	p, err := e.Profile()
	if err != nil {
		return 0, err
	}
	if p.End <= p.Start {
		return 0, fmt.Errorf("the driver's timestamps are no good: start %d ns, end %d ns", p.Start, p.End)
	}
	return p.Duration(), nil
}

// together launches several times without waiting in between, and gives the shortest time.
func (m *Meter) together(l launch, n int) (time.Duration, error) {
	events := make([]*cl.Event, 0, n)
	defer func() {
		for _, e := range events {
			e.Release()
		}
	}()
	for range n {
		e, err := m.enqueue(l)
		if err != nil {
			return 0, err
		}
		events = append(events, e)
	}
	if err := events[n-1].Wait(); err != nil {
		return 0, err
	}
	shortest := time.Duration(0)
	for _, e := range events {
		t, err := elapsed(e)
		if err != nil {
			return 0, err
		}
		if shortest == 0 || t < shortest {
			shortest = t
		}
	}
	return shortest, nil
}

// fastest is the shortest time of a launch, out of as many as fit a budget.
func (m *Meter) fastest(ctx context.Context, l launch, budget time.Duration) (time.Duration, error) {
	shortest, err := m.once(l)
	if err != nil || shortest > tooLong {
		return shortest, err
	}
	for left := max(int(budget/max(shortest, time.Microsecond)), leastLaunches); left > 0; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, t := 1, time.Duration(0)
		if m.timer == tune.TimerHost {
			t, err = m.once(l)
		} else {
			n = min(left, 16)
			t, err = m.together(l, n)
		}
		if err != nil {
			return 0, err
		}
		shortest = min(shortest, t)
		left -= n
	}
	return shortest, nil
}

// enough is how often some work must be done in a launch for the aim: at most so often. Run
// launches it that often.
func (m *Meter) enough(ctx context.Context, most int, run func(times int) (time.Duration, error)) (int, error) {
	times := 1
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		t, err := run(times)
		if err != nil {
			return 0, err
		}
		if t >= m.aim() || times >= most {
			return times, nil
		}
		// A short launch says little of how long a longer one takes: it grows step by step.
		more := float64(m.aim()) / float64(max(t, time.Microsecond)) * 1.3
		times = min(most, int(float64(times)*min(max(more, 1.5), 16))+1)
	}
}

// noneOf says why none of the variants of a kernel gave anything: the first error.
func noneOf(errs []error) error {
	if len(errs) > 0 {
		return errs[0]
	}
	return errors.New("the device takes none of the variants")
}
