package diffusion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// A Simulation is a field on a device, with the kernel of one configuration that takes
// it forward in time. Two buffers change places after every launch; nothing is copied between
// steps. Close it when done. It is for one goroutine at a time.
type Simulation struct {
	nx, ny        int
	configuration space.Configuration
	problem       *problem.Problem
	arguments     arguments
	launcher      *device.Launcher

	// buffers[current] holds the field.
	buffers [2]*cl.Buffer
	current int

	whole stepper         // with the steps of the configuration in a launch
	rests map[int]stepper // with fewer steps, by their number

	broken error // the error of a failed launch, which lost the field
}

// NewSimulation copies a field to a device and builds the kernel of a configuration. The problem is
// that of a bundled specification, or a similar one: its kernel has two buffers, u_new and u, and its
// problem size is that of the field. If the problem has a constant dt, the scheme must be stable
// for it.
//
// NewSimulation launches the kernel once, so that [Simulation.Advance] does not time the compilation
// that some drivers do at the first launch.
func NewSimulation(d *cl.Device, p *problem.Problem, c space.Configuration, f *Field) (*Simulation, error) {
	s := &Simulation{nx: f.NX, ny: f.NY, configuration: c, problem: p, rests: map[int]stepper{}}
	if err := s.set(d, f); err != nil {
		s.Close()
		return nil, fmt.Errorf("set up %s (%s): %w", p.KernelName(), c, err)
	}
	return s, nil
}

func (s *Simulation) set(d *cl.Device, f *Field) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	if dt, ok := TimeStep(s.problem); ok {
		if err := checkTimeStep(dt); err != nil {
			return err
		}
	}
	if s.arguments, err = findArguments(s.problem); err != nil {
		return err
	}
	if s.launcher, err = device.NewLauncher(d, ""); err != nil {
		return err
	}
	for i := range s.buffers { // both, since kernels do not write the edges
		if s.buffers[i], err = s.launcher.Context.NewBufferFrom(cl.ReadWrite, cl.Bytes(f.Values)); err != nil {
			return fmt.Errorf("a buffer of %d × %d cells: %w", s.nx, s.ny, err)
		}
	}
	s.whole, err = s.build(s.configuration)
	return err
}

// StepsPerLaunch returns the number of time steps in a launch of the kernel.
func (s *Simulation) StepsPerLaunch() int { return s.whole.steps() }

// Field reads the field back.
func (s *Simulation) Field() (*Field, error) {
	f := &Field{NX: s.nx, NY: s.ny, Values: make([]float32, s.nx*s.ny)}
	err := s.broken
	if err == nil {
		err = s.launcher.Queue.Read(s.buffers[s.current], 0, cl.Bytes(f.Values))
	}
	if err != nil {
		return nil, fmt.Errorf("read the field (%s): %w", s.configuration, err)
	}
	return f, nil
}

// Close releases the buffers and kernels of the simulation. It can be called twice.
func (s *Simulation) Close() {
	if s.launcher != nil {
		_ = s.launcher.Queue.Finish() // Advance has reported a failed launch
	}
	s.whole.release()
	for _, rest := range s.rests {
		rest.release()
	}
	for _, b := range s.buffers {
		b.Release()
	}
	s.launcher.Release()
}

const (
	batchAim   = 50 * time.Millisecond // the time of a batch; a cancelled context waits for two
	batchLimit = 512                   // launches; bounds the memory of the queue and its events
)

// Advance takes the field the given number of steps forward on the device. If the number is no
// multiple of [Simulation.StepsPerLaunch], a last launch makes the remaining steps; its kernel is
// built before the timing begins, and kept.
//
// Launches are enqueued in batches, one ahead of the running one, so that the device waits for the
// host only if a launch takes less time than enqueuing one, some ten microseconds. For a small
// field on a fast device, Timing.Device is well below Timing.Wall. If ctx is cancelled, Advance waits
// for the enqueued launches and returns the error of the context; the field is then that after
// Timing.Steps steps. After any other error the field is lost.
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
	clock := kernelClock{launcher: s.launcher, usable: s.launcher.Timer == hardware.TimerEvent}
	began := time.Now()
	for _, p := range parts {
		launched, err := s.launchAll(ctx, p.kernel, p.launches, &clock)
		t.Steps += launched * p.kernel.steps()
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

// A part is a number of launches of one kernel.
type part struct {
	kernel   stepper
	launches int
}

// parts returns the launches for a number of steps.
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

// launchAll makes all launches, unless ctx ends, in batches of which two are in the queue. Batches
// double in size until they take batchAim.
func (s *Simulation) launchAll(ctx context.Context, k stepper, launches int, clock *kernelClock) (launched int, err error) {
	var ahead device.Batch
	defer func() { ahead.Release() }()
	size := 1
	for launched < launches && ctx.Err() == nil {
		next, err := s.enqueue(k, min(size, launches-launched))
		if err != nil {
			next.Release()
			return launched, err
		}
		launched += len(next)
		took, err := clock.finish(ahead)
		ahead = next
		if err != nil {
			return launched, err
		}
		if took < batchAim {
			size = min(2*size, batchLimit)
		}
	}
	_, err = clock.finish(ahead)
	return launched, err
}

// enqueue enqueues launches and submits them to the device.
func (s *Simulation) enqueue(k stepper, launches int) (device.Batch, error) {
	b := make(device.Batch, 0, launches)
	for range launches {
		event, err := s.launch(k)
		if err != nil {
			return b, err
		}
		b = append(b, event)
		s.current = 1 - s.current
	}
	return b, s.launcher.Queue.Flush()
}

// A kernelClock adds up the times of kernels.
type kernelClock struct {
	launcher *device.Launcher

	sum    time.Duration
	usable bool // so far, every timestamp could be used
}

// finish waits for a batch, adds its times to the clock, and releases it. It returns how long
// it waited, which is less than the batch took if that was already running.
func (c *kernelClock) finish(b device.Batch) (waited time.Duration, err error) {
	defer b.Release()
	began := time.Now()
	err = b.Wait()
	waited = time.Since(began)
	if err != nil || !c.usable {
		return waited, err
	}
	times, err := c.launcher.Timed(b, time.Time{})
	if errors.Is(err, device.ErrTimestamps) || slices.Contains(times, 0) {
		c.usable, err = false, nil
	}
	for _, t := range times {
		c.sum += t
	}
	return waited, err
}

// total is the sum, or 0 if a timestamp could not be used: part of the time says nothing.
func (c *kernelClock) total() time.Duration {
	if !c.usable {
		return 0
	}
	return c.sum
}
