package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/observe"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/worker"
)

// limits are the peaks of the device, which the limits of its results come from.
type limits struct {
	peaks *hardware.Peaks // nil: unknown before the search
	later bool            // the limits are added after the search
	needs *judge.Needs    // peaks to be measured during the search; nil: none
}

// LimitsLater reports whether [Session.AddLimits] finds the limits after the search.
func (s *Session) LimitsLater() bool { return s.limits.later }

// FindPeaks finds the peaks of the device: those in the run log that is continued, so that all its results are compared
// with the same; else those that are known. If there are none and the specification has a roofline, they
// are measured during and after the search, or before it if the search itself reads them. Begun is the header of the
// log; nil: there is none.
func (s *Session) FindPeaks(ctx context.Context, begun *record.Header) error {
	p := s.plan.Spec.Problem
	if begun != nil && (begun.Device.Peaks != nil || p.ReadsPeaks()) {
		s.limits.peaks = begun.Device.Peaks
		return nil
	}
	d, err := Describe(s.place.Devices[0], s.listener.Note)
	if err != nil {
		return err
	}
	wanted := p.Definition().Roofline != nil && (d.Peaks != nil || s.evaluation.MeasurePeaks != nil && s.place.Fleet == nil)
	switch {
	case begun != nil: // its results, too, get the limits of those to come
		s.limits.later = wanted
		return nil
	case d.Peaks != nil || !wanted:
		s.limits.peaks = d.Peaks
		return nil
	case !p.ReadsPeaks():
		s.limits.later = true
		s.measureMeanwhile(d)
		return nil
	}
	s.listener.Say(fmt.Sprintf("Measuring the peaks of %s, once for all runs (--no-peak skips this)", d.Name))
	s.limits.peaks, err = s.evaluation.MeasurePeaks(ctx, s.place.Devices[0], d)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		s.listener.Note(fmt.Sprintf("The peaks of %s could not be measured: %v", d.Name, err))
	}
	return nil
}

// Describe describes a device, with its peaks if the user's state folder holds them. Peaks that cannot be read are only noted.
func Describe(l device.Listed, note func(text string)) (hardware.Device, error) {
	d := *l.Identity
	if l.Device != nil { // of this machine
		var err error
		if d, err = device.Describe(l.Device); err != nil {
			return d, err
		}
	}
	var err error
	if d.Peaks, err = record.KnownPeaks(d, peak.Method, ""); err != nil {
		note(err.Error())
	}
	return d, nil
}

// AddLimits adds % of limit to the results of a search that began without peaks, and its peaks to the
// device of the outcome and to the log. They are the known ones, else those that the limits need are
// measured now, in another process: the evaluator is closed before. A limit that cannot be computed is only
// noted, because the search has its result.
func (s *Session) AddLimits(ctx context.Context, o *tune.Outcome) error {
	p := s.plan.Spec.Problem
	if !s.limits.later {
		return nil
	}
	s.Evaluator.Close()
	if o.Best == nil || o.Stop == tune.Interrupted || o.Stop == tune.Environment || ctx.Err() != nil {
		return nil
	}
	known, err := Describe(s.place.Devices[0], s.listener.Note)
	d := o.Device
	if d.Peaks = known.Peaks; err == nil {
		err = s.findLimit(ctx, &d, o)
	}
	switch {
	case ctx.Err() != nil:
		s.listener.Note("Interrupted: no " + judge.MetricOfLimit)
		return nil
	case err != nil:
		s.listener.Note(NoLimit(err, d.Peaks, false))
		return nil
	}
	o.Device = d
	tune.AddLimits(p, o.Results, d)
	if s.Log == nil {
		return nil
	}
	return s.Log.AppendPeaks(d.Peaks, p.MetricNames(d), o.Results, func(r *tune.Result) float64 { return p.LimitTime(r.Configuration, d) })
}

// findLimit gives a device the peaks that the limits of an outcome need. It measures kept ones again that the best result exceeds.
func (s *Session) findLimit(ctx context.Context, d *hardware.Device, o *tune.Outcome) (err error) {
	p := s.plan.Spec.Problem
	if d.Peaks != nil {
		return p.LimitKnown(*d)
	}
	kept := s.keptQuickly(*d)
	if d.Peaks, err = s.quickPeaks(ctx, *d, o.Results, kept, false); err == nil {
		err = p.LimitKnown(*d)
	}
	if err != nil || d.Peaks != kept {
		return err
	}
	// They may have been measured while something else used the device.
	l, err := p.Limit(o.Best.Configuration, *d)
	if err != nil || !IsBeyond(l, o.Best.Figures().Time) || kept.LeastRepeats() >= enoughRepeats {
		return nil
	}
	d.Peaks, err = s.quickPeaks(ctx, *d, o.Results, kept, true)
	return err
}

// IsBeyond reports whether a time in milliseconds is clearly shorter than its limit allows.
func IsBeyond(l judge.Limit, ms float64) bool { return l.Share(ms) >= 102 }

// enoughRepeats is how often peaks are measured quickly that results exceed. More repeats would not help: the specification counts too
// much work, or the variants that the time did not allow are faster.
const enoughRepeats = 4

// quickPeaks returns the peaks that the limits of some results need: the kept ones of earlier runs, or if they lack something, have not
// confirmed it or shall be measured again, those and new ones together.
func (s *Session) quickPeaks(
	ctx context.Context, d hardware.Device, results []tune.Result, kept *hardware.Peaks, again bool,
) (*hardware.Peaks, error) {
	l := s.place.Devices[0]
	needs := tune.LimitNeeds(s.plan.Spec.Problem, results, d)
	info, err := l.Device.Info()
	if err != nil || !again && peak.Covered(info, kept, needs) {
		return kept, err
	}
	s.listener.Say(fmt.Sprintf("Measuring the peaks of %s that the limit needs (--no-peak skips this)", l.Name))
	measured, err := worker.MeasurePeaks(ctx, l, worker.PeakOptions{Needs: &needs, Timer: d.Timer, Reserve: s.evaluation.Reserve})
	if err != nil {
		return nil, err
	}
	d.Peaks = kept.MergeQuick(measured)
	if err := record.KeepPeaks(d, conditions(d)); err != nil {
		s.listener.Note(err.Error())
	}
	return d.Peaks, nil
}

// measureMeanwhile has the peaks for the limits of a search measured while the builders compile, unless they are kept. The limits
// of the first configuration stand for all; what others need is measured after the search.
func (s *Session) measureMeanwhile(d hardware.Device) {
	p := s.plan.Spec.Problem
	configuration, err := p.Parameters().ConfigureFirst(nil)
	if err != nil {
		return
	}
	needs := p.LimitNeeds(slices.Values([]space.Configuration{configuration}), d)
	d.Timer = hardware.TimerEvent // no others are measured meanwhile
	if info, err := s.place.Devices[0].Device.Info(); err == nil && !peak.Covered(info, s.keptQuickly(d), needs) {
		s.limits.needs = &needs
	}
}

// keptQuickly returns the peaks of a device, with its timer, that earlier runs have measured quickly; nil: none.
func (s *Session) keptQuickly(d hardware.Device) *hardware.Peaks {
	kept, err := record.KnownPeaks(d, peak.Method, conditions(d))
	if err != nil {
		s.listener.Note(err.Error())
	}
	return kept
}

// conditions returns those under which peaks are measured quickly.
func conditions(d hardware.Device) string {
	return fmt.Sprintf(" quick, timer %s, %d MHz, %s", d.Timer, d.ClockMHz, observe.Ceilings(d))
}

// NoLimit says why there is no % of limit, and what to do if the device was not measured. If it was,
// measuring again would not help.
func NoLimit(why error, known *hardware.Peaks, resumed bool) string {
	hint := ""
	switch {
	case known != nil:
	case resumed:
		hint = " (the run log was begun without them)"
	default:
		hint = " (ndtune devices --peak measures them)"
	}
	return fmt.Sprintf("No %s: %v%s", judge.MetricOfLimit, why, hint)
}
