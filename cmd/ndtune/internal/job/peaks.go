package job

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/worker"
)

// noPeakVariable is the environment variable by which scripts say that unknown peaks shall not be measured.
const noPeakVariable = "NDTUNE_NO_PEAK"

// MeasurePeaks measures figures of a device, or all if none is named, and keeps them in the user's state folder, with those that the
// device has. It returns all of them. If they cannot be kept, that is only noted.
func MeasurePeaks(
	ctx context.Context, t *ui.Console, l device.Listed, d hardware.Device, figures []string, r *worker.Reserve,
) (*hardware.Peaks, error) {
	bar := ui.NewProgress(t.Notes, len(peak.Parts(figures...)), "part", t.Quiet)
	if r == nil {
		r = worker.NewReserve(t.Diagnostics())
		defer r.Close()
	}
	o := worker.PeakOptions{Figures: figures, Timer: d.Timer, Begin: func(part string, number int) {
		bar.Done = number - 1
		bar.Describe(l.Name + ": " + part)
	}}
	peaks, err := r.MeasurePeaks(ctx, l, o)
	bar.Finish()
	if err != nil {
		return d.Peaks, err
	}
	if d.Peaks == nil || len(figures) == 0 {
		d.Peaks = peaks
	} else {
		d.Peaks.Add(peaks)
	}
	d.Timer = peaks.Timer
	if err := record.KeepPeaks(d); err != nil {
		t.Note(err.Error())
	}
	return d.Peaks, nil
}

// PrintPeaks prints the table of a device's peaks.
func PrintPeaks(w io.Writer, p *hardware.Peaks) {
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
			line := fmt.Sprintf("      %-27s %8s %-8s %s", f.Title, ui.FormatNumber(figure.Value), figure.Unit, figure.Variant)
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
}

// LimitDoubt says what to doubt if a time in milliseconds beats the limit; "" for others.
func LimitDoubt(l score.Limit, ms float64) string {
	if !score.IsBeaten(l.Share(ms)) {
		return ""
	}
	return score.BeatenText(l.Peak())
}

// LimitText says how far a time in milliseconds is from the limit, and which resource limits it:
// «limit: 83 % of what the device's memory gives (3909 GB/s)».
func LimitText(l score.Limit, ms float64) string {
	reached, unit := l.Share(ms), "GB/s"
	if l.Resource == score.Arithmetic {
		unit = "GFLOP/s"
	}
	share := fmt.Sprintf("%.0f", reached)
	switch {
	case score.IsBeaten(reached):
		return fmt.Sprintf("limit: beaten: %s %s, and the peak %s is %s %s", ui.FormatNumber(l.Rate*reached/100), unit, l.Peak(), ui.FormatNumber(l.Rate), unit)
	case reached < 0.1:
		share = ui.FormatNumber(reached)
	case reached < 10:
		share = fmt.Sprintf("%.1f", reached)
	}
	what := "'s memory gives"
	switch l.Resource {
	case score.Arithmetic:
		what = " computes in " + l.Precision
	case score.Caches:
		what = "'s caches give for " + ui.FormatBytes(l.Set)
	}
	return fmt.Sprintf("limit: %s %% of what the device%s (%s %s)", share, what, ui.FormatNumber(l.Rate), unit)
}
