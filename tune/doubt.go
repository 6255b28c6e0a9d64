package tune

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/space"
)

// A Doubt is a reason why the environment, not the configuration, may have caused a failure.
type Doubt string

// The doubts.
const (
	NoSpace    Doubt = "a disk has no space left"
	HostMemory Doubt = "the host is out of memory"
	Killed     Doubt = "a worker was ended by a signal that ndtune did not send"
)

// doubtTexts are texts that operating systems, compilers and drivers print, in lower case.
var doubtTexts = []struct {
	text  string
	doubt Doubt
}{
	{"no space left on device", NoSpace},
	{"disk quota exceeded", NoSpace},
	{"not enough space on the disk", NoSpace},
	{"cl_out_of_host_memory", HostMemory},
	{"cannot allocate memory", HostMemory},
	{"std::bad_alloc", HostMemory},
	{"llvm error: out of memory", HostMemory},
}

// DoubtOf returns the doubt that the reason of a failure raises, or "".
func DoubtOf(reason string) Doubt {
	reason = strings.ToLower(reason)
	for _, t := range doubtTexts {
		if strings.Contains(reason, t.text) {
			return t.doubt
		}
	}
	return ""
}

// manyAlike is the number of configurations that fail alike in a row, after a success, which raises a
// doubt. Each time the configurations prove to be the cause, the number doubles for failures of this
// cause.
const manyAlike = 8

// doubts are the failures of a run that the environment may have caused.
type doubts struct {
	held     []Result       // in doubt: not in the log, and not told to the strategy
	recent   []Result       // failures recorded since the last success or probe
	cause    string         // of the last of recent
	alike    int            // number of failures in a row with this cause
	patience map[string]int // the limit of alike, by cause
}

// hold reports whether a result is in doubt, and holds it if it is. The argument proven tells whether
// any configuration is known to be correct.
func (d *doubts) hold(r Result, proven bool) bool {
	switch {
	case r.Status == Constraints:
		return false
	case r.Status == Correct:
		if len(d.held) == 0 { // else it may have begun before the doubtful ones
			d.clear()
		}
		return false
	case r.Doubt != "", len(d.held) > 0:
		d.held = append(d.held, r)
		return true
	}
	cause := CauseOf(r.Status, r.Reason)
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
// with its [Headline].
func failureText(r Result) string {
	line := Headline(r.Status, r.Reason)
	for l := range strings.Lines(r.Reason) {
		if DoubtOf(l) != "" {
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
	named := slices.ContainsFunc(d.held, func(f Result) bool { return f.Doubt != "" })
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
			case NoSpace: // no other configuration would fare better
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
		case result.Status == Correct:
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
	case result.Status == Correct:
		r.doubts.cleared()
		return true, nil
	}
	return false, r.blame(fmt.Sprintf("%s; and %s, which was correct before, was evaluated once more and failed too (%s)",
		r.doubts.text(), result.Configuration, failureText(result)))
}

// alone evaluates a configuration again, and no other at the same time. It returns a zero result if
// the run has stopped.
func (r *run) alone(ctx context.Context, c space.Configuration) (Result, error) {
	if r.isOver(ctx) {
		return Result{}, nil
	}
	result, err := EvaluateAgain(ctx, r.evaluator, c, Retest{})
	switch {
	case ctx.Err() != nil:
		r.stop(Interrupted)
		return Result{}, nil
	case err != nil:
		return Result{}, fmt.Errorf("evaluate %s once more, since %s: %w", c, r.doubts.text(), err)
	}
	r.judge(&result)
	return result, nil
}

// EvaluateAgain evaluates one configuration as [Prober] says, if the evaluator is one, or once more.
func EvaluateAgain(ctx context.Context, e Evaluator, c space.Configuration, again Retest) (Result, error) {
	if p, ok := e.(Prober); ok {
		return p.Probe(ctx, c, again)
	}
	return EvaluateOne(ctx, e, c)
}

// EvaluateOne evaluates one configuration.
func EvaluateOne(ctx context.Context, e Evaluator, c space.Configuration) (Result, error) {
	in, out := make(chan space.Configuration, 1), make(chan Result, 1)
	in <- c
	close(in)
	if err := e.Evaluate(ctx, in, out); err != nil {
		return Result{}, err
	}
	select {
	case result := <-out:
		return result, nil
	default:
		return Result{}, fmt.Errorf("the evaluator gave no result")
	}
}

// blame stops the run because of its environment. It withdraws the earlier failures that nothing has
// confirmed.
func (r *run) blame(cause string) error {
	r.outcome.Stop, r.outcome.Cause = Environment, cause
	for _, failure := range r.doubts.recent {
		if r.options.Log != nil {
			if err := r.options.Log.Withdraw(failure); err != nil {
				return fmt.Errorf("%s; take back the failure of %s: %w", cause, failure.Configuration, err)
			}
		}
		r.outcome.Results = slices.DeleteFunc(r.outcome.Results, func(kept Result) bool {
			return kept.Configuration.Key() == failure.Configuration.Key()
		})
		r.outcome.Withdrawn++
	}
	r.doubts.recent = nil
	return nil
}
