package job

import (
	"context"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
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
