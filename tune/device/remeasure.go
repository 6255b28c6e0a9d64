package device

import (
	"context"
	"errors"
	"fmt"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// Remeasure implements tune.Remeasurer: all configurations are built and launched once
// first, then timed in turn, round by round.
func (e *Evaluator) Remeasure(ctx context.Context, configurations []space.Configuration, rounds int) ([][]float64, error) {
	if e.session == nil {
		return nil, errClosed
	}
	r := &remeasurement{evaluator: e, configurations: configurations, failed: make([]bool, len(configurations))}
	for {
		err := r.measure(ctx, rounds)
		r.release()
		if err != errReplaced {
			return r.times, err
		}
	}
}

// errReplaced says that a failed launch took the session with it, and every kernel that was
// built in it.
var errReplaced = errors.New("the session was replaced")

// A remeasurement is an interleaved measurement. A configuration that fails is left out.
type remeasurement struct {
	evaluator      *Evaluator
	configurations []space.Configuration
	failed         []bool
	trials         []*trial // nil where failed
	times          [][]float64
}

// measure builds and times all that have not failed. With errReplaced it can be called
// again, and has one less to measure.
func (r *remeasurement) measure(ctx context.Context, rounds int) error {
	r.trials = make([]*trial, len(r.configurations))
	r.times = make([][]float64, len(r.configurations))
	for i := range r.configurations {
		if r.failed[i] {
			continue
		}
		if err := r.open(ctx, i); err != nil {
			return err
		}
	}
	for range rounds {
		for i, t := range r.trials {
			if t == nil {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			elapsed, err := t.again()
			if err != nil {
				if err := r.fail(i, err); err != nil {
					return err
				}
				continue
			}
			r.times[i] = append(r.times[i], elapsed)
		}
	}
	return nil
}

// open builds configuration i and launches it once.
func (r *remeasurement) open(ctx context.Context, i int) error {
	e := r.evaluator
	t := &trial{session: e.session, references: e.references, problem: e.problem, device: e.identity, result: tune.Result{Configuration: r.configurations[i]}}
	r.trials[i] = t
	for _, stage := range []func(context.Context) error{t.derive, t.build, t.bind, t.launchFirst} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := stage(ctx); err != nil {
			return r.fail(i, err)
		}
	}
	return nil
}

// fail leaves configuration i out. The error says that the others cannot simply go on.
func (r *remeasurement) fail(i int, err error) error {
	if _, own := err.(*failure); !own {
		return err
	}
	r.trials[i].release()
	r.trials[i], r.times[i], r.failed[i] = nil, nil, true
	replaced, err := r.evaluator.recover()
	if err != nil {
		return fmt.Errorf("the device cannot be used any more after %s failed: %w", r.configurations[i], err)
	}
	if replaced {
		return errReplaced
	}
	return nil
}

func (r *remeasurement) release() {
	for _, t := range r.trials {
		if t != nil {
			t.release()
		}
	}
}

// again launches the trial's kernel once more, on buffers as every launch finds them. The
// arguments are set anew: a configuration with other sizes may have replaced the buffers.
func (t *trial) again() (float64, error) {
	if err := t.session.prepareAgain(t.variant); err != nil {
		return 0, err
	}
	if err := t.session.setArguments(t.kernel, t.variant); err != nil {
		return 0, err
	}
	return t.session.launch(t.kernel, t.variant.NDRange, false)
}

// prepareAgain prepares the buffers where their sizes changed, and else restores only
// those that every launch must find so.
func (s *session) prepareAgain(v *tune.Variant) error {
	for i, info := range s.infos {
		if info.Kind == tune.BufferArgument && (s.buffers[i] == nil || s.buffers[i].elements != v.Elements[i]) {
			return s.prepare(v)
		}
	}
	return s.restore(true)
}
