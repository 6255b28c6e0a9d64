package session

import (
	"context"
	"fmt"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
)

// limits are the peaks of the device, which the limits of its results come from.
type limits struct {
	peaks *hardware.Peaks // nil: unknown before the search
	later bool            // the limits are added after the search
}

// FindPeaks finds the peaks of the device: those in the run log that is continued, so that all its results are compared
// with the same; else those that are known. If the roofline of the specification needs others, they
// are measured after the search, or before it if the search itself reads peaks. Begun is the header of the
// log; nil: there is none.
func (s *Session) FindPeaks(ctx context.Context, begun *record.Header) error {
	p := s.plan.Spec.Problem
	if begun != nil && (begun.Device.Peaks != nil || p.ReadsPeaks()) {
		s.limits.peaks = begun.Device.Peaks
		return nil
	}
	d := Describe(s.place.Devices[0], s.listener.Note)
	needed := p.LimitPeaks()
	if len(needed) > 0 && p.ReadsPeaks() {
		needed = each.Of(hardware.PeakFigures(), func(f hardware.PeakFigure) string { return f.Name })
	}
	if begun == nil {
		s.limits.peaks = d.Peaks
	} // else its results, too, get the limits of those to come
	switch lacking := d.Peaks.Lacking(needed); {
	case len(lacking) == 0:
		s.limits.later = begun != nil && len(needed) > 0
	case s.evaluation.MeasurePeaks == nil || s.place.Fleet != nil:
	case !p.ReadsPeaks():
		s.limits.later = true
	default:
		var err error
		s.limits.peaks, err = s.measurePeaks(ctx, d, lacking, "")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			s.listener.Note(fmt.Sprintf("The peaks of %s could not be measured: %v", d.Name, err))
		}
	}
	return nil
}

// measurePeaks measures figures of the device, and returns them with those that it has.
func (s *Session) measurePeaks(ctx context.Context, d hardware.Device, figures []string, hint string) (*hardware.Peaks, error) {
	s.listener.Say(fmt.Sprintf("Measuring the peaks of %s, once for all runs%s", d.Name, hint))
	return s.evaluation.MeasurePeaks(ctx, s.place.Devices[0], d, figures, s.evaluation.Reserve)
}

// Describe describes a device, with its peaks if the user's state folder holds them. Those of a device of another machine came with
// its description. Peaks that cannot be read are only noted.
func Describe(l device.Listed, note func(text string)) hardware.Device {
	d := *l.Identity
	if l.Device != nil { // of this machine
		var err error
		if d.Peaks, err = record.KnownPeaks(d, peak.Method); err != nil {
			note(err.Error())
		}
	}
	return d
}

// AddLimits adds % of limit to the results of a search that began without them, and the peaks to the
// device of the outcome and to the log. Unknown peaks are measured now, in another process: the evaluator is closed before. A limit
// that cannot be computed is only noted, because the search has its result.
func (s *Session) AddLimits(ctx context.Context, o *tune.Outcome) error {
	err := s.addLimits(ctx, o)
	if b := o.Best; b != nil && len(b.Times) > 0 {
		if l, none := s.plan.Spec.Problem.Limit(b.Configuration, o.Device); none == nil && score.IsBeaten(l.Share(b.Figures().Time)) {
			o.Warnings = append(o.Warnings, score.BeatenText(l.Peak()))
		}
	}
	return err
}

func (s *Session) addLimits(ctx context.Context, o *tune.Outcome) error {
	p := s.plan.Spec.Problem
	if !s.limits.later {
		return nil
	}
	s.Evaluator.Close()
	if o.Best == nil || o.Stop == tune.Interrupted || o.Stop == tune.Environment || ctx.Err() != nil {
		return nil
	}
	d := o.Device
	d.Peaks = Describe(s.place.Devices[0], s.listener.Note).Peaks
	var err error
	if lacking := d.Peaks.Lacking(p.LimitPeaks()); len(lacking) > 0 {
		d.Peaks, err = s.measurePeaks(ctx, d, lacking, " (Ctrl-C skips this)")
	}
	if err == nil {
		err = p.LimitKnown(d)
	}
	switch {
	case ctx.Err() != nil:
		s.listener.Note("Interrupted: no " + score.MetricOfLimit)
		return nil
	case err != nil:
		s.listener.Note(s.noLimit(err, len(d.Peaks.Lacking(p.LimitPeaks())) == 0))
		return nil
	}
	o.Device = d
	tune.AddLimits(p, o.Results, d)
	if s.Log == nil {
		return nil
	}
	return s.Log.AppendPeaks(d.Peaks, p.MetricNames(d), o.Results, func(r *tune.Result) float64 { return p.LimitTime(r.Configuration, d) })
}

// sayNoLimit says that the results of a search will have no % of limit, unless nobody wants the peaks measured.
func (s *Session) sayNoLimit() {
	d := s.Evaluator.Device()
	p := s.plan.Spec.Problem
	measured := len(d.Peaks.Lacking(p.LimitPeaks())) == 0
	if err := p.LimitKnown(d); err != nil && !s.limits.later && (measured || s.evaluation.MeasurePeaks != nil) {
		s.listener.Say(s.noLimit(err, measured))
	}
}

// noLimit says why there is no % of limit, and what to do if the peaks were not measured. If they were,
// measuring again would not help.
func (s *Session) noLimit(why error, measured bool) string {
	hint := ""
	switch {
	case measured:
	case s.Log != nil && len(s.Log.Previous()) > 0:
		hint = " (the run log was begun without them)"
	case s.place.Fleet != nil:
		hint = " (ndtune devices --peak on a machine that has the device measures them, for agents that start later)"
	default:
		hint = " (ndtune devices --peak measures them)"
	}
	return fmt.Sprintf("No %s: %v%s", score.MetricOfLimit, why, hint)
}
