package report

import (
	"math"

	"github.com/ndtune/ndtune/tune"
)

// A best is the best configuration of a run.
type best struct {
	row   int
	time  float64 // milliseconds: the median of the final measurement, else the mean of the search
	final bool    // time is of the final measurement, which also decided
	// undecided says that there was a final measurement, but not what the objective is at its
	// times: the search's decided.
	undecided bool
}

// bestOf is the best correct result, as tune.Problem.Best finds it: by the objective at the
// median of the final measurement where there was one, else by the objective. A record holds no
// expression of an objective that is a metric; where it was a rate of the time in the whole search
// (see rate), it is one in the final measurement. It is nil where none is correct.
func bestOf(results []tune.Result, o tune.Objective) *best {
	finalist, winner := -1, -1
	finalValue, value := 0.0, 0.0
	at := rateOf(results, func(r *tune.Result) (float64, bool) { return r.Objective, true })
	finals := false
	for i := range results {
		r := &results[i]
		if r.Status != tune.Correct || math.IsNaN(r.Objective) || math.IsInf(r.Objective, 0) {
			continue
		}
		if winner < 0 || better(o, r.Objective, value) {
			winner, value = i, r.Objective
		}
		if len(r.Final) == 0 {
			continue
		}
		finals = true
		v, ok := finalObjective(r, o, at)
		// Of equal ones the better in the search counts, as in the search's own choice.
		if ok && (finalist < 0 || better(o, v, finalValue) ||
			v == finalValue && better(o, r.Objective, results[finalist].Objective)) {
			finalist, finalValue = i, v
		}
	}
	switch {
	case winner < 0:
		return nil
	case finalist >= 0:
		return &best{row: finalist, time: results[finalist].FinalTime(), final: true}
	}
	return &best{row: winner, time: results[winner].Time(), undecided: finals}
}

func better(o tune.Objective, a, b float64) bool {
	if o.Maximize {
		return a > b
	}
	return a < b
}

// finalObjective is the objective of a result at its final times, where it is known.
func finalObjective(r *tune.Result, o tune.Objective, at rate) (float64, bool) {
	stats := tune.StatsOf(r.Final)
	switch o.Name {
	case "time", "time_median":
		return stats.Median, true
	case "time_min":
		return stats.Min, true
	}
	return at.value(stats.Median)
}

// A rate is a metric that is proportional to the time or to its inverse, with one factor for
// all configurations: GFLOP/s of a fixed problem.
type rate struct {
	factor  float64
	inverse bool
	known   bool
}

// rateOf finds out whether a metric is a rate, from at least two correct configurations.
func rateOf(results []tune.Result, metric func(*tune.Result) (float64, bool)) rate {
	var products, quotients spread
	for i := range results {
		r := &results[i]
		if r.Status != tune.Correct {
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

func (r rate) value(time float64) (float64, bool) {
	if r.inverse {
		return r.factor / time, r.known
	}
	return r.factor * time, r.known
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
