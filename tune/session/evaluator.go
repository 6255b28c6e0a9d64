package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

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
	Evaluated() int
	Close()
}

// An Evaluation says how configurations are evaluated.
type Evaluation struct {
	InProcess     bool            // without workers, on one device
	Workers       int             // that build; 0: as many as are worth it
	Reserve       *worker.Reserve // of workers, for this machine; nil: one of the session's own
	Output        io.Writer       // gets what workers and drivers print; nil: it is dropped
	Iterations    int             // timed launches, or device.Untimed; 0: those of the specification
	Outputs       string          // as in [device.Options]
	BuildTimeout  time.Duration
	KernelTimeout time.Duration

	Named         bool // the user named the configurations: each is measured in full
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
	earlyStop := p.Timing().EarlyStop
	if s.evaluation.Named {
		earlyStop = 0
	}
	if s.place.Fleet != nil {
		return s.openFleet(ctx, earlyStop)
	}
	var err error
	if s.controls, err = openControls(ctx, s.place.Devices, p.SettingNames(), s.plan.Spec); err != nil {
		return err
	}
	if len(s.controls) > 0 {
		s.listener.Say(strings.Join(p.SettingNames(), ", ") + " of the device will be changed, and restored at the end.")
	}
	if s.evaluation.InProcess {
		return s.openDevice(earlyStop)
	}
	return s.openPool(ctx, earlyStop)
}

// openDevice opens a device in this process.
func (s *Session) openDevice(earlyStop float64) error {
	if len(s.place.Devices) > 1 {
		return wrongOption("--workers 0 evaluates on one device, and --device names %d; name one of them", len(s.place.Devices))
	}
	o := device.Options{Timer: s.timer, Peaks: s.limits.peaks, Iterations: s.launches(), EarlyStop: earlyStop, Outputs: s.evaluation.Outputs}
	if len(s.controls) > 0 {
		o.Set = s.controls[0].Set
	}
	e, err := device.Open(s.place.Devices[0].Device, s.plan.Spec.Problem, o)
	if err == nil {
		s.Evaluator = e
	}
	return err
}

// openPool opens a pool of workers.
func (s *Session) openPool(ctx context.Context, earlyStop float64) error {
	if s.evaluation.Reserve == nil {
		s.own = worker.NewReserve(s.evaluation.Output)
		s.evaluation.Reserve = s.own
	}
	e := s.evaluation
	pool, err := worker.Open(ctx, s.place.Devices, s.plan.Spec.Problem, worker.Options{
		Workers: e.Workers, Single: e.Named, Timer: s.timer, Peaks: s.limits.peaks, Iterations: s.launches(), EarlyStop: earlyStop,
		BuildTimeout: e.BuildTimeout, KernelTimeout: e.KernelTimeout, Set: s.controls.setters(),
		Outputs: e.Outputs, Reserve: e.Reserve, Note: s.listener.Note,
	})
	if err == nil {
		s.Evaluator = pool
	}
	return err
}

// openFleet begins the search on the devices of a fleet.
func (s *Session) openFleet(ctx context.Context, earlyStop float64) error {
	e, err := fleet.Open(ctx, s.place.Fleet, s.plan.Spec.Problem, *s.place.Devices[0].Identity, fleet.Options{
		Search: s.fleetSearch(), Note: s.listener.Note,
		Settings: fleet.Settings{
			Iterations: s.launches(), EarlyStop: earlyStop, Peaks: s.limits.peaks,
			BuildTimeout: s.evaluation.BuildTimeout, KernelTimeout: s.evaluation.KernelTimeout,
		},
	})
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

// launches returns the number of timed launches of a configuration.
func (s *Session) launches() int {
	return cmp.Or(s.evaluation.Iterations, s.plan.Spec.Problem.Timing().Launches)
}
