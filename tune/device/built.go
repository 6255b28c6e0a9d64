package device

import (
	"context"
	"fmt"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// A Built is a variant that is built for the data of an application, in the context of its launcher. Release it
// when done.
type Built struct {
	Variant *problem.Variant

	session  *session // of the launcher, without buffers
	program  *cl.Program
	sequence *sequence
}

// BuildFor builds a configuration of a problem. The identity is that of the launcher's device. [FailureOf] tells
// whether an error is the configuration's own.
func (l *Launcher) BuildFor(ctx context.Context, p *problem.Problem, c space.Configuration, identity hardware.Device) (*Built, error) {
	v, err := Derive(p, c, identity)
	if err != nil {
		return nil, fail(tune.Constraints, "%v", err)
	}
	s := l.session(p.At(c))
	program, q, err := s.build(ctx, v, nil)
	if err != nil {
		return nil, err
	}
	return &Built{v, s, program, q}, nil
}

// Run launches the kernel, or all kernels of a pipeline, waits, and returns the time of each launch in
// milliseconds. There is an argument for each one of the problem, in order: a buffer, an image, a sampler or a
// scalar, as cl.Kernel.SetArg takes it, or nil for a scalar or local memory as the problem defines it.
func (b *Built) Run(arguments ...any) ([]float64, error) {
	if n := len(b.session.infos); len(arguments) != n {
		return nil, fmt.Errorf("run %s: %d arguments are given, the problem has %d", b.session.problem.KernelName(), len(arguments), n)
	}
	for _, k := range b.sequence.kernels {
		err := k.set(b.session.infos, func(i int) any { return arguments[i] })
		if failed, ok := err.(*argumentError); ok {
			return nil, fmt.Errorf("%s: %w", b.session.argument(k.launch, failed.place), failed.err)
		}
	}
	return b.session.times(b.sequence, 1)
}

// Totals returns the times of whole runs, and Parts those of the kernels of a pipeline, from the times of the
// launches of some runs.
func (b *Built) Totals(times []float64) []float64 { return b.sequence.totals(times) }

// Parts returns the mean times of each kernel: see [Built.Totals].
func (b *Built) Parts(times []float64) []problem.Part { return b.sequence.parts(times) }

// Release releases the program and its kernels. It does nothing on nil.
func (b *Built) Release() {
	if b != nil {
		b.sequence.release()
		b.program.Release()
	}
}

// FailureOf returns the status and the reason of an error that is a configuration's own failure.
func FailureOf(err error) (status tune.Status, reason string, ok bool) {
	failed, ok := err.(*failure)
	if !ok {
		return "", "", false
	}
	return failed.status, failed.reason, true
}
