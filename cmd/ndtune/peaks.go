package main

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/worker"
)

func noPeakFlag() cli.Flag {
	return &cli.BoolFlag{Name: "no-peak", EnvVars: []string{"NDTUNE_NO_PEAK"}, Category: categoryEvaluation, Usage: "do not measure what the device can do at most, after the search or before it, where that is not known: a specification with a roofline then has no % of limit"}
}

// foundPeaks are what a search knows of its device as it begins.
type foundPeaks struct {
	peaks *hardware.Peaks // nil: none
	later bool            // none, but addLimits finds them once the search is over
}

// findPeaks are the peaks of a device for a specification: those of the run log, so that all its
// results are held against the same; else those that are known. Where there are none and the
// specification has a roofline, they are measured after the search, and before it only where
// the search itself reads them.
func findPeaks(c *cli.Context, l device.Listed, p *problem.Problem, logPath string) (foundPeaks, error) {
	begun := record.Begun(logPath)
	if begun != nil && (begun.Device.Peaks != nil || p.ReadsPeaks()) {
		return foundPeaks{peaks: begun.Device.Peaks}, nil
	}
	known, err := knownPeaks(c, l)
	wanted := p.Definition().Roofline != nil && (known != nil || !c.Bool("no-peak"))
	switch {
	case err != nil:
		return foundPeaks{}, err
	case begun != nil: // its results, too, get the limits of those to come
		return foundPeaks{later: wanted}, nil
	case known != nil || !wanted:
		return foundPeaks{peaks: known}, nil
	case !p.ReadsPeaks():
		return foundPeaks{later: true}, nil
	}
	notes := c.App.ErrWriter
	if !c.Bool("quiet") {
		fmt.Fprintf(notes, "Measuring what %s can do, once for all runs (--no-peak leaves it out)\n", l.Name)
	}
	peaks, err := measurePeaks(c, l)
	switch {
	case c.Context.Err() != nil:
		return foundPeaks{}, errInterrupted
	case err != nil:
		fmt.Fprintf(notes, "The peaks of %s could not be measured: %v\n", l.Name, err)
	}
	return foundPeaks{peaks: peaks}, nil
}

// knownPeaks are those of the user's state folder; nil: there are none. That they cannot be read
// is only said.
func knownPeaks(c *cli.Context, l device.Listed) (*hardware.Peaks, error) {
	d, err := device.Describe(l.Device)
	if err != nil {
		return nil, err
	}
	known, err := record.KnownPeaks(d, peak.Method)
	if err != nil {
		fmt.Fprintf(c.App.ErrWriter, "%v\n", err)
	}
	return known, nil
}

// quickPeaks are those that a command has measured quickly for the last search: the next search
// of the same needs has its results held against the same.
type quickPeaks struct {
	selector string
	needs    problem.Needs
	peaks    *hardware.Peaks
}

// addLimits puts % of limit into the results of a search that is over, and the peaks that it
// comes from into its device: those that are known, else what the limits need is measured now.
// It reports whether it did; all that goes wrong is only said, since the search has its result.
func addLimits(c *cli.Context, l device.Listed, p *problem.Problem, o *tune.Outcome, quick *quickPeaks) bool {
	if o.Best == nil || o.Stop == tune.Interrupted || o.Stop == tune.Environment || c.Context.Err() != nil {
		return false
	}
	peaks, err := knownPeaks(c, l)
	if err == nil && peaks == nil {
		peaks, err = quick.measure(c, l, p, o)
	}
	d := o.Device
	d.Peaks = peaks
	if err == nil {
		err = p.LimitKnown(d)
	}
	switch {
	case c.Context.Err() != nil:
		fmt.Fprintf(c.App.ErrWriter, "Interrupted: no %s\n", problem.MetricOfLimit)
		return false
	case err != nil:
		fmt.Fprintln(c.App.ErrWriter, noLimitText(err, peaks, false))
		return false
	}
	o.Device = d
	tune.AddLimits(p, o.Results, d)
	return true
}

// measure measures quickly what the limits of an outcome need.
func (q *quickPeaks) measure(c *cli.Context, l device.Listed, p *problem.Problem, o *tune.Outcome) (*hardware.Peaks, error) {
	needs := tune.LimitNeeds(p, o.Results, o.Device)
	if q.peaks != nil && q.selector == l.Selector() && reflect.DeepEqual(q.needs, needs) {
		return q.peaks, nil
	}
	notes := c.App.ErrWriter
	if !c.Bool("quiet") {
		fmt.Fprintf(notes, "Measuring what the limit needs of %s (--no-peak leaves it out)\n", l.Name)
	}
	options := worker.PeakOptions{Needs: &needs, Timer: o.Device.Timer}
	if c.Bool("verbose") {
		options.Output = notes
	}
	peaks, err := worker.MeasurePeaks(c.Context, l, options)
	if err == nil {
		*q = quickPeaks{l.Selector(), needs, peaks}
	}
	return peaks, err
}

// quickText says of a limit that its peaks were measured quickly; "": they were not.
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

// measurePeaks measures a device and keeps what it has found. That it cannot be kept is only
// said.
func measurePeaks(c *cli.Context, l device.Listed) (*hardware.Peaks, error) {
	notes := c.App.ErrWriter
	var output io.Writer
	if c.Bool("verbose") {
		output = notes
	}
	var bar *progressbar.ProgressBar
	if !c.Bool("quiet") {
		bar = newBar(notes, len(peak.Parts()), "parts")
	}
	peaks, err := worker.MeasurePeaks(c.Context, l, worker.PeakOptions{Output: output, Begin: func(part string, number, _ int) {
		if bar != nil {
			bar.Describe(l.Name + ": " + part)
			_ = bar.Set(number - 1) // an error of the terminal is none of the measurement
		}
	}})
	if bar != nil {
		_ = bar.Clear()
	}
	if err != nil {
		return nil, err
	}
	d, err := device.Describe(l.Device)
	if err != nil {
		return nil, err
	}
	d.Timer, d.Peaks = peaks.Timer, peaks
	if err := record.KeepPeaks(d); err != nil {
		fmt.Fprintf(notes, "%v\n", err)
	}
	return peaks, nil
}

// printPeaks is the table of a device's peaks.
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

// noLimitText says why there is no % of limit, and where the device was not measured, what to do.
// Of one that was, the reason says it all: measuring again finds the same.
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

// limitDoubt says what to think of a time that is clearly beyond the limit; "": it is not.
func limitDoubt(l problem.Limit, ms float64) string {
	if l.Share(ms) < 102 {
		return ""
	}
	return "More than the device was measured to give: something else may have used it then (ndtune devices --peak measures anew), or the specification's roofline asks for more than the kernel does, or not for all units that it uses."
}

// limitText says how far a time in milliseconds is from what the device can do, and what it is
// that limits: «limit: 83 % of what the device's memory gives (3909 GB/s)».
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
