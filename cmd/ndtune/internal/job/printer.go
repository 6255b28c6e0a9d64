package job

import (
	"fmt"
	"io"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/report"
	"github.com/ndtune/ndtune/tune/space"
)

// A Printer shows a search: results on stdout in the form of the tutorials, notes and
// progress on stderr.
type Printer struct {
	*ui.Console
	problem  *problem.Problem
	tables   bool              // of finalists and of a front, at the end
	compared bool              // one of several searches, of which only a summary is shown, on stderr
	reasons  map[string]string // of failures that were shown, with the configuration of each
	size     int               // of the space
	varying  []parameterColumn
	columns  bool // lines of results are columns of what varies, for a terminal
	Bar      *ui.Progress
}

// NewPrinter returns the printer of a search of so many configurations.
func NewPrinter(j *Job, p *problem.Problem, total int) *Printer {
	shown := &Printer{Console: j.Console, problem: p, compared: j.Compared, Bar: ui.NewProgress(j.Notes, total, "configuration", j.Quiet)}
	shown.tables = !j.Quiet && j.Stream == nil // a stream has their lines
	shown.Bar.Objective, shown.Bar.Limit = p.Objective(), j.Plan.TimeLimit
	if out, ok := j.Out.(*ui.Output); ok {
		shown.columns = out.Terminal && !j.Compared
	}
	if j.Compared {
		on := *j.Console
		on.Out = on.Notes
		shown.Console = &on
	}
	return shown
}

// begin shows the device and the problem of a search.
func (p *Printer) begin(d hardware.Device, shared []device.Listed, s *space.Space, log *record.Log) {
	p.size = s.Len()
	if p.Quiet {
		return
	}
	var fixed string
	p.varying, fixed = parameterColumns(s)
	fmt.Fprintf(p.Out, "Using: %s\n", d.Name)
	combinations := ""
	if cartesian := s.CartesianSize(); cartesian.Cmp(big.NewInt(int64(s.Len()))) != 0 {
		combinations = fmt.Sprintf(" of %s combinations", cartesian)
	}
	fmt.Fprintf(p.Notes, "%s, driver %s, %s; kernel %s, %s%s\n", d.Platform, d.Driver, strings.TrimSpace(d.Version),
		p.problem.KernelName(), figure.Count(s.Len(), "configuration"), combinations)
	if len(shared) > 1 {
		fmt.Fprintf(p.Notes, "%d devices share the search: %s\n", len(shared), ui.Join(", ", device.Listed.Selector, shared...))
	}
	if d.Timer == hardware.TimerHost {
		fmt.Fprintln(p.Out, "timer: host")
		fmt.Fprintln(p.Notes, "Times come from the host's clock, because the driver's profiling timestamps are unusable, or by measure.timer; "+
			"they include the cost of a launch.")
	}
	if p.problem.Timing().Cache == definition.CacheCold {
		fmt.Fprintln(p.Out, ColdCaches)
		fmt.Fprintln(p.Notes, "The caches are overwritten before each timed launch, which finds its data in memory.")
	}
	if !p.problem.Verified() {
		fmt.Fprintln(p.Notes, "The specification has no verify: the output is not checked, and results are unverified.")
	}
	p.printInstruments(d)
	for _, notice := range p.problem.Notices() {
		fmt.Fprintln(p.Notes, notice)
	}
	r := log.Reuse()
	if n := len(r.Outdated); n > 0 {
		fmt.Fprintf(p.Notes, "%s holds times of the device for %s: the host's clock times them again.\n", log.Path(), figure.Count(n, "configuration"))
	} else if r.Held > 0 {
		fmt.Fprintf(p.Notes, "%s holds %s of an older space; known in this one: %d, left out: %d.\n",
			log.Path(), figure.Count(r.Held, "result"), r.Known, r.Held-r.Known)
	} else if n := len(log.Previous()); n > 0 {
		fmt.Fprintf(p.Notes, "Resuming %s, which holds %s already.\n", log.Path(), figure.Count(n, "result"))
	}
	if p.columns && fixed != "" {
		fmt.Fprintln(p.Out, "fixed:", fixed)
	}
	p.Bar.Start()
}

// ColdCaches is the line of a measurement with cold caches.
const ColdCaches = "caches: cold"

// A parameterColumn is a parameter that has several values in the space.
type parameterColumn struct {
	place int // among the parameters
	width int // of its longest «name=value»
}

// parameterColumns returns the columns of a space, and the other parameters with their values.
func parameterColumns(s *space.Space) (columns []parameterColumn, fixed string) {
	var others []string
	for i, name := range s.Parameters().Names() {
		values := s.Survivors(i)
		if len(values) == 1 {
			others = append(others, name+"="+space.FormatValue(values[0]))
			continue
		}
		column := parameterColumn{place: i}
		for _, v := range values {
			column.width = max(column.width, utf8.RuneCountInString(name+"="+space.FormatValue(v)))
		}
		columns = append(columns, column)
	}
	return columns, strings.Join(others, ", ")
}

// Result shows one result as it arrives.
func (p *Printer) Result(r tune.Result, resumed bool) {
	if resumed {
		p.Bar.Resumed++
	}
	if r.Refused { // it does not count in the budget
		p.Bar.Total = min(p.Bar.Total+1, p.size)
	}
	p.Bar.Add(r, p.Out, p.line(r))
}

// line returns the line that shows a result; "" if nothing is shown of it.
func (p *Printer) line(r tune.Result) string {
	reason := tune.Headline(r.Status, r.Reason)
	switch {
	case p.Quiet, p.compared && !p.Verbose, r.Status == tune.Constraints && !p.Verbose:
		return ""
	case p.Verbose:
		reason = strings.TrimSpace(r.Reason)
	}
	var cells []string
	if p.columns {
		for _, c := range p.varying {
			value := r.Configuration.Parameters().At(c.place).Name + "=" + space.FormatValue(r.Configuration.At(c.place))
			cells = append(cells, fmt.Sprintf("%-*s", c.width, value))
		}
	} else if r.Configuration.Len() > 0 {
		cells = append(cells, r.Configuration.String())
	}
	if r.Status != tune.Correct {
		return p.join(append(cells, fmt.Sprintf("%s: %s", r.Status, p.once(r, reason))))
	}
	for _, cell := range ui.MeasuredCells(r.Time(), r.Metrics) {
		if p.columns {
			name, _, _ := strings.Cut(cell, "=")
			cell = fmt.Sprintf("%-*s", utf8.RuneCountInString(name)+len("=123.4567ms"), cell)
		}
		cells = append(cells, cell)
	}
	if r.Repeated > 0 && p.Verbose {
		cells = append(cells, fmt.Sprintf("%d of %d launches repeated", r.Repeated, len(r.Times)-r.Repeated))
	}
	if r.EarlyStopped {
		cells = append(cells, "measured once")
	}
	if !r.Verified {
		cells = append(cells, "unverified")
	}
	return p.join(cells)
}

// maxReasons is how many reasons are remembered.
const maxReasons = 100

// once returns the reason of a failure. If a build failed for it before, the configuration at which it was shown takes its place.
func (p *Printer) once(r tune.Result, reason string) string {
	first, shown := p.reasons[reason]
	switch {
	case r.Status != tune.Compile:
	case shown:
		return "the same as at " + first
	case p.reasons == nil:
		p.reasons = map[string]string{reason: r.Configuration.String()}
	case len(p.reasons) < maxReasons:
		p.reasons[reason] = r.Configuration.String()
	}
	return reason
}

// join joins the cells of a line.
func (p *Printer) join(cells []string) string {
	if p.columns {
		return strings.TrimRight(strings.Join(cells, "  "), " ")
	}
	return strings.Join(cells, ", ")
}

// end shows the summary and the best configuration. Evaluated is the number of configurations that
// the evaluator has counted.
func (p *Printer) end(o *tune.Outcome, evaluated int) {
	p.Bar.Finish()
	if p.Quiet && p.compared {
		return
	}
	if !p.Quiet {
		fmt.Fprintln(p.Notes, p.Summary(o, evaluated))
	}
	if !p.Quiet || o.Best == nil {
		for _, warning := range o.Warnings {
			fmt.Fprintln(p.Notes, ui.Shortened(warning))
		}
	}
	switch {
	case o.Stop == tune.Interrupted && !p.compared:
		fmt.Fprintln(p.Notes, "Interrupted; the best so far:")
	case o.Stop == tune.Hopeless, o.Stop == tune.Environment:
		fmt.Fprintf(p.Notes, "Stopped: %s\n", ui.Shortened(o.Cause))
	}
	if o.Best == nil {
		fmt.Fprintln(p.Notes, p.whyNone(o))
		if p.Quiet && len(o.Results) > 0 && o.Cause == "" {
			r := o.Results[0]
			fmt.Fprintf(p.Notes, "The first, %s, %s: %s\n", r.Configuration, r.Status, tune.Headline(r.Status, r.Reason))
		}
		return
	}
	f := o.Best.Figures()
	if p.compared {
		fmt.Fprintf(p.Notes, "best: %s\n", ui.FormatMeasured(o.Best.Configuration.String(), f.Time, nil))
		return
	}
	b := o.Best
	PrintBest(p.Out, p.problem, b.Configuration, ui.FormatMeasured(b.Configuration.String(), f.Time, f.Metrics), b.Verified, o.Device, b.Launches())
	p.printBaseline(o)
	if !p.Quiet {
		p.printReadings(o)
	}
	if l, err := p.problem.Limit(o.Best.Configuration, o.Device); err == nil && !p.Quiet {
		fmt.Fprintln(p.Out, l.Text(f.Time))
	}
	if p.tables {
		places := each.Of(p.varying, func(c parameterColumn) int { return c.place })
		if objective := p.problem.Objective(); objective.Several() {
			report.WriteFront(p.Out, "", objective, places, o.Results)
		} else {
			report.WriteFinalists(p.Notes, "", objective, places, o.Results)
		}
	}
}

// printBaseline prints how much better the best is than the baseline, if the specification has one.
func (p *Printer) printBaseline(o *tune.Outcome) {
	c, ok := p.problem.Baseline()
	if !ok {
		return
	}
	values := map[string]space.Value{}
	c.Assign(values)
	baseline := tune.ResultOf(o.Results, values)
	gain, known := o.Best.GainOver(p.problem.Objective(), baseline)
	switch {
	case known:
		fmt.Fprintf(p.Out, "gain over the baseline: %.2f× (%s)\n", gain, ui.FormatMeasured(c.String(), baseline.Figures().Time, nil))
	case baseline == nil:
		fmt.Fprintf(p.Notes, "The baseline, %s, was not evaluated: the search ended before it\n", c)
	case baseline.Status != tune.Correct:
		fmt.Fprintf(p.Notes, "There is no gain over the baseline, %s, %s: %s\n", c, baseline.Status, tune.Headline(baseline.Status, baseline.Reason))
	}
}

// Summary says how many configurations ended in each status, and why the search stopped.
func (p *Printer) Summary(o *tune.Outcome, evaluated int) string {
	counts := statusCounts(o.Results)
	text := figure.Count(len(o.Results), "configuration")
	if parts := ui.StatusTexts(counts); len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if o.Resumed > 0 {
		text += fmt.Sprintf("; %d from the log, %d evaluated now", o.Resumed, evaluated)
	}
	if o.Withdrawn > 0 {
		text += fmt.Sprintf("; %s not kept", figure.Count(o.Withdrawn, "failure"))
	}
	text += fmt.Sprintf("; %s", ui.RoundElapsed(o.Elapsed))
	if end := ends[o.Stop]; end.inSummary {
		text += " (" + end.text + ")"
	}
	switch {
	case p.Verbose:
	case counts[tune.Constraints] > 0:
		text += "; -v shows what was skipped and why"
	case counts[tune.Compile] > 0:
		text += "; -v shows whole build logs"
	}
	return text
}

func statusCounts(results []tune.Result) map[tune.Status]int {
	counts := map[tune.Status]int{}
	for i := range results {
		counts[results[i].Status]++
	}
	return counts
}

func (p *Printer) whyNone(o *tune.Outcome) string {
	switch {
	case len(o.Results) == 0:
		return "No configuration was evaluated."
	case statusCounts(o.Results)[tune.Constraints] > 0 && !p.Verbose:
		return "No configuration is correct; run again with -v to see why each was skipped"
	}
	return "No configuration is correct."
}

// files prints the names of the outputs, if they were written, and of the log, if it was kept. Quiet, it names a log that is all that is
// left.
func (p *Printer) files(log string, outputs []string, o *tune.Outcome, written, kept bool) {
	if p.Quiet && written {
		return
	}
	if written && len(outputs) > 0 {
		fmt.Fprintf(p.Notes, "results: %s\n", strings.Join(outputs, ", "))
	}
	if !kept {
		return
	}
	fmt.Fprintf(p.Notes, "run log: %s%s\n", log, ends[o.Stop].next)
}

// PrintBest prints the best configuration as it was measured, how it is built, and its launches.
func PrintBest(w io.Writer, p *problem.Problem, c space.Configuration, measured string, verified bool, d hardware.Device, launches []string) {
	if !verified {
		measured += ", unverified"
	}
	fmt.Fprintf(w, "best performing configuration: %s\n", measured)
	PrintBuild(w, p, c, d)
	for _, launch := range launches {
		fmt.Fprintf(w, "launch: %s\n", launch)
	}
}

// PrintBuild prints how the kernel of a configuration is built.
func PrintBuild(w io.Writer, p *problem.Problem, c space.Configuration, d hardware.Device) {
	if options := p.BuildOptions(c, d); options != "" {
		fmt.Fprintf(w, "build options: %s\n", options)
	}
	if v, err := p.Variant(c, d); err == nil && v.Target != "" {
		fmt.Fprintf(w, "target: %s\n", v.Target)
	}
}

// printInstruments says how each quantity of a search is observed.
func (p *Printer) printInstruments(d hardware.Device) {
	var texts []string
	quantities := map[string][]string{} // by text
	for _, i := range d.Instruments {
		text := i.String()
		if quantities[text] == nil {
			texts = append(texts, text)
		}
		quantities[text] = append(quantities[text], i.Quantity)
	}
	for _, text := range texts {
		fmt.Fprintf(p.Notes, "%s: %s\n", strings.Join(quantities[text], ", "), text)
	}
}

// printReadings prints the readings of the best.
func (p *Printer) printReadings(o *tune.Outcome) {
	for _, r := range o.Best.LastReadings() {
		if i, ok := o.Device.Instrument(r.Quantity); ok && i.Missing != "" {
			continue // said before the search
		}
		fmt.Fprintf(p.Notes, "%s of the best: %s\n", r.Quantity, r)
	}
}
