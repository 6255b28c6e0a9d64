package diffusion

import (
	"fmt"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// A Simulation is a field on an OpenCL device, with the kernel of one configuration that takes
// it forward in time. Two buffers change places after every launch; nothing is copied between
// steps. Close it when done. It is for one goroutine at a time.
type Simulation struct {
	nx, ny        int
	configuration space.Configuration
	device        *cl.Device
	problem       *tune.Problem

	context *cl.Context
	queue   *cl.Queue

	// buffers[current] holds the field.
	buffers [2]*cl.Buffer
	current int

	whole *stepper         // in the configuration
	rests map[int]*stepper // with fewer steps a launch, those that were needed so far

	broken error // of a launch that failed: the field is lost
}

// NewSimulation puts a field on a device and builds the kernel of a configuration for it. The
// problem is made from a bundled specification, or one like it: its kernel takes two buffers,
// u_new and u, and its problem size is that of the field, which is not changed. Where the
// problem has a constant dt, it must be stable.
//
// The kernel is launched once, so that compilation at the first launch, which some drivers do,
// is not timed by [Simulation.Advance].
func NewSimulation(d *cl.Device, p *tune.Problem, c space.Configuration, f *Field) (*Simulation, error) {
	s := &Simulation{nx: f.NX, ny: f.NY, configuration: c, device: d, problem: p, rests: map[int]*stepper{}}
	if err := s.set(f); err != nil {
		s.Close()
		return nil, fmt.Errorf("set up %s (%s): %w", p.KernelName(), c, err)
	}
	return s, nil
}

func (s *Simulation) set(f *Field) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	if err := checkConstant(s.problem); err != nil {
		return err
	}
	if _, err := findArguments(s.problem); err != nil {
		return err
	}
	if s.context, err = cl.NewContext(s.device); err != nil {
		return err
	}
	if s.queue, err = s.context.NewQueue(s.device, cl.Profiling); err != nil {
		return err
	}
	if err := s.fill(f); err != nil {
		return err
	}
	s.whole, err = s.newStepper(s.configuration)
	return err
}

// fill makes both buffers with the field: kernels leave the edges as they are in either.
func (s *Simulation) fill(f *Field) (err error) {
	for i := range s.buffers {
		if s.buffers[i], err = s.context.NewBufferFrom(cl.ReadWrite, cl.Bytes(f.Values)); err != nil {
			return fmt.Errorf("a buffer of %d × %d cells: %w", s.nx, s.ny, err)
		}
	}
	return nil
}

// StepsPerLaunch is the number of time steps that one launch of the kernel computes, 1 for all
// kernels but those that work through several steps at a time.
func (s *Simulation) StepsPerLaunch() int { return s.whole.steps() }

// Field reads the field back.
func (s *Simulation) Field() (*Field, error) {
	f := &Field{NX: s.nx, NY: s.ny, Values: make([]float32, s.nx*s.ny)}
	err := s.broken
	if err == nil {
		err = s.queue.Read(s.buffers[s.current], 0, cl.Bytes(f.Values))
	}
	if err != nil {
		return nil, fmt.Errorf("read the field (%s): %w", s.configuration, err)
	}
	return f, nil
}

// Close releases everything that the simulation holds on the device. It can be called twice.
func (s *Simulation) Close() {
	if s.queue != nil {
		_ = s.queue.Finish() // of a failed launch, Advance has told
	}
	s.whole.release()
	for _, rest := range s.rests {
		rest.release()
	}
	for _, b := range s.buffers {
		b.Release()
	}
	s.queue.Release()
	s.context.Release()
}
