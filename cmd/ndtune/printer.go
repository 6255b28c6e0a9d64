package main

import (
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
)

// A printer shows a search: results on stdout in the form of the tutorials, notes and
// progress on stderr.
type printer struct {
	out, notes     io.Writer
	problem        *problem.Problem
	quiet, verbose bool
	counts         map[tune.Status]int
	bar            *progress
}

func newPrinter(c *cli.Context, p *problem.Problem, total int) *printer {
	quiet := c.Bool("quiet")
	shown := &printer{
		out: c.App.Writer, notes: c.App.ErrWriter, problem: p,
		quiet: quiet, verbose: c.Bool("verbose"),
		counts: map[tune.Status]int{},
		bar:    newProgress(c.App.ErrWriter, total, p.Objective(), quiet),
	}
	shown.bar.limit = c.Duration("time-limit")
	return shown
}

// begin shows what is searched, and where. LimitLater says that the limit is found out at the end.
func (p *printer) begin(d hardware.Device, shared []device.Listed, s *space.Space, log *record.Log, limitLater bool) {
	if p.quiet {
		return
	}
	fmt.Fprintf(p.out, "Using: %s\n", d.Name)
	fmt.Fprintf(p.notes, "%s, driver %s, %s; kernel %s, %s", d.Platform, d.Driver, strings.TrimSpace(d.Version), p.problem.KernelName(), countNoun(s.Len(), "configuration"))
	if cartesian := s.CartesianSize(); cartesian.Cmp(big.NewInt(int64(s.Len()))) != 0 {
		fmt.Fprintf(p.notes, " of %s combinations", cartesian)
	}
	fmt.Fprintln(p.notes)
	if len(shared) > 1 {
		var selectors []string
		for _, l := range shared {
			selectors = append(selectors, l.Selector())
		}
		fmt.Fprintf(p.notes, "%d devices share the search: %s\n", len(shared), strings.Join(selectors, ", "))
	}
	if d.Timer == hardware.TimerHost {
		fmt.Fprintln(p.out, "timer: host")
		fmt.Fprintln(p.notes, "The driver's profiling timestamps cannot be used: times come from the host's clock and include the cost of a launch.")
	}
	if !p.problem.Verified() {
		fmt.Fprintln(p.notes, "The specification has no verify: nothing checks that the output is right, and results are unverified.")
	}
	if err := p.problem.LimitKnown(d); err != nil && !limitLater {
		fmt.Fprintln(p.notes, noLimitText(err, d.Peaks, log.Resumed() > 0))
	}
	if n := log.Resumed(); n > 0 {
		fmt.Fprintf(p.notes, "Resuming %s, which holds %s already.\n", log.Path(), countNoun(n, "result"))
	}
	p.bar.start()
}

// result shows one result as it arrives.
func (p *printer) result(r tune.Result, resumed bool) {
	p.counts[r.Status]++
	if resumed {
		p.bar.resumed++
	}
	p.bar.add(r, p.out, p.line(r))
}

// line is what is shown of a result, or "".
func (p *printer) line(r tune.Result) string {
	switch {
	case p.quiet:
		return ""
	case r.Status == tune.Correct:
		line := formatMeasured(r.Configuration.String(), r.Time(), r.Metrics)
		if r.EarlyStopped {
			line += ", measured once"
		}
		if !r.Verified {
			line += ", unverified"
		}
		return line
	case p.verbose:
		return fmt.Sprintf("%s, %s: %s", r.Configuration, r.Status, strings.TrimSpace(r.Reason))
	case r.Status != tune.Constraints:
		return fmt.Sprintf("%s, %s: %s", r.Configuration, r.Status, shortReason(r))
	}
	return ""
}

// end shows the summary and the best configuration. Evaluated is how many configurations
// the evaluator has counted.
func (p *printer) end(o *tune.Outcome, evaluated int) {
	p.bar.finish()
	if !p.quiet {
		fmt.Fprintln(p.notes, p.summary(o, evaluated))
	}
	switch o.Stop {
	case tune.Interrupted:
		fmt.Fprintln(p.notes, "Interrupted; the best so far:")
	case tune.Hopeless, tune.Environment:
		fmt.Fprintf(p.notes, "Stopped: %s\n", o.Cause)
	}
	if o.Best == nil {
		fmt.Fprintln(p.notes, p.whyNone(o))
		if p.quiet && len(o.Results) > 0 && o.Cause == "" {
			r := o.Results[0]
			fmt.Fprintf(p.notes, "The first, %s, %s: %s\n", r.Configuration, r.Status, shortReason(r))
		}
		return
	}
	f := o.Best.Figures()
	best := formatMeasured(o.Best.Configuration.String(), f.Time, f.Metrics)
	if !o.Best.Verified {
		best += ", unverified"
	}
	fmt.Fprintf(p.out, "best performing configuration: %s\n", best)
	if options := p.problem.BuildOptions(o.Best.Configuration); options != "" {
		fmt.Fprintf(p.out, "build options: %s\n", options)
	}
	if l, err := p.problem.Limit(o.Best.Configuration, o.Device); err == nil && !p.quiet {
		fmt.Fprintln(p.out, limitText(l, f.Time))
		for _, note := range []string{limitDoubt(l, f.Time), quickText(o.Device.Peaks)} {
			if note != "" {
				fmt.Fprintln(p.notes, note)
			}
		}
	}
	if n := len(o.Best.Final); f.Final && !p.quiet {
		fmt.Fprintf(p.notes, "Its time is the median of %d launches, taken in turn with those of the next best; the mean of its %d launches in the search was %s.\n",
			n, len(o.Best.Times), formatTime(o.Best.Time()))
	}
}

// summary counts what became of the configurations.
func (p *printer) summary(o *tune.Outcome, evaluated int) string {
	p.counts = map[tune.Status]int{} // a failure that was shown may have been taken back
	for i := range o.Results {
		p.counts[o.Results[i].Status]++
	}
	var parts []string
	for _, status := range tune.Statuses() {
		if n := p.counts[status]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, status.Text()))
		}
	}
	text := countNoun(len(o.Results), "configuration")
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if o.Resumed > 0 {
		text += fmt.Sprintf("; %d from the log, %d evaluated now", o.Resumed, evaluated)
	}
	if o.Withdrawn > 0 {
		text += fmt.Sprintf("; %s not kept", countNoun(o.Withdrawn, "failure"))
	}
	text += fmt.Sprintf("; %s", roundElapsed(o.Elapsed))
	if o.Stop == tune.Budget || o.Stop == tune.TimeIsUp {
		text += fmt.Sprintf(" (stopped by the %s)", map[tune.StopReason]string{tune.Budget: "number of evaluations", tune.TimeIsUp: "time limit"}[o.Stop])
	}
	switch {
	case p.verbose:
	case p.counts[tune.Constraints] > 0:
		text += "; -v shows what was skipped and why"
	case p.counts[tune.Compile] > 0:
		text += "; -v shows whole build logs"
	}
	return text
}

// roundElapsed keeps tenths of a second, and milliseconds of less than one.
func roundElapsed(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

func (p *printer) whyNone(o *tune.Outcome) string {
	switch {
	case len(o.Results) == 0:
		return "No configuration was evaluated."
	case p.counts[tune.Constraints] > 0 && !p.verbose:
		return "No configuration is correct; run again with -v to see why each was skipped"
	}
	return "No configuration is correct."
}

// files says where everything was kept: the outputs where they were written, the log where it
// was kept.
func (p *printer) files(log string, outputs []string, o *tune.Outcome, written, kept bool) {
	if p.quiet {
		return
	}
	if written && len(outputs) > 0 {
		fmt.Fprintf(p.notes, "results: %s\n", strings.Join(outputs, ", "))
	}
	if !kept {
		return
	}
	hint := ""
	switch o.Stop {
	case tune.Interrupted, tune.TimeIsUp:
		hint = " (the same command with --log and this file goes on from there)"
	case tune.Budget:
		hint = " (the same command with --log, this file and a larger --max-evals goes on from there)"
	case tune.Hopeless:
		hint = " (the same command with --log, this file and --retry-failures evaluates them again)"
	}
	fmt.Fprintf(p.notes, "run log: %s%s\n", log, hint)
}
