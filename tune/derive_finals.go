package tune

import (
	"math"

	"github.com/ndtune/ndtune/tune/problem"
)

// DeriveFinals sets AtFinal of the results of a record that holds final times and no more, as
// records of earlier versions do. The objective follows from the times where it is a time, and
// where it is a rate of the time: proportional to the time, or to its inverse, with one factor in
// the whole search. So does each metric; [problem.MetricOfLimit] is a rate with a factor for each
// configuration. Other metrics are left out, and where the objective is such a metric AtFinal stays
// nil: only the problem has its formula. A [Run] that resumes such a log computes all of them by
// their formulas, and adds them to it.
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

// A rate is a metric that is proportional to the time or to its inverse, with one factor for
// all configurations: GFLOP/s of a fixed problem.
type rate struct {
	factor  float64
	inverse bool
	known   bool
}

// rateOf finds out whether a metric is a rate, from at least two correct results.
func rateOf(results []Result, metric func(*Result) (float64, bool)) rate {
	var products, quotients spread
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
		products.add(v * t)
		quotients.add(v / t)
	}
	switch {
	case products.n < 2:
		return rate{}
	case products.constant():
		return rate{products.first, true, true}
	case quotients.constant():
		return rate{quotients.first, false, true}
	}
	return rate{}
}

// at is the metric at a time.
func (r rate) at(time float64) float64 {
	if r.inverse {
		return r.factor / time
	}
	return r.factor * time
}

// A spread is the range of numbers.
type spread struct {
	n               int
	first, low, top float64
}

func (s *spread) add(v float64) {
	if s.n == 0 {
		s.first, s.low, s.top = v, v, v
	}
	s.n++
	s.low, s.top = math.Min(s.low, v), math.Max(s.top, v)
}

// constant allows for the rounding of expressions and of files with few digits.
func (s *spread) constant() bool {
	return s.n > 0 && s.top-s.low <= 1e-9*math.Abs(s.first)
}
