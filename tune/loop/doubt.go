package loop

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// manyAlike is the number of configurations that fail alike in a row, after a success, which raises a
// doubt. Each time the configurations prove to be the cause, the number doubles for failures of this
// cause.
const manyAlike = 8

// doubts are the failures of a run that the environment may have caused.
type doubts struct {
	held     []tune.Result  // in doubt: not in the log, and not told to the strategy
	recent   []tune.Result  // failures recorded since the last success or probe
	cause    string         // of the last of recent
	alike    int            // number of failures in a row with this cause
	patience map[string]int // the limit of alike, by cause
}

// hold reports whether a result is in doubt, and holds it if it is. The argument proven tells whether
// any configuration is known to be correct.
func (d *doubts) hold(r tune.Result, proven bool) bool {
	switch {
	case r.Status == tune.Constraints:
		return false
	case r.Status == tune.Correct:
		if len(d.held) == 0 { // else it may have begun before the doubtful ones
			d.clear()
		}
		return false
	case r.Doubt != "", len(d.held) > 0:
		d.held = append(d.held, r)
		return true
	}
	cause := tune.CauseOf(r.Status, r.Reason)
	if cause != d.cause {
		d.cause, d.alike = cause, 0
	}
	if d.alike++; proven && d.alike >= max(manyAlike, d.patience[cause]) {
		d.held = append(d.held, r)
		return true
	}
	d.recent = append(d.recent, r)
	return false
}

// clear forgets failures that the configurations are known to have caused.
func (d *doubts) clear() {
	d.recent, d.cause, d.alike = nil, "", 0
}

// cleared is clear after a successful probe: it also doubles the limit for the cause.
func (d *doubts) cleared() {
	if d.alike > 0 {
		if d.patience == nil {
			d.patience = map[string]int{}
		}
		d.patience[d.cause] = 2 * max(manyAlike, d.patience[d.cause])
	}
	d.clear()
}

// text describes the cause of the doubt.
func (d *doubts) text() string {
	for _, r := range d.held {
		if r.Doubt != "" {
			return fmt.Sprintf("%s (at %s, %s)", r.Doubt, r.Configuration, failureText(r))
		}
	}
	last := d.held[0]
	return fmt.Sprintf("%d configurations in a row failed alike (last %s, %s)", d.alike, last.Configuration, failureText(last))
}

// failureText returns the status of a failure with the line of its reason that raises a doubt, or
// with its [tune.Headline].
func failureText(r tune.Result) string {
	line := tune.Headline(r.Status, r.Reason)
	for l := range strings.Lines(r.Reason) {
		if tune.DoubtOf(l) != "" {
			line = strings.TrimSpace(l)
			break
		}
	}
	on := ""
	if r.Device != "" {
		on = " on " + r.Device
	}
	return string(r.Status) + on + ": " + line
}

// settle decides about the failures in doubt, while the evaluator holds nothing else. It evaluates the
// best configuration again. If that fails, the environment is the cause, and the run stops. Else the
// failures stand. But if the reason of one names the environment, the fault may have passed meanwhile,
// and each of them is evaluated again first.
func (r *run) settle(ctx context.Context) error {
	d := &r.doubts
	named := slices.ContainsFunc(d.held, func(f tune.Result) bool { return f.Doubt != "" })
	if fine, err := r.probe(ctx); !fine || err != nil {
		return err
	}
	for len(d.held) > 0 {
		result := d.held[0]
		if named {
			again, err := r.alone(ctx, result.Configuration)
			if err != nil || r.outcome.Stop != "" {
				return err
			}
			switch again.Doubt {
			case "":
			case tune.NoSpace: // no other configuration would fare better
				d.held[0] = again
				return r.blame(d.text())
			default:
				if fine, err := r.probe(ctx); !fine || err != nil {
					return err
				}
			}
			result = again
		}
		d.held = d.held[1:]
		switch {
		case result.Status == tune.Correct:
			d.clear()
		case r.good == nil:
			d.recent = append(d.recent, result) // nothing could be probed
		default:
			result.Doubt = ""
		}
		i, _ := r.space.Index(result.Configuration)
		if err := r.record(i, result); err != nil || r.outcome.Stop != "" {
			return err
		}
	}
	return nil
}

// probe evaluates the best configuration again, and stops the run if it fails. If none is correct,
// probe does nothing and returns true.
func (r *run) probe(ctx context.Context) (fine bool, err error) {
	if r.good == nil {
		return true, nil
	}
	result, err := r.alone(ctx, r.good.Configuration)
	switch {
	case err != nil || r.outcome.Stop != "":
		return false, err
	case result.Status == tune.Correct:
		r.doubts.cleared()
		return true, nil
	}
	return false, r.blame(fmt.Sprintf("%s; and %s, which was correct before, was evaluated once more and failed too (%s)",
		r.doubts.text(), result.Configuration, failureText(result)))
}

// alone evaluates a configuration again, and no other at the same time. It returns a zero result if
// the run has stopped.
func (r *run) alone(ctx context.Context, c space.Configuration) (tune.Result, error) {
	if r.isOver(ctx) {
		return tune.Result{}, nil
	}
	var result tune.Result
	var err error
	if r.prober != nil {
		result, err = r.prober.Probe(ctx, c, tune.Retest{})
	} else {
		result, err = tune.EvaluateOne(ctx, r.evaluator, c)
	}
	switch {
	case ctx.Err() != nil:
		r.stop(tune.Interrupted)
		return tune.Result{}, nil
	case err != nil:
		return tune.Result{}, fmt.Errorf("evaluate %s once more, since %s: %w", c, r.doubts.text(), err)
	}
	r.judge(&result)
	return result, nil
}

// blame stops the run because of its environment. It withdraws the earlier failures that nothing has
// confirmed.
func (r *run) blame(cause string) error {
	r.outcome.Stop, r.outcome.Cause = tune.Environment, cause
	for _, failure := range r.doubts.recent {
		if r.options.Log != nil {
			if err := r.options.Log.Withdraw(failure); err != nil {
				return fmt.Errorf("%s; take back the failure of %s: %w", cause, failure.Configuration, err)
			}
		}
		r.outcome.Results = slices.DeleteFunc(r.outcome.Results, func(kept tune.Result) bool {
			return kept.Configuration.Key() == failure.Configuration.Key()
		})
		r.outcome.Withdrawn++
	}
	r.doubts.recent = nil
	return nil
}

// failures detects a run in which everything fails for one reason.
type failures struct {
	limit int
	cause string // of all so far
	first tune.Result
	count int
	over  bool // something succeeded, or failed for another reason
}

// add adds a result. Once limit results all have one cause, it returns a description of the cause.
func (f *failures) add(r tune.Result) string {
	// A configuration that the device cannot run costs nothing and says nothing of others.
	if f.over || r.Status == tune.Constraints {
		return ""
	}
	cause := tune.CauseOf(r.Status, r.Reason)
	if r.Status == tune.Correct || (f.count > 0 && cause != f.cause) {
		f.over = true
		return ""
	}
	if f.count == 0 {
		f.cause, f.first = cause, r
	}
	if f.count++; f.count < f.limit {
		return ""
	}
	return fmt.Sprintf("the first %d configurations all failed for one reason (%s, at %s): %s",
		f.count, f.first.Status, f.first.Configuration, f.first.Reason)
}
