package tune

import (
	"math"
	"slices"

	"github.com/ndtune/ndtune/tune/problem"
)

// DeriveFinals sets AtFinal of the results of a record that holds final times only, as records of
// earlier versions do. It derives the objective and each metric that is a time or a rate: proportional
// to the time, or to its inverse, with one factor in the whole search. [problem.MetricOfLimit] has a
// factor for each configuration. DeriveFinals leaves out other metrics, because only the problem has
// their formulas; if the objective is one of them, AtFinal stays nil. A [Run] that resumes such a log
// computes all of them by their formulas and adds them to the log.
func DeriveFinals(o problem.Objective, results []Result) {
	old := false
	for i := range results {
		if results[i].AtFinal != nil {
			return
		}
		old = old || len(results[i].Final) > 0
	}
	if !old {
		return
	}
	objective := rateOf(results, func(r *Result) (float64, bool) { return r.Objective, true })
	metrics := map[string]rate{}
	for i := range results {
		r := &results[i]
		times := problem.StatsOf(r.Final)
		if r.Status != Correct || times.Rankable() != nil {
			continue
		}
		j := problem.Judgement{}
		for _, m := range r.Metrics {
			of, found := metrics[m.Name]
			if !found {
				of = rateOf(results, func(r *Result) (float64, bool) { return r.Metric(m.Name) })
				metrics[m.Name] = of
			}
			if m.Name == problem.MetricOfLimit {
				of = rate{m.Value * r.Time(), true, true}
			}
			if of.known {
				j.Metrics = append(j.Metrics, problem.MetricValue{Name: m.Name, Value: of.at(times.Median)})
			}
		}
		known := true
		switch o.Name {
		case "", "time", "time_median":
			j.Objective = times.Median
		case "time_min":
			j.Objective = times.Min
		default:
			if j.Objective, known = j.Metric(o.Name); !known {
				j.Objective, known = objective.at(times.Median), objective.known
			}
		}
		if known {
			r.AtFinal = &j
		}
	}
}

// A rate is a metric that is proportional to the time or to its inverse, with one factor for all
// configurations, such as the GFLOP/s of a fixed problem.
type rate struct {
	factor  float64
	inverse bool
	known   bool
}

// rateOf returns the rate that a metric is, judged by at least two correct results.
func rateOf(results []Result, metric func(*Result) (float64, bool)) rate {
	var products, quotients []float64
	for i := range results {
		r := &results[i]
		if r.Status != Correct {
			continue
		}
		v, ok := metric(r)
		t := r.Time()
		if !ok || !(t > 0) {
			return rate{}
		}
		products, quotients = append(products, v*t), append(quotients, v/t)
	}
	switch {
	case len(products) < 2:
		return rate{}
	case constant(products):
		return rate{products[0], true, true}
	case constant(quotients):
		return rate{quotients[0], false, true}
	}
	return rate{}
}

// at returns the metric at a time.
func (r rate) at(time float64) float64 {
	if r.inverse {
		return r.factor / time
	}
	return r.factor * time
}

// constant reports whether numbers are equal, but for the rounding of expressions and of files with
// few digits.
func constant(v []float64) bool {
	return slices.Max(v)-slices.Min(v) <= 1e-9*math.Abs(v[0])
}
