package device

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// A Built is a variant that is built in the context of a launcher: a program and its kernels. Launches with the same arguments share
// a kernel object, so that arguments are set once and not before each launch. Release it when done.
type Built struct {
	Variant  *problem.Variant
	Launches []Launch // of one run, in order: one launch, or those of a pipeline

	session *session // whose problem it is built for
	program *cl.Program
	kernels []bound
}

// A bound is a kernel object with the launch whose arguments it has.
type bound struct {
	*cl.Kernel
	launch *problem.Launch
}

// BuildFor builds a configuration of a problem for the data of an application. The identity is that of the launcher's device.
// An error that is the configuration's own is a [Failure].
func (l *Launcher) BuildFor(ctx context.Context, p *problem.Problem, c space.Configuration, identity hardware.Device) (*Built, error) {
	v, err := Derive(p, c, identity)
	if err != nil {
		return nil, fail(tune.Constraints, "%v", err)
	}
	return l.session(p).build(ctx, v, nil)
}

// link makes the kernels of a program, which it takes over.
func (s *session) link(program *cl.Program, v *problem.Variant) (*Built, error) {
	b, made := &Built{Variant: v, session: s, program: program}, map[string]*cl.Kernel{}
	for i := range v.Launches {
		l := &v.Launches[i]
		key := fmt.Sprint(l.Kernel, l.Arguments, l.Scalars, l.LocalBytes)
		k := made[key]
		if k == nil {
			var err error
			if k, err = newKernel(program, l.Kernel, v.Source); err != nil {
				b.Release()
				return nil, err
			}
			made[key] = k
			b.kernels = append(b.kernels, bound{k, l})
		}
		b.Launches = append(b.Launches, Launch{k, l.NDRange})
	}
	return b, nil
}

// newKernel makes a kernel of a program from a text.
func newKernel(program *cl.Program, name, text string) (*cl.Kernel, error) {
	kernel, err := program.NewKernel(name)
	if err == nil {
		return kernel, nil
	}
	if !errors.Is(err, cl.InvalidKernelName) {
		return nil, fail(tune.Compile, "make the kernel %s: %v", name, err)
	}
	if slices.ContainsFunc(source.Kernels(text), func(k source.Kernel) bool { return k.Name == name && len(k.Template) > 0 }) {
		return nil, fail(tune.Compile, `%s is a template: its name needs arguments, such as kernel.name: "%[1]s<float, {block_size_x}>"`, name)
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

// Release releases the program and its kernels. It does nothing on nil.
func (b *Built) Release() {
	if b == nil {
		return
	}
	for _, k := range b.kernels {
		k.Release()
	}
	b.program.Release()
}

// check refuses kernels that take other arguments than they are given, or that the device cannot launch.
func (b *Built) check(d hardware.Device) error {
	checked := map[string]bool{}
	for _, k := range b.kernels {
		if !checked[k.launch.Kernel] {
			checked[k.launch.Kernel] = true
			if err := b.session.checkArguments(k, b.Variant); err != nil {
				return err
			}
		}
	}
	for i, l := range b.Launches {
		if i > 0 && l == b.Launches[i-1] {
			continue
		}
		if err := b.session.checkLaunch(l, b.Variant.Launches[i], d); err != nil {
			return err
		}
	}
	return nil
}

// usesLocal reports whether a kernel uses local memory, as far as the driver tells.
func (b *Built) usesLocal() bool {
	return slices.ContainsFunc(b.kernels, func(k bound) bool {
		info, err := k.WorkGroupInfo()
		return err == nil && info.LocalMem > 0
	})
}

// Bind sets the arguments of the kernels. There is an argument for each one of the problem, in order: a buffer, an image, a sampler
// or a scalar, as cl.Kernel.SetArg takes it, or nil for a scalar, local memory or an alias as the problem defines it.
func (b *Built) Bind(arguments ...any) error {
	s := b.session
	if n := len(s.infos); len(arguments) != n {
		return fmt.Errorf("run %s: %d arguments are given, the problem has %d", s.problem.KernelName(), len(arguments), n)
	}
	for _, k := range b.kernels {
		for index, i := range k.launch.Arguments {
			value := arguments[i]
			switch {
			case value != nil:
			case s.infos[i].Kind == definition.ScalarArgument:
				value = cl.Raw(k.launch.Scalars[index])
			case s.infos[i].Kind == definition.LocalArgument:
				value = cl.LocalBytes(k.launch.LocalBytes[index])
			case s.infos[i].Kind == definition.AliasArgument:
				value = arguments[s.infos[i].Buffer]
			}
			if err := k.SetArg(index, value); err != nil {
				return fmt.Errorf("%s: %w", s.argument(k.launch, index), err)
			}
		}
	}
	return nil
}

// argument names an argument of a kernel in messages.
func (s *session) argument(l *problem.Launch, index int) string {
	text := fmt.Sprintf("argument %d (%s)", index, s.infos[l.Arguments[index]].Name)
	if s.problem.IsPipeline() {
		text += " of " + l.Kernel
	}
	return text
}

// Times makes n runs, waits, and returns the time of each launch in milliseconds by the launcher's timer, 0 where its timestamps cannot be
// right. Commands that were enqueued before the launches are not part of their times.
func (b *Built) Times(n int) ([]float64, error) {
	times, err := b.session.Times(b.Launches, n)
	if err != nil {
		return nil, b.session.launchFailure(err)
	}
	return Milliseconds(times), nil
}

// believed returns the times of those runs of which all launches have one.
func (b *Built) believed(times []float64) (rest []float64) {
	for run := range slices.Chunk(times, len(b.Launches)) {
		if !slices.Contains(run, 0) {
			rest = append(rest, run...)
		}
	}
	return rest
}

// Totals returns the time of each run, from the times of the launches of some runs.
func (b *Built) Totals(times []float64) []float64 {
	var totals []float64
	for run := range slices.Chunk(times, len(b.Launches)) {
		total := 0.0
		for _, ms := range run {
			total += ms
		}
		totals = append(totals, total)
	}
	return totals
}

// Parts returns the time of each kernel of a pipeline, the sum of the medians of its launches, from the times of some runs.
func (b *Built) Parts(times []float64) []problem.Part {
	parts, index := problem.Parts(b.Variant.Launches), map[string]int{}
	for i, p := range parts {
		index[p.Kernel] = i
	}
	for j, l := range b.Variant.Launches {
		var runs []float64
		for i := j; i < len(times); i += len(b.Launches) {
			runs = append(runs, times[i])
		}
		parts[index[l.Kernel]].Time += score.StatsOf(runs).Median
	}
	return parts
}

// isCUDA reports whether the launcher's device is one of CUDA.
func (l *Launcher) isCUDA() bool { return l.Device.Platform().String() == hardware.CUDA }

// launchFailure returns the failure of a launch. A work-group that is too large for the built kernel
// is refused by the device's limits; anything else failed to run.
func (l *Launcher) launchFailure(err error) error {
	if errors.Is(err, ErrTimestamps) {
		return err
	}
	refused, ok := err.(*launchError)
	if ok && (errors.Is(err, cl.InvalidWorkGroupSize) || errors.Is(err, cl.InvalidWorkItemSize) || errors.Is(err, cl.OutOfResources)) {
		items := refused.launch.Range.WorkItems()
		if info, e := refused.launch.Kernel.WorkGroupInfo(); e == nil && info.MaxSize > 0 && items > info.MaxSize {
			reason := fmt.Sprintf("work-group of %d work-items > the built kernel's limit %d (registers or private memory): %v", items, info.MaxSize, refused.err)
			if l.isCUDA() {
				reason += fmt.Sprintf("; with __launch_bounds__(%d), the compiler uses fewer registers", items)
			}
			return fail(tune.Constraints, "%s", reason)
		}
	}
	return fail(tune.Runtime, "%v", err)
}
