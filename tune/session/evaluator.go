package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/fleet"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/worker"
)

// An Evaluator measures configurations: a pool of worker processes, a device in this process, or a fleet.
type Evaluator interface {
	tune.Remeasurer
	tune.Prober
	Evaluated() int
	Close()
}

// An Evaluation says how configurations are evaluated. Of the options, the session sets EarlyStop, Timer, Peaks, Set and Note.
type Evaluation struct {
	worker.Options // Single: the user named the configurations, and each is measured in full

	InProcess     bool // without workers, on one device
	AllowSettings bool // the specification may change settings of the devices

	// MeasurePeaks measures figures of a device, in a worker of a reserve if it has one, and keeps them with those that the
	// device has. It returns all of them. Nil: unknown peaks are not measured.
	MeasurePeaks func(_ context.Context, _ device.Listed, d hardware.Device, figures []string, r *worker.Reserve) (*hardware.Peaks, error)
}

// OpenEvaluator opens the evaluator, with the peaks that were found.
func (s *Session) OpenEvaluator(ctx context.Context) error {
	p := s.plan.Spec.Problem
	if names := p.SettingNames(); len(names) > 0 && !s.evaluation.AllowSettings {
		return wrongOption("the specification changes settings of the device (measure.settings: %s): allow it with --allow settings; "+
			"they are restored at the end (docs/observers.md)", strings.Join(names, ", "))
	}
	if s.place.Fleet != nil {
		e, err := fleet.Open(ctx, s.place.Fleet, p, *s.place.Devices[0].Identity,
			fleet.Options{Search: s.fleetSearch(), Note: s.listener.Note, Worker: s.options()})
		if err == nil {
			s.Evaluator = e
		}
		return err
	}
	var err error
	if s.controls, err = openControls(ctx, s.place.Devices, p.SettingNames(), s.plan.Spec); err != nil {
		return err
	}
	if len(s.controls) > 0 {
		s.listener.Say(strings.Join(p.SettingNames(), ", ") + " of the device will be changed, and restored at the end.")
	}
	if s.evaluation.InProcess {
		return s.openDevice()
	}
	if s.evaluation.Reserve == nil {
		s.own = worker.NewReserve(s.evaluation.Output)
		s.evaluation.Reserve = s.own
	}
	pool, err := worker.Open(ctx, s.place.Devices, p, s.options())
	if err == nil {
		s.Evaluator = pool
	}
	return err
}

// options returns the options of a pool, here or on other machines.
func (s *Session) options() worker.Options {
	o, timing := s.evaluation.Options, s.plan.Spec.Problem.Timing()
	if o.Iterations = cmp.Or(o.Iterations, timing.Launches); !o.Single {
		o.EarlyStop = timing.EarlyStop
	}
	o.Timer, o.Peaks, o.Set, o.Note = s.timer, s.limits.peaks, s.controls.setters(), s.listener.Note
	return o
}

// openDevice opens a device in this process.
func (s *Session) openDevice() error {
	if len(s.place.Devices) > 1 {
		return wrongOption("--workers 0 evaluates on one device, and --device names %d; name one of them", len(s.place.Devices))
	}
	of := s.options()
	o := device.Options{Timer: of.Timer, Peaks: of.Peaks, Iterations: of.Iterations, EarlyStop: of.EarlyStop, Outputs: of.Outputs}
	if len(s.controls) > 0 {
		o.Set = s.controls[0].Set
	}
	e, err := device.Open(s.place.Devices[0].Device, s.plan.Spec.Problem, o)
	if err == nil {
		s.Evaluator = e
	}
	return err
}

// fleetSearch returns the id of the search in the fleet. A search that continues a run log has the same id as the one
// that began it, so that results that were on their way are not lost. Searches of other kinds of devices, of other sizes,
// and the measurements of a comparison have other ids.
func (s *Session) fleetSearch() string {
	begun := time.Now()
	if s.begun != nil {
		begun = s.begun.Started
	} else {
		s.started = begun
	}
	d := s.place.Devices[0].Identity
	kind := []string{d.Platform, d.Vendor, d.Name, d.Driver, d.Version}
	compares := s.plan.Strategy.Name == record.StrategyCompare
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%t\n%q", s.plan.Spec.Problem.Digest(), s.plan.Size.String(),
		begun.UTC().Format(time.RFC3339Nano), compares, kind))
	return hex.EncodeToString(sum[:16])
}

// Spent says how the time of an evaluation was spent.
func (s *Session) Spent(o *tune.Outcome) string {
	if pool, ok := s.Evaluator.(*worker.Pool); ok {
		s := pool.Spent()
		text := fmt.Sprintf("time of %s: starting %s, building %s, verifying %s, measuring %s, waiting for the device %s, idle %s",
			figure.Count(pool.Started(), "worker"), tenths(s.Starting), tenths(s.Building), tenths(s.Verifying),
			tenths(s.Measuring), tenths(s.Waiting), tenths(s.Idle))
		return text
	}
	var d tune.Durations
	for _, r := range o.Results[min(o.Resumed, len(o.Results)):] {
		d.Build += r.Durations.Build
		d.Verify += r.Durations.Verify
		d.Measure += r.Durations.Measure
	}
	return fmt.Sprintf("time: building %s, verifying %s, measuring %s", tenths(d.Build), tenths(d.Verify), tenths(d.Measure))
}

// tenths formats a duration in seconds.
func tenths(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
