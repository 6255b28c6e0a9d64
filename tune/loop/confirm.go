package loop

import (
	"context"
	"fmt"
	"time"

	"github.com/ndtune/ndtune/tune"
)

// Before the best is named, it is launched up to confirmLaunches times again, and each output is compared, within the longer one of
// confirmTime and confirmShare of the time of the search. If a kernel errs in one launch of twelve, 60 launches show it with 99.5 %.
const (
	confirmLaunches = 60
	confirmTime     = 2 * time.Second
	confirmShare    = 0.02
)

// confirmBest confirms that the best is right in every launch. One that is not becomes a failure, and the next best is confirmed.
// Finalists whose final measurement failed are confirmed as well, so that one whose output was wrong there does not stay correct.
func (r *run) confirmBest(ctx context.Context) error {
	if r.prober == nil {
		return nil
	}
	for i := range r.outcome.Results {
		if result := &r.outcome.Results[i]; result.FinalFailure != "" && result.Verified && len(result.Final) == 0 && result.Compared == 0 {
			if err := r.confirm(ctx, i); err != nil {
				return err
			}
		}
	}
	for r.outcome.Stop != tune.Interrupted {
		ranked := tune.Rank(r.problem.Objective(), r.outcome.Results).Indices
		if len(ranked) == 0 {
			return nil
		}
		best := &r.outcome.Results[ranked[0]]
		if !best.Verified || best.Compared > 0 {
			return r.doubtLoneReference()
		}
		if err := r.confirm(ctx, ranked[0]); err != nil {
			return err
		}
		if best.Status == tune.Correct && r.outcome.Stop != tune.Interrupted {
			return r.doubtLoneReference()
		}
	}
	return nil
}

// confirm launches a configuration again and compares each output. A slow launch, or a failure that the environment may have caused, proves
// nothing against it.
func (r *run) confirm(ctx context.Context, i int) error {
	result := &r.outcome.Results[i]
	within := max(confirmTime, time.Duration(confirmShare*float64(time.Since(r.started))))
	again, err := r.prober.Probe(ctx, result.Configuration, tune.Retest{Launches: confirmLaunches, Within: within})
	switch {
	case ctx.Err() != nil:
		r.outcome.Stop = tune.Interrupted
		return nil
	case err != nil:
		return fmt.Errorf("launch %s again: %w", result.Configuration, err)
	case again.Status == tune.Correct, again.Status == tune.Timeout, again.Doubt != "":
		result.Compared = again.Compared
		if again.Compared < confirmLaunches {
			why := fmt.Sprintf("%d launches take too long", confirmLaunches)
			if again.Status != tune.Correct {
				why = failureText(again)
			}
			r.outcome.Warnings = append(r.outcome.Warnings, fmt.Sprintf("%s was launched again, and its output was right, %d times: %s.",
				result.Configuration, again.Compared, why))
		}
		return nil
	}
	return r.depose(i, again.Status, again.Reason)
}

// depose makes a failure of a correct result.
func (r *run) depose(i int, status tune.Status, reason string) error {
	old := r.outcome.Results[i]
	r.outcome.Results[i] = tune.Result{
		Configuration: old.Configuration, Status: status, Reason: reason, Device: old.Device, Durations: old.Durations, Timestamp: time.Now(),
	}
	failed := r.outcome.Results[i]
	r.outcome.Warnings = append(r.outcome.Warnings, fmt.Sprintf("%s was among the best, and has left: %s", old.Configuration, failureText(failed)))
	if log := r.options.Log; log != nil {
		if err := log.Withdraw(old); err != nil {
			return fmt.Errorf("take back the result of %s: %w", old.Configuration, err)
		}
		if err := log.Append(failed); err != nil {
			return fmt.Errorf("keep the result of %s: %w", old.Configuration, err)
		}
	}
	return nil
}

// doubtLoneReference makes a failure of a kernel that is its own reference, if others were launched and none of them agrees with it.
func (r *run) doubtLoneReference() error {
	if !r.problem.VerifiesItself() {
		return nil
	}
	_, own, _ := r.problem.Reference()
	lone, differing := -1, -1
	for i := range r.outcome.Results {
		switch result := &r.outcome.Results[i]; {
		case result.Status == tune.Correctness && differing < 0:
			differing = i
		case result.Status != tune.Correct:
		case lone >= 0 || result.Configuration.Key() != own.Key():
			return nil
		default:
			lone = i
		}
	}
	if lone < 0 || differing < 0 {
		return nil
	}
	other := r.outcome.Results[differing]
	return r.depose(lone, tune.Correctness, fmt.Sprintf(
		"it is its own reference, and no other configuration agrees with it: nobody knows which is right. %s: %s", other.Configuration, other.Reason))
}
