package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/session"
	"github.com/ndtune/ndtune/tune/worker"
)

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
func measurePeaks(ctx context.Context, t *console, l device.Listed, d hardware.Device) (*hardware.Peaks, error) {
	bar := newProgress(t.notes, len(peak.Parts()), "part", t.quiet)
	peaks, err := worker.MeasurePeaks(ctx, l, worker.PeakOptions{Output: t.diagnostics(), Begin: func(part string, number, _ int) {
		bar.done = number - 1
		bar.describe(l.Name + ": " + part)
	}})
	bar.finish()
	if err != nil {
		return nil, err
	}
	d.Timer, d.Peaks = peaks.Timer, peaks
	if err := record.KeepPeaks(d, ""); err != nil {
		t.note(err.Error())
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
			fmt.Fprintf(w, "      %-27s %8s          %s\n", f.Title, "–", excerpt.FirstLine(figure.Missing))
		default:
			line := fmt.Sprintf("      %-27s %8s %-8s %s", f.Title, formatNumber(figure.Value), figure.Unit, figure.Variant)
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
}

// limitDoubt explains a time that is clearly beyond the limit; "" for others.
func limitDoubt(l judge.Limit, ms float64) string {
	if !session.IsBeyond(l, ms) {
		return ""
	}
	return "This is more than the measured peak. Something else may have used the device during that measurement " +
		"(ndtune devices --peak measures again), or the specification's roofline counts more work than the kernel does, " +
		"or does not count all units that it uses."
}

// limitText says how far a time in milliseconds is from the limit, and which resource limits it:
// «limit: 83 % of what the device's memory gives (3909 GB/s)».
func limitText(l judge.Limit, ms float64) string {
	share := fmt.Sprintf("%.0f", l.Share(ms))
	switch {
	case l.Share(ms) < 0.1:
		share = formatNumber(l.Share(ms))
	case l.Share(ms) < 10:
		share = fmt.Sprintf("%.1f", l.Share(ms))
	}
	text := fmt.Sprintf("limit: %s %% of what the device", share)
	switch l.Resource {
	case judge.Arithmetic:
		return text + fmt.Sprintf(" computes in %s (%s GFLOP/s)", l.Precision, formatNumber(l.Rate))
	case judge.Caches:
		return text + fmt.Sprintf("'s caches give for %s (%s GB/s)", formatBytes(l.Set), formatNumber(l.Rate))
	}
	return text + fmt.Sprintf("'s memory gives (%s GB/s)", formatNumber(l.Rate))
}
