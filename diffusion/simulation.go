package diffusion

import (
	"errors"
	"fmt"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/space"
)

// A Simulation is a field on an OpenCL device, with the kernel of one configuration that takes
// it forward in time. Two buffers change places after every launch; nothing is copied between
// steps. Close it when done. It is for one goroutine at a time.
type Simulation struct {
	nx, ny        int
	configuration space.Configuration
	variant       *tune.Variant

	context *cl.Context
	queue   *cl.Queue
	program *cl.Program

	// buffers[current] holds the field. kernels[i] reads buffers[i] and writes the other.
	buffers [2]*cl.Buffer
	kernels [2]*cl.Kernel
	current int

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
	s := &Simulation{nx: f.NX, ny: f.NY, configuration: c}
	if err := s.set(d, p, f); err != nil {
		s.Close()
		return nil, fmt.Errorf("set up %s (%s): %w", p.KernelName(), c, err)
	}
	return s, nil
}

func (s *Simulation) set(d *cl.Device, p *tune.Problem, f *Field) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := checkConstant(p); err != nil {
		return err
	}
	arguments, err := findArguments(p)
	if err != nil {
		return err
	}
	if err := s.derive(d, p, arguments); err != nil {
		return err
	}
	if err := s.build(d, p.KernelName()); err != nil {
		return err
	}
	if err := s.fill(f); err != nil {
		return err
	}
	if err := s.bind(arguments); err != nil {
		return err
	}
	return s.warmUp()
}

// derive finds the variant, and refuses it where the device's limits or the field's size do.
func (s *Simulation) derive(d *cl.Device, p *tune.Problem, a arguments) error {
	described, err := device.Describe(d)
	if err != nil {
		return err
	}
	if s.variant, err = p.Variant(s.configuration, described); err != nil {
		return err
	}
	if reason := s.variant.Refusal(described); reason != "" {
		return errors.New(reason)
	}
	return checkSizes(p, s.variant, a, s.nx, s.ny)
}

func (s *Simulation) build(d *cl.Device, name string) (err error) {
	if s.context, err = cl.NewContext(d); err != nil {
		return err
	}
	if s.queue, err = s.context.NewQueue(d, cl.Profiling); err != nil {
		return err
	}
	if s.program, err = s.context.NewProgram(s.variant.Source); err != nil {
		return err
	}
	if err := s.program.Build(s.variant.OptionLine(), d); err != nil {
		return err
	}
	for i := range s.kernels {
		if s.kernels[i], err = s.program.NewKernel(name); err != nil {
			return err
		}
	}
	return nil
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

// bind gives each kernel the two buffers in its order.
func (s *Simulation) bind(a arguments) error {
	for i, k := range s.kernels {
		if err := k.SetArg(a.u, s.buffers[i]); err != nil {
			return err
		}
		if err := k.SetArg(a.uNew, s.buffers[1-i]); err != nil {
			return err
		}
	}
	return nil
}

// warmUp launches once. What it writes, the first step writes again.
func (s *Simulation) warmUp() error {
	event, err := s.launch(s.current)
	if err != nil {
		return err
	}
	defer event.Release()
	return event.Wait()
}

// launch enqueues the kernel that reads buffers[from].
func (s *Simulation) launch(from int) (*cl.Event, error) {
	r := s.variant.NDRange
	return s.queue.EnqueueKernel(s.kernels[from], nil, r.Global(), r.WorkGroup())
}

// StepsPerLaunch is the number of time steps that one launch of the kernel computes, 1 for all
// kernels but those that work through several steps at a time.
func (s *Simulation) StepsPerLaunch() int { return s.variant.ReferenceLaunches }

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
	for _, k := range s.kernels {
		k.Release()
	}
	for _, b := range s.buffers {
		b.Release()
	}
	s.program.Release()
	s.queue.Release()
	s.context.Release()
}
