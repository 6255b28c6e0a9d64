package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/observe"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/worker"
)

// findPeaks finds the peaks of the device: those in the run log, so that all its results are compared
// with the same; else those that are known. If there are none and the specification has a roofline, they
// are measured during and after the search, or before it if the search itself reads them.
func (t *tuning) findPeaks(logPath string) error {
	c, p := t.cli, t.spec.Problem
	begun := record.Begun(logPath)
	if begun != nil && (begun.Device.Peaks != nil || p.ReadsPeaks()) {
		t.peaks = begun.Device.Peaks
		return nil
	}
	d, err := describe(c, t.devices[0])
	if err != nil {
		return err
	}
	wanted := p.Definition().Roofline != nil && (d.Peaks != nil || !c.Bool("no-peak") && t.fleet == nil)
	switch {
	case begun != nil: // its results, too, get the limits of those to come
		t.limitLater = wanted
		return nil
	case d.Peaks != nil || !wanted:
		t.peaks = d.Peaks
		return nil
	case !p.ReadsPeaks():
		t.limitLater = true
		t.measureMeanwhile(d)
		return nil
	}
	notes := c.App.ErrWriter
	if !c.Bool("quiet") {
		fmt.Fprintf(notes, "Measuring the peaks of %s, once for all runs (--no-peak skips this)\n", d.Name)
	}
	t.peaks, err = measurePeaks(c, t.devices[0], d)
	switch {
	case c.Context.Err() != nil:
		return c.Context.Err()
	case err != nil:
		fmt.Fprintf(notes, "The peaks of %s could not be measured: %v\n", d.Name, err)
	}
	return nil
}

// describe describes a device, with its peaks if the user's state folder holds them. Peaks that cannot be
// read are only noted.
func describe(c *cli.Context, l device.Listed) (hardware.Device, error) {
	d := *l.Identity
	if l.Device != nil { // of this machine
		var err error
		if d, err = device.Describe(l.Device); err != nil {
			return d, err
		}
	}
	var err error
	if d.Peaks, err = record.KnownPeaks(d, peak.Method, ""); err != nil {
		fmt.Fprintf(c.App.ErrWriter, "%v\n", err)
	}
	return d, nil
}

// addLimits adds % of limit to the results of a search that began without peaks, and its peaks to the
// device of the outcome and to the log. They are the known ones, else those that the limits need are
// measured now, in another process: the evaluator is closed before. A limit that cannot be computed is only
// noted, because the search has its result.
func (t *tuning) addLimits(o *tune.Outcome) error {
	c, p := t.cli, t.spec.Problem
	if !t.limitLater {
		return nil
	}
	t.evaluator.Close()
	if o.Best == nil || o.Stop == tune.Interrupted || o.Stop == tune.Environment || c.Context.Err() != nil {
		return nil
	}
	known, err := describe(c, t.devices[0])
	d := o.Device
	if d.Peaks = known.Peaks; err == nil {
		err = t.limit(&d, o)
	}
	switch {
	case c.Context.Err() != nil:
		fmt.Fprintf(c.App.ErrWriter, "Interrupted: no %s\n", problem.MetricOfLimit)
		return nil
	case err != nil:
		fmt.Fprintln(c.App.ErrWriter, noLimitText(err, d.Peaks, false))
		return nil
	}
	o.Device = d
	tune.AddLimits(p, o.Results, d)
	if t.log == nil {
		return nil
	}
	return t.log.AppendPeaks(d.Peaks, p.MetricNames(d), o.Results, func(r *tune.Result) float64 { return p.LimitTime(r.Configuration, d) })
}

// limit gives a device the peaks that the limits of an outcome need. It measures kept ones again that the best result exceeds.
func (t *tuning) limit(d *hardware.Device, o *tune.Outcome) (err error) {
	p := t.spec.Problem
	if d.Peaks != nil {
		return p.LimitKnown(*d)
	}
	kept := t.keptQuickly(*d)
	if d.Peaks, err = t.quickPeaks(*d, o.Results, kept, false); err == nil {
		err = p.LimitKnown(*d)
	}
	if err != nil || d.Peaks != kept {
		return err
	}
	// They may have been measured while something else used the device.
	if l, err := p.Limit(o.Best.Configuration, *d); err == nil && limitDoubt(l, o.Best.Figures().Time) != "" && kept.LeastRepeats() < enoughRepeats {
		d.Peaks, err = t.quickPeaks(*d, o.Results, kept, true)
		return err
	}
	return nil
}

// enoughRepeats is how often peaks are measured quickly that results exceed. More repeats would not help: the specification counts too
// much work, or the variants that the time did not allow are faster.
const enoughRepeats = 4

// quickPeaks returns the peaks that the limits of some results need: the kept ones of earlier runs, or if they lack something, have not
// confirmed it or shall be measured again, those and new ones together.
func (t *tuning) quickPeaks(d hardware.Device, results []tune.Result, kept *hardware.Peaks, again bool) (*hardware.Peaks, error) {
	c, l := t.cli, t.devices[0]
	needs := tune.LimitNeeds(t.spec.Problem, results, d)
	info, err := l.Device.Info()
	if err != nil || !again && peak.Covered(info, kept, needs) {
		return kept, err
	}
	if !c.Bool("quiet") {
		fmt.Fprintf(c.App.ErrWriter, "Measuring the peaks of %s that the limit needs (--no-peak skips this)\n", l.Name)
	}
	measured, err := worker.MeasurePeaks(c.Context, l, worker.PeakOptions{Needs: &needs, Timer: d.Timer, Reserve: t.reserve})
	if err != nil {
		return nil, err
	}
	d.Peaks = kept.MergeQuick(measured)
	if err := record.KeepPeaks(d, conditions(d)); err != nil {
		fmt.Fprintf(c.App.ErrWriter, "%v\n", err)
	}
	return d.Peaks, nil
}

// measureMeanwhile has the peaks for the limits of a search measured while the builders compile, unless they are kept. The limits
// of the first configuration stand for all; what others need is measured after the search.
func (t *tuning) measureMeanwhile(d hardware.Device) {
	p := t.spec.Problem
	configuration, err := p.Parameters().ConfigureFirst(nil)
	if err != nil {
		return
	}
	needs := p.LimitNeeds(slices.Values([]space.Configuration{configuration}), d)
	d.Timer = hardware.TimerEvent // no others are measured meanwhile
	if info, err := t.devices[0].Device.Info(); err == nil && !peak.Covered(info, t.keptQuickly(d), needs) {
		t.needs = &needs
	}
}

// keptQuickly returns the peaks of a device, with its timer, that earlier runs have measured quickly; nil: none.
func (t *tuning) keptQuickly(d hardware.Device) *hardware.Peaks {
	kept, err := record.KnownPeaks(d, peak.Method, conditions(d))
	if err != nil {
		fmt.Fprintf(t.cli.App.ErrWriter, "%v\n", err)
	}
	return kept
}

// conditions returns those under which peaks are measured quickly.
func conditions(d hardware.Device) string {
	return fmt.Sprintf(" quick, timer %s, %d MHz, %s", d.Timer, d.ClockMHz, observe.Ceilings(d))
}

// quickText returns a note for a limit whose peaks were measured quickly; "" for others.
func quickText(p *hardware.Peaks) string {
	if p == nil || !p.Quick {
		return ""
	}
	partial := ""
	if p.Partial != "" {
		partial = " (" + p.Partial + ")"
	}
	return "The limit was measured quickly" + partial + "; ndtune devices --peak measures with care, once for all runs."
}

// measurePeaks measures the peaks of a device and keeps them in the user's state folder. If they cannot be
// kept, that is only noted.
func measurePeaks(c *cli.Context, l device.Listed, d hardware.Device) (*hardware.Peaks, error) {
	bar := newProgress(c.App.ErrWriter, len(peak.Parts()), "part", c.Bool("quiet"))
	peaks, err := worker.MeasurePeaks(c.Context, l, worker.PeakOptions{Output: verboseOutput(c), Begin: func(part string, number, _ int) {
		bar.done = number - 1
		bar.describe(l.Name + ": " + part)
	}})
	bar.finish()
	if err != nil {
		return nil, err
	}
	d.Timer, d.Peaks = peaks.Timer, peaks
	if err := record.KeepPeaks(d, ""); err != nil {
		fmt.Fprintf(c.App.ErrWriter, "%v\n", err)
	}
	return peaks, nil
}

// printPeaks prints the table of a device's peaks.
func printPeaks(w io.Writer, p *hardware.Peaks) {
	timer := ""
	if p.Timer == hardware.TimerHost {
		timer = ", timer: host"
	}
	fmt.Fprintf(w, "    peaks, measured %s%s\n", p.Measured.Format("2006-01-02 15:04 MST"), timer)
	if p.Partial != "" {
		fmt.Fprintf(w, "      in part: %s\n", p.Partial)
	}
	for _, f := range hardware.PeakFigures() {
		figure, known := p.Figures[f.Name]
		switch {
		case !known:
		case figure.Missing != "":
			fmt.Fprintf(w, "      %-27s %8s          %s\n", f.Title, "–", firstLine(figure.Missing))
		default:
			line := fmt.Sprintf("      %-27s %8s %-8s %s", f.Title, formatNumber(figure.Value), figure.Unit, figure.Variant)
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
}

// noLimitText says why there is no % of limit, and what to do if the device was not measured. If it was,
// measuring again would not help.
func noLimitText(why error, known *hardware.Peaks, resumed bool) string {
	hint := ""
	switch {
	case known != nil:
	case resumed:
		hint = " (the run log was begun without them)"
	default:
		hint = " (ndtune devices --peak measures them)"
	}
	return fmt.Sprintf("No %s: %v%s", problem.MetricOfLimit, why, hint)
}

// limitDoubt explains a time that is clearly beyond the limit; "" for others.
func limitDoubt(l problem.Limit, ms float64) string {
	if l.Share(ms) < 102 {
		return ""
	}
	return "This is more than the measured peak. Something else may have used the device during that measurement (ndtune devices --peak measures again), or the specification's roofline counts more work than the kernel does, or does not count all units that it uses."
}

// limitText says how far a time in milliseconds is from the limit, and which resource limits it:
// «limit: 83 % of what the device's memory gives (3909 GB/s)».
func limitText(l problem.Limit, ms float64) string {
	share := fmt.Sprintf("%.0f", l.Share(ms))
	switch {
	case l.Share(ms) < 0.1:
		share = formatNumber(l.Share(ms))
	case l.Share(ms) < 10:
		share = fmt.Sprintf("%.1f", l.Share(ms))
	}
	text := fmt.Sprintf("limit: %s %% of what the device", share)
	switch l.Resource {
	case problem.Arithmetic:
		return text + fmt.Sprintf(" computes in %s (%s GFLOP/s)", l.Precision, formatNumber(l.Rate))
	case problem.Caches:
		return text + fmt.Sprintf("'s caches give for %s (%s GB/s)", formatBytes(l.Set), formatNumber(l.Rate))
	}
	return text + fmt.Sprintf("'s memory gives (%s GB/s)", formatNumber(l.Rate))
}
