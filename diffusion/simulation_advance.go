package diffusion

import (
	"context"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/cl"
)

const (
	batchAim   = 50 * time.Millisecond // how long a batch should take: a cancelled context waits for two
	batchLimit = 512                   // launches, which bounds what the queue and its events hold
)

// Advance takes the field the given number of steps forward on the device. Where that is no
// multiple of [Simulation.StepsPerLaunch], a last launch makes the steps that are left over; its
// kernel is built beforehand, which is not timed, and kept.
//
// Launches are enqueued in batches, one ahead of the one that runs, so that the device waits
// for the host only where a launch is shorter than enqueuing one, some ten microseconds: for a
// small field on a fast device Timing.Device is well below Timing.Wall. When ctx is cancelled, no
// further batch is enqueued, what is in the queue is waited for, and the error is that of the
// context: the field is then what it is after Timing.Steps steps. After any other error the field
// is lost.
func (s *Simulation) Advance(ctx context.Context, steps int) (Timing, error) {
	if steps < 0 {
		return Timing{}, fmt.Errorf("advance by %d steps (%s): the number must not be negative", steps, s.configuration)
	}
	if s.broken != nil {
		return Timing{}, fmt.Errorf("advance (%s): %w", s.configuration, s.broken)
	}
	parts, err := s.parts(steps)
	if err != nil {
		return Timing{}, fmt.Errorf("advance (%s): %w", s.configuration, err)
	}
	t := Timing{Cells: max(s.nx-2, 0) * max(s.ny-2, 0)}
	var clock deviceClock
	began := time.Now()
	for _, p := range parts {
		launched, err := s.launchAll(ctx, p.stepper, p.launches, &clock)
		t.Steps += launched * p.steps()
		if err != nil {
			s.broken = err
			break
		}
	}
	t.Wall, t.Device = time.Since(began), clock.total()
	if s.broken != nil {
		return t, fmt.Errorf("advance (%s): %w", s.configuration, s.broken)
	}
	if t.Steps < steps {
		return t, fmt.Errorf("advance (%s), %d of %d steps done: %w", s.configuration, t.Steps, steps, ctx.Err())
	}
	return t, nil
}

// A part is launches of one kernel.
type part struct {
	*stepper
	launches int
}

// parts are the launches that make a number of steps.
func (s *Simulation) parts(steps int) ([]part, error) {
	per := s.StepsPerLaunch()
	parts := []part{{s.whole, steps / per}}
	if left := steps % per; left > 0 {
		rest, err := s.rest(left)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{rest, 1})
	}
	return parts, nil
}

// launchAll launches in batches until all is done, or ctx is. Two batches are in the queue at a
// time; each is twice as long as the one before, until they are as long as they should be.
func (s *Simulation) launchAll(ctx context.Context, k *stepper, launches int, clock *deviceClock) (launched int, err error) {
	var ahead batch
	defer func() { ahead.release() }()
	size := 1
	for launched < launches && ctx.Err() == nil {
		next, err := s.enqueue(k, min(size, launches-launched))
		if err != nil {
			next.release()
			return launched, err
		}
		launched += len(next)
		took, err := ahead.finish(clock)
		ahead = next
		if err != nil {
			return launched, err
		}
		if took < batchAim {
			size = min(2*size, batchLimit)
		}
	}
	_, err = ahead.finish(clock)
	return launched, err
}

// A batch is the events of launches, one after the other.
type batch []*cl.Event

// enqueue puts launches into the queue, and hands them to the device.
func (s *Simulation) enqueue(k *stepper, launches int) (batch, error) {
	b := make(batch, 0, launches)
	for range launches {
		event, err := s.launch(k, s.current)
		if err != nil {
			return b, err
		}
		b = append(b, event)
		s.current = 1 - s.current
	}
	return b, s.queue.Flush()
}

// finish waits for a batch, adds its launches to the clock, and releases their events. It says
// for how long it waited, which is less than the batch took where that was under way already.
func (b batch) finish(clock *deviceClock) (time.Duration, error) {
	defer b.release()
	if len(b) == 0 {
		return 0, nil
	}
	began := time.Now()
	if err := b[len(b)-1].Wait(); err != nil {
		return 0, err
	}
	took := time.Since(began)
	for _, event := range b {
		if err := clock.add(event); err != nil {
			return took, err
		}
	}
	return took, nil
}

func (b batch) release() {
	for _, event := range b {
		event.Release()
	}
}
