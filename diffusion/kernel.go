package diffusion

import (
	"context"
	"fmt"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// arguments holds the indices of the two buffers among the kernel's arguments.
type arguments struct{ uNew, u int }

// findArguments returns an error for a kernel whose arguments are not just the two buffers of a step.
func findArguments(p *problem.Problem) (arguments, error) {
	places, ok := device.FindBuffers(p, array.Float32, "u_new", "u")
	if !ok {
		return arguments{}, fmt.Errorf("%s is no diffusion step: its arguments must be two buffers of float32, u_new and u", p.KernelName())
	}
	return arguments{places[0], places[1]}, nil
}

// checkSizes returns an error if the kernel was made for another size of field.
func checkSizes(p *problem.Problem, v *problem.Variant, a arguments, nx, ny int) error {
	if size := p.FixedProblemSize(); len(size) == 2 && (size[0] != nx || size[1] != ny) {
		return fmt.Errorf("the field has %d × %d cells, the problem %d × %d", nx, ny, size[0], size[1])
	}
	if v.Elements[a.u] != nx*ny || v.Elements[a.uNew] != nx*ny {
		return fmt.Errorf("the field has %d × %d cells, the buffers u_new and u %d and %d elements",
			nx, ny, v.Elements[a.uNew], v.Elements[a.u])
	}
	return nil
}

// TimeStep returns the constant dt of a problem as its kernel uses it; ok is false if there is no dt,
// or if it is not a plain number.
func TimeStep(p *problem.Problem) (dt float32, ok bool) {
	for _, c := range p.Definition().Constants {
		if c.Name != "dt" {
			continue
		}
		switch v := c.Number().(type) {
		case float64:
			return float32(v), true
		case int:
			return float32(v), true
		}
	}
	return 0, false
}

// stepsParameter is the parameter for the number of steps in a launch; kernels are correct for any
// number. The parameter unrolledRows must divide a number that depends on the steps, and rowsAhead the unrolled rows.
const (
	stepsParameter = "time_steps"
	unrolledRows   = "unroll_rows"
	rowsAhead      = "ahead"
)

// A stepper is a built configuration for both directions: stepper[i] reads buffers[i] and writes the other. Each has its arguments once
// for all launches.
type stepper [2]*device.Built

// build builds a configuration and launches it once. The next step overwrites what that launch wrote.
func (s *Simulation) build(c space.Configuration) (k stepper, err error) {
	defer func() {
		if err != nil {
			k.release()
		}
	}()
	described, err := device.Describe(s.launcher.Device)
	if err != nil {
		return k, err
	}
	for i := range k { // the second build comes from the driver's cache
		if k[i], err = s.launcher.BuildFor(context.Background(), s.problem, c, described); err != nil {
			return k, err
		}
		if err := checkSizes(s.problem, k[i].Variant, s.arguments, s.nx, s.ny); err != nil {
			return k, err
		}
		arguments := make([]any, len(s.buffers))
		arguments[s.arguments.u], arguments[s.arguments.uNew] = s.buffers[i], s.buffers[1-i]
		if err := k[i].Bind(arguments...); err != nil {
			return k, err
		}
	}
	event, err := s.launch(k)
	if err != nil {
		return k, err
	}
	defer event.Release()
	return k, event.Wait()
}

// launch enqueues a kernel, which reads the field and writes the other buffer.
func (s *Simulation) launch(k stepper) (*cl.Event, error) {
	return s.launcher.Enqueue(k[s.current].Launches[0])
}

// steps returns the number of time steps in a launch.
func (k stepper) steps() int { return k[0].Variant.ReferenceLaunches }

func (k stepper) release() {
	for _, built := range k {
		built.Release()
	}
}

// rest returns the kernel that makes the last steps in one launch, fewer than in the configuration.
func (s *Simulation) rest(steps int) (stepper, error) {
	if k, ok := s.rests[steps]; ok {
		return k, nil
	}
	values := map[string]space.Value{}
	names := s.problem.Parameters().Names()
	for _, name := range names {
		values[name], _ = s.configuration.Get(name)
	}
	if _, ok := values[stepsParameter]; !ok {
		return stepper{}, fmt.Errorf("%d steps are left over, and the kernel has no parameter %s to make so many in a launch", steps, stepsParameter)
	}
	values[stepsParameter] = steps
	for _, name := range []string{unrolledRows, rowsAhead} {
		if _, ok := values[name]; ok {
			values[name] = 1
		}
	}
	c, err := s.problem.Parameters().Configure(values)
	if err != nil {
		return stepper{}, err
	}
	k, err := s.build(c)
	if err != nil {
		return stepper{}, fmt.Errorf("the kernel of %d steps that are left over: %w", steps, err)
	}
	s.rests[steps] = k
	return k, nil
}
