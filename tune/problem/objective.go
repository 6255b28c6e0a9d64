package problem

import (
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// Better reports whether value a of the objective improves on value b: it is smaller where the
// objective is minimised, larger where it is maximised. A value that is not a finite number
// improves on nothing, and every finite number improves on it.
func (o Objective) Better(a, b float64) bool {
	switch {
	case !Finite(a):
		return false
	case !Finite(b):
		return true
	case o.Maximize:
		return a > b
	}
	return a < b
}

// Gain is how many times better a value of the objective is than another. It is not known where
// one of them is not positive, so that a ratio says nothing.
func (o Objective) Gain(value, than float64) (ratio float64, known bool) {
	switch {
	case !(value > 0) || !(than > 0):
		return 0, false
	case o.Maximize:
		return value / than, true
	}
	return than / value, true
}

// Worse reports whether a value of the objective is worse than the best by more than a
// factor: larger than factor·best where it is minimised, smaller than best/factor where it
// is maximised. It is false where that says nothing: the best is not positive, the factor
// is not more than 1, or one of the three is not a finite number.
func (o Objective) Worse(value, best, factor float64) bool {
	switch {
	case !Finite(value) || !Finite(best) || !Finite(factor) || best <= 0 || factor <= 1:
		return false
	case o.Maximize:
		return value < best/factor
	}
	return value > factor*best
}

// ObjectiveAt is the objective that [Run] computes for a configuration from the times of
// its launches, in milliseconds. The error says why these times cannot be ranked.
func (p *Problem) ObjectiveAt(c space.Configuration, d hardware.Device, times []float64) (float64, error) {
	stats := StatsOf(times)
	j, err := p.Judge(c, d, stats, stats.Mean)
	if err != nil {
		return 0, err
	}
	return j.Objective, nil
}
