package device

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
)

// A sequence is the built launches of a variant: one, or those of a pipeline. Launches with the same
// arguments share a kernel object, so that arguments are set once and not before each launch.
type sequence struct {
	variant  *problem.Variant
	kernels  []bound
	launches []Launch
}

// A bound is a kernel object with the launch whose arguments it has.
type bound struct {
	*cl.Kernel
	launch *problem.Launch
}

// sequence makes the kernels of a variant.
func (s *session) sequence(program *cl.Program, v *problem.Variant) (*sequence, error) {
	q, made := &sequence{variant: v}, map[string]*cl.Kernel{}
	for i := range v.Launches {
		l := &v.Launches[i]
		key := fmt.Sprint(l.Kernel, l.Arguments, l.Scalars, l.LocalBytes)
		k := made[key]
		if k == nil {
			var err error
			if k, err = newKernel(program, l.Kernel); err != nil {
				q.release()
				return nil, err
			}
			made[key] = k
			q.kernels = append(q.kernels, bound{k, l})
		}
		q.launches = append(q.launches, Launch{k, l.NDRange})
	}
	return q, nil
}

// newKernel makes a kernel of a program.
func newKernel(program *cl.Program, name string) (*cl.Kernel, error) {
	kernel, err := program.NewKernel(name)
	if err == nil {
		return kernel, nil
	}
	if !errors.Is(err, cl.InvalidKernelName) {
		return nil, fail(tune.Compile, "make the kernel %s: %v", name, err)
	}
	names, _ := program.KernelNames()
	if len(names) == 0 {
		return nil, fail(tune.Compile, "the source has no kernel named %s", name)
	}
	if slices.Contains(names, name) { // PoCL and Oclgrind link late
		return nil, fail(tune.Compile, "make the kernel %s: %v: it may call a function that the device does not have", name, err)
	}
	return nil, fail(tune.Compile, "the source has no kernel named %s; it has %s", name, strings.Join(names, ", "))
}

// release releases the kernels. It does nothing on nil.
func (q *sequence) release() {
	if q == nil {
		return
	}
	for _, k := range q.kernels {
		k.Release()
	}
}

// check refuses kernels that take other arguments than they are given, or that the device cannot launch.
func (s *session) check(q *sequence, d hardware.Device) error {
	checked := map[string]bool{}
	for _, k := range q.kernels {
		if !checked[k.launch.Kernel] {
			checked[k.launch.Kernel] = true
			if err := s.checkArguments(k, q.variant); err != nil {
				return err
			}
		}
	}
	for i, l := range q.launches {
		if i > 0 && l == q.launches[i-1] {
			continue
		}
		if err := s.checkLaunch(l, q.variant.Launches[i], d); err != nil {
			return err
		}
	}
	return nil
}

// setArguments hands the kernels their buffers, scalars and local memory.
func (s *session) setArguments(q *sequence) error {
	for _, k := range q.kernels {
		err := k.set(s.infos, func(i int) any {
			switch s.infos[i].Kind {
			case problem.BufferArgument:
				return s.buffers[i].working
			case problem.ImageArgument:
				return s.buffers[i].image
			case problem.SamplerArgument:
				return s.samplers[i]
			}
			return nil
		})
		if failed, ok := err.(*argumentError); ok {
			return fail(tune.Compile, "%s: %v", s.argument(k.launch, failed.place), failed.err)
		}
	}
	return nil
}

// set sets the arguments of a kernel: those that given returns, by their place in the problem, and the
// problem's own scalars and local memory where that is nil. Its error is an argumentError.
func (k *bound) set(infos []problem.ArgumentInfo, given func(i int) any) error {
	for place, i := range k.launch.Arguments {
		value := given(i)
		switch {
		case value != nil:
		case infos[i].Kind == problem.ScalarArgument:
			value = cl.Raw(k.launch.Scalars[place])
		case infos[i].Kind == problem.LocalArgument:
			value = cl.LocalBytes(k.launch.LocalBytes[place])
		}
		if err := k.SetArg(place, value); err != nil {
			return &argumentError{place, err}
		}
	}
	return nil
}

// An argumentError says that a kernel does not take an argument.
type argumentError struct {
	place int
	err   error
}

func (e *argumentError) Error() string { return e.err.Error() }

// argument names an argument of a kernel in messages.
func (s *session) argument(l *problem.Launch, place int) string {
	text := fmt.Sprintf("argument %d (%s)", place, s.infos[l.Arguments[place]].Name)
	if s.problem.IsPipeline() {
		text += " of " + l.Kernel
	}
	return text
}

// times makes the launches n times and returns the times of all launches in milliseconds by the session's
// timer. Commands enqueued before the launches are not part of their times.
func (s *session) times(q *sequence, n int) ([]float64, error) {
	times, err := s.Times(q.launches, n)
	if err != nil {
		return nil, s.launchFailure(err)
	}
	return Milliseconds(times), nil
}

// totals adds the times of the launches of each run.
func (q *sequence) totals(times []float64) []float64 {
	var totals []float64
	for run := range slices.Chunk(times, len(q.launches)) {
		total := 0.0
		for _, ms := range run {
			total += ms
		}
		totals = append(totals, total)
	}
	return totals
}

// parts returns the mean times of each kernel, from the times of all launches of some runs.
func (q *sequence) parts(times []float64) []problem.Part {
	parts, place := problem.Parts(q.variant.Launches), map[string]int{}
	for i, p := range parts {
		place[p.Kernel] = i
	}
	runs := float64(len(times) / len(q.launches))
	for i, ms := range times {
		parts[place[q.variant.Launches[i%len(q.launches)].Kernel]].Time += ms / runs
	}
	return parts
}

// launchFailure returns the failure of a launch. A work-group that is too large for the built kernel
// is refused by the device's limits; anything else failed to run.
func (s *session) launchFailure(err error) error {
	refused, ok := err.(*launchError)
	if ok && (errors.Is(err, cl.InvalidWorkGroupSize) || errors.Is(err, cl.InvalidWorkItemSize) || errors.Is(err, cl.OutOfResources)) {
		items := refused.launch.Range.WorkItems()
		if info, e := refused.launch.Kernel.WorkGroupInfo(s.Device); e == nil && info.MaxSize > 0 && items > info.MaxSize {
			return fail(tune.Constraints, "work-group of %d work-items > the built kernel's limit %d (registers or private memory): %v", items, info.MaxSize, refused.err)
		}
	}
	return fail(tune.Runtime, "%v", err)
}
