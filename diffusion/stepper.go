package diffusion

import (
	"errors"
	"fmt"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/space"
)

// stepsParameter is the parameter of a kernel that makes several steps a launch which says how
// many. Such a kernel is right for every number of them; unrolledRows is the one of its other
// parameters that has to divide what depends on that number.
const (
	stepsParameter = "time_steps"
	unrolledRows   = "unroll_rows"
)

// A stepper is the kernel of one configuration, built, between the two buffers of a simulation.
type stepper struct {
	variant *tune.Variant
	program *cl.Program
	kernels [2]*cl.Kernel // kernels[i] reads buffers[i] and writes the other
}

// newStepper builds a configuration, and launches it once: what that writes, the next step
// writes again.
func (s *Simulation) newStepper(c space.Configuration) (*stepper, error) {
	k := &stepper{}
	if err := s.setStepper(k, c); err != nil {
		k.release()
		return nil, err
	}
	return k, nil
}

func (s *Simulation) setStepper(k *stepper, c space.Configuration) error {
	a, err := findArguments(s.problem)
	if err != nil {
		return err
	}
	if k.variant, err = s.derive(c, a); err != nil {
		return err
	}
	if err := k.build(s.context, s.device, s.problem.KernelName()); err != nil {
		return err
	}
	for i, kernel := range k.kernels {
		if err := kernel.SetArg(a.u, s.buffers[i]); err != nil {
			return err
		}
		if err := kernel.SetArg(a.uNew, s.buffers[1-i]); err != nil {
			return err
		}
	}
	event, err := s.launch(k, s.current)
	if err != nil {
		return err
	}
	defer event.Release()
	return event.Wait()
}

// derive finds the variant, and refuses it where the device's limits or the field's size do.
func (s *Simulation) derive(c space.Configuration, a arguments) (*tune.Variant, error) {
	described, err := device.Describe(s.device)
	if err != nil {
		return nil, err
	}
	v, err := s.problem.Variant(c, described)
	if err != nil {
		return nil, err
	}
	if reason := v.Refusal(described); reason != "" {
		return nil, errors.New(reason)
	}
	return v, checkSizes(s.problem, v, a, s.nx, s.ny)
}

func (k *stepper) build(context *cl.Context, d *cl.Device, name string) (err error) {
	if k.program, err = context.NewProgram(k.variant.Source); err != nil {
		return err
	}
	if err := k.program.Build(k.variant.OptionLine(), d); err != nil {
		return err
	}
	for i := range k.kernels {
		if k.kernels[i], err = k.program.NewKernel(name); err != nil {
			return err
		}
	}
	return nil
}

// launch enqueues the kernel of k that reads buffers[from].
func (s *Simulation) launch(k *stepper, from int) (*cl.Event, error) {
	r := k.variant.NDRange
	return s.queue.EnqueueKernel(k.kernels[from], nil, r.Global(), r.WorkGroup())
}

// rest is the kernel that makes so many steps in one launch, fewer than in the configuration.
func (s *Simulation) rest(steps int) (*stepper, error) {
	if k, ok := s.rests[steps]; ok {
		return k, nil
	}
	values := map[string]space.Value{}
	names := s.problem.Parameters().Names()
	for _, name := range names {
		values[name], _ = s.configuration.Get(name)
	}
	if _, ok := values[stepsParameter]; !ok {
		return nil, fmt.Errorf("%d steps are left over, and the kernel has no parameter %s to make so many in a launch", steps, stepsParameter)
	}
	values[stepsParameter] = steps
	if _, ok := values[unrolledRows]; ok {
		values[unrolledRows] = 1
	}
	c, err := s.problem.Parameters().Configure(values)
	if err != nil {
		return nil, err
	}
	k, err := s.newStepper(c)
	if err != nil {
		return nil, fmt.Errorf("the kernel of %d steps that are left over: %w", steps, err)
	}
	s.rests[steps] = k
	return k, nil
}

func (k *stepper) steps() int { return k.variant.ReferenceLaunches }

func (k *stepper) release() {
	if k == nil {
		return
	}
	for _, kernel := range k.kernels {
		kernel.Release()
	}
	k.program.Release()
}
