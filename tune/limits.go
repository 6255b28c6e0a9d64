package tune

import (
	"slices"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// LimitNeeds returns the peaks that the limits of the correct results need.
func LimitNeeds(p *problem.Problem, results []Result, d hardware.Device) problem.Needs {
	return p.LimitNeeds(func(yield func(space.Configuration) bool) {
		for _, i := range Rank(p.Objective(), results).Places {
			if !yield(results[i].Configuration) {
				return
			}
		}
	}, d)
}

// AddLimits puts «% of limit» into the correct results that have none, beside the other metrics
// of the roofline: for a device whose peaks are known only now.
func AddLimits(p *problem.Problem, results []Result, d hardware.Device) {
	place := slices.Index(p.MetricNames(d), problem.MetricOfLimit)
	if place < 0 {
		return
	}
	for i := range results {
		if results[i].Status == Correct {
			results[i].AddLimit(place, p.LimitTime(results[i].Configuration, d))
		}
	}
}

// AddLimit puts «% of limit» at a place among the metrics of a result that has none, those of its
// final measurement too, by its limit in milliseconds.
func (r *Result) AddLimit(place int, ms float64) {
	if r.Status != Correct {
		return
	}
	// New metrics: others may hold the old ones.
	r.Metrics = withLimit(r.Metrics, place, ms, r.Times, r.Time())
	if r.AtFinal != nil {
		r.AtFinal = &problem.Judgement{Metrics: withLimit(r.AtFinal.Metrics, place, ms, r.Final, r.FinalTime()), Objective: r.AtFinal.Objective}
	}
}

// withLimit are metrics with «% of limit» at the time of some launches.
func withLimit(metrics []problem.MetricValue, place int, ms float64, launches []float64, time float64) []problem.MetricValue {
	if _, has := problem.Named(metrics, problem.MetricOfLimit); has || len(launches) == 0 {
		return metrics
	}
	return slices.Insert(slices.Clip(metrics), min(place, len(metrics)), problem.MetricValue{Name: problem.MetricOfLimit, Value: problem.Limit{Time: ms}.Share(time)})
}
