package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/worker"
)

func noPeakFlag() cli.Flag {
	return &cli.BoolFlag{Name: "no-peak", EnvVars: []string{"NDTUNE_NO_PEAK"}, Category: categoryEvaluation, Usage: "do not measure what the device can do at most where that is not known: a specification with a roofline then has no % of limit"}
}

// findPeaks are the peaks of a device for a specification: those that the run log was begun
// with, so that all its results are held against the same; else those that are known; else,
// where the specification has a roofline, they are measured now. Nil: there are none.
func findPeaks(c *cli.Context, l device.Listed, p *tune.Problem, logPath string) (*tune.Peaks, error) {
	d, err := device.Describe(l.Device)
	if err != nil {
		return nil, err
	}
	if begun := record.Begun(logPath); begun != nil {
		return begun.Device.Peaks, nil
	}
	notes := c.App.ErrWriter
	known, err := record.KnownPeaks(d, peak.Method)
	if err != nil {
		fmt.Fprintf(notes, "%v\n", err)
	}
	if known != nil || p.Definition().Roofline == nil || c.Bool("no-peak") {
		return known, nil
	}
	if !c.Bool("quiet") {
		fmt.Fprintf(notes, "Measuring what %s can do, once for all runs (--no-peak leaves it out)\n", d.Name)
	}
	peaks, err := measurePeaks(c, l)
	switch {
	case c.Context.Err() != nil:
		return nil, errInterrupted
	case err != nil:
		fmt.Fprintf(notes, "The peaks of %s could not be measured: %v\n", d.Name, err)
	}
	return peaks, nil
}

// measurePeaks measures a device and keeps what it has found. That it cannot be kept is only
// said.
func measurePeaks(c *cli.Context, l device.Listed) (*tune.Peaks, error) {
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
func printPeaks(w io.Writer, p *tune.Peaks) {
	timer := ""
	if p.Timer == tune.TimerHost {
		timer = ", timer: host"
	}
	fmt.Fprintf(w, "    peaks, measured %s%s\n", p.Measured.Format("2006-01-02 15:04 MST"), timer)
	for _, f := range tune.PeakFigures() {
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
func noLimitText(why error, known *tune.Peaks, resumed bool) string {
	hint := ""
	switch {
	case known != nil:
	case resumed:
		hint = " (the run log was begun without them)"
	default:
		hint = " (ndtune devices --peak measures them)"
	}
	return fmt.Sprintf("No %s: %v%s", tune.MetricOfLimit, why, hint)
}

// limitDoubt says what to think of a time that is clearly beyond the limit; "": it is not.
func limitDoubt(l tune.Limit, ms float64) string {
	if l.Share(ms) < 102 {
		return ""
	}
	return "More than the device was measured to give: something else may have used it then (ndtune devices --peak measures anew), or the specification's roofline asks for more than the kernel does, or not for all units that it uses."
}

// limitText says how far a time in milliseconds is from what the device can do, and what it is
// that limits: «limit: 83 % of what the device's memory gives (3909 GB/s)».
func limitText(l tune.Limit, ms float64) string {
	share := fmt.Sprintf("%.0f", l.Share(ms))
	switch {
	case l.Share(ms) < 0.1:
		share = formatNumber(l.Share(ms))
	case l.Share(ms) < 10:
		share = fmt.Sprintf("%.1f", l.Share(ms))
	}
	text := fmt.Sprintf("limit: %s %% of what the device", share)
	switch l.Resource {
	case tune.Arithmetic:
		return text + fmt.Sprintf(" computes in %s (%s GFLOP/s)", l.Precision, formatNumber(l.Rate))
	case tune.Caches:
		return text + fmt.Sprintf("'s caches give for %s (%s GB/s)", formatBytes(l.Set), formatNumber(l.Rate))
	}
	return text + fmt.Sprintf("'s memory gives (%s GB/s)", formatNumber(l.Rate))
}
