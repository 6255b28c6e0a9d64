package device

import (
	"context"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// Remeasure implements tune.Remeasurer: all configurations are built and launched once
// first, then timed in turn, round by round.
func (e *Evaluator) Remeasure(ctx context.Context, configurations []space.Configuration, rounds int) ([][]float64, error) {
	times := make([][]float64, len(configurations))
	trials := make([]*trial, len(configurations))
	defer func() {
		for _, t := range trials {
			if t != nil {
				t.release()
			}
		}
	}()
	for i, c := range configurations {
		t := &trial{session: e.session, references: e.references, problem: e.problem, device: e.identity, result: tune.Result{Configuration: c}}
		trials[i] = t
		for _, stage := range []func(context.Context) error{t.derive, t.build, t.bind, t.launchFirst} {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := stage(ctx); err != nil {
				if _, own := err.(*failure); !own {
					return nil, err
				}
				t.release()
				trials[i] = nil
				break
			}
		}
	}
	for range rounds {
		for i, t := range trials {
			if t == nil {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			elapsed, err := t.again()
			if err != nil {
				t.release()
				trials[i], times[i] = nil, nil
				continue
			}
			times[i] = append(times[i], elapsed)
		}
	}
	return times, nil
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
		if info.Kind == tune.BufferArgument && s.buffers[i].elements != v.Elements[i] {
			return s.prepare(v)
		}
	}
	return s.restore(true)
}
