package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// Cards implements tune.Remeasurer.
func (e *Evaluator) Cards(context.Context) ([]string, error) { return []string{""}, nil }

// Remeasure implements tune.Remeasurer: all configurations are built and launched once
// first, then timed or observed in turn, round by round.
func (e *Evaluator) Remeasure(ctx context.Context, _ string, configurations []space.Configuration, rounds int, observe bool) ([]tune.Turns, error) {
	return e.RemeasureWith(ctx, configurations, RemeasureOptions{Rounds: rounds, Observe: observe})
}

// RemeasureOptions say how configurations are measured in turn.
type RemeasureOptions struct {
	Rounds  int
	Observe bool
	Singly  bool // each launch is waited for, even where a round could be enqueued together

	// Binaries are the programs of the configurations, as in [Prebuilt]; nil: none is known.
	Binaries [][]byte

	// Turn, where it is not nil, is told the index of the configuration that is built or
	// launched next, or -1 before a round of all together.
	Turn func(index int)
}

// RemeasureWith is Remeasure with options.
func (e *Evaluator) RemeasureWith(ctx context.Context, configurations []space.Configuration, o RemeasureOptions) ([]tune.Turns, error) {
	if e.session == nil {
		return nil, errClosed
	}
	if o.Turn == nil {
		o.Turn = func(int) {}
	}
	r := &remeasurement{evaluator: e, options: o, configurations: configurations, turns: make([]tune.Turns, len(configurations))}
	for {
		err := r.measure(ctx)
		r.release()
		if err == nil {
			return r.turns, nil
		}
		if err != errReplaced {
			return nil, err
		}
	}
}

// errReplaced says that a failed launch took the session with it, and every kernel that was
// built in it.
var errReplaced = errors.New("the session was replaced")

// A remeasurement measures configurations in turn. A configuration that fails is left out.
type remeasurement struct {
	evaluator      *Evaluator
	options        RemeasureOptions
	configurations []space.Configuration
	trials         []*trial // nil where failed
	turns          []tune.Turns
}

// measure builds and times all that have not failed. With errReplaced it can be called
// again, and has one less to measure.
func (r *remeasurement) measure(ctx context.Context) error {
	r.trials = make([]*trial, len(r.configurations))
	for i, c := range r.configurations {
		if r.turns[i].Reason != "" {
			continue
		}
		r.turns[i] = tune.Turns{} // of a session that was replaced
		r.options.Turn(i)
		t := r.evaluator.trial(c)
		if r.options.Binaries != nil {
			t.known.Binary = r.options.Binaries[i]
		}
		r.trials[i] = t
		if err := r.take(i, nil, t.through(ctx, t.derive, t.build, t.bind, t.launchFirst)); err != nil {
			return err
		}
	}
	round := r.launchSingly
	if !r.options.Singly && !r.options.Observe && r.batchable() {
		round = r.launchBatch
	}
	if err := r.evaluator.supervisor.Timing(ctx, 0); err != nil {
		return err
	}
	for n := 0; n < r.options.Rounds; n++ {
		if err := round(ctx, n); err != nil {
			return err
		}
		if live := r.live(); slices.ContainsFunc(live, func(i int) bool { return len(r.turns[i].Times) <= n }) {
			for _, i := range live { // the round is repeated, because a timestamp was wrong
				r.turns[i].Times = r.turns[i].Times[:n]
			}
			n--
		}
	}
	return r.verify(ctx)
}

// verify launches each configuration once more, and leaves out those whose output is wrong.
func (r *remeasurement) verify(ctx context.Context) error {
	if !r.evaluator.problem.Verified() || r.options.Observe {
		return nil
	}
	for _, i := range r.live() {
		r.options.Turn(i)
		t := r.trials[i]
		if err := r.take(i, nil, t.through(ctx, t.expect, func(ctx context.Context) error { return t.rerun(ctx, 1) })); err != nil {
			return err
		}
	}
	return nil
}

// batchable reports whether a round can be enqueued without waiting, under the same rule
// as the launches of one configuration in the search, so that the times are of one kind.
func (r *remeasurement) batchable() bool {
	s := r.evaluator.session
	live := r.live()
	return s.batches() && !slices.ContainsFunc(live, func(i int) bool {
		t, first := r.trials[i], r.trials[live[0]].variant
		return t.first > batchable || len(t.variant.Settings) > 0 || !slices.Equal(t.variant.Elements, first.Elements)
	})
}

// launchBatch enqueues one run of each configuration and reads their times afterwards.
// Round n begins with the configuration n, counted around: the device was idle before the
// first launch of a round, and that must not always meet the same one.
func (r *remeasurement) launchBatch(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s := r.evaluator.session
	events := make([]Batch, len(r.trials))
	defer func() {
		for _, batch := range events {
			batch.Release()
		}
	}()
	live := r.live()
	r.options.Turn(-1)
	r.evaluator.supervisor.Begin(StageMeasure, len(live))
	began := time.Now()
	for j := range live {
		i := live[(n+j)%len(live)]
		t := r.trials[i]
		var err error
		if events[i], err = s.EnqueueAll(t.built.Launches); err != nil {
			if err := r.take(i, nil, s.launchFailure(err)); err != nil {
				return err
			}
		}
	}
	for i, batch := range events {
		if r.trials[i] == nil {
			continue
		}
		times, err := s.Timed(batch, began)
		if err != nil {
			err = s.launchFailure(err)
		}
		built := r.trials[i].built
		if err := r.take(i, built.Totals(built.believed(Milliseconds(times))), err); err != nil {
			return err
		}
	}
	return nil
}

// live are the indices of the configurations that have not failed.
func (r *remeasurement) live() []int {
	return each.Indices(r.trials, func(t *trial) bool { return t != nil })
}

// launchSingly launches each configuration and waits for it. Configurations with the same settings of the device follow one another.
func (r *remeasurement) launchSingly(ctx context.Context, _ int) error {
	live := r.live()
	slices.SortStableFunc(live, func(i, j int) int {
		return slices.CompareFunc(r.trials[i].variant.Settings, r.trials[j].variant.Settings,
			func(a, b hardware.Setting) int { return cmp.Compare(a.Value, b.Value) })
	})
	for _, i := range live {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.options.Turn(i)
		r.evaluator.supervisor.Begin(StageMeasure, 1)
		times, err := r.trials[i].again(ctx)
		if err == nil && r.options.Observe && len(times) > 0 {
			err = r.observe(ctx, i, times)
		}
		if err := r.take(i, times, err); err != nil {
			return err
		}
	}
	return nil
}

// observe observes configuration i, whose last launch took some times.
func (r *remeasurement) observe(ctx context.Context, i int, times []float64) error {
	t := r.trials[i]
	t.result.Times, t.result.Readings = times, nil
	err := t.observe(ctx)
	if err == nil {
		r.turns[i].Readings = append(r.turns[i].Readings, t.result.Readings)
	}
	return err
}

// take keeps times of configuration i, or leaves it out because of an error. The error that it
// returns says that the others cannot simply go on.
func (r *remeasurement) take(i int, times []float64, err error) error {
	if err == nil {
		r.turns[i].Times = append(r.turns[i].Times, times...)
		return nil
	}
	if _, own := err.(*Failure); !own {
		return err
	}
	r.trials[i].release()
	r.trials[i], r.turns[i] = nil, tune.Turns{Reason: err.Error()}
	replaced, err := r.evaluator.recover()
	if err != nil {
		return &LostError{fmt.Errorf("the device cannot be used any more after %s failed: %w", r.configurations[i], err)}
	}
	if replaced {
		return errReplaced
	}
	return nil
}

func (r *remeasurement) release() {
	for _, i := range r.live() {
		r.trials[i].release()
	}
}

// again runs the trial's launches once more, on buffers as every launch finds them. The
// arguments are set anew: a configuration with other sizes may have replaced the buffers. Then one run
// warms up, as in the search: the new buffers are not in the caches.
func (t *trial) again(ctx context.Context) ([]float64, error) {
	replaced, err := t.session.prepareAgain(t.variant)
	if err != nil {
		return nil, err
	}
	if err := t.session.setArguments(t.built); err != nil {
		return nil, err
	}
	if replaced {
		if _, err := t.built.Times(1); err != nil {
			return nil, err
		}
	}
	changed, err := t.set(ctx)
	if err != nil {
		return nil, err
	}
	if replaced || changed {
		if err := t.session.restore(true); err != nil {
			return nil, err
		}
		t.supervisor.Begin(StageMeasure, 1)
	}
	if err := t.session.evict(); err != nil {
		return nil, err
	}
	times, err := t.built.Times(1)
	return t.built.Totals(t.built.believed(times)), err
}
