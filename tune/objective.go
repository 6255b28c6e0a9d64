package tune

import "github.com/ndtune/ndtune/tune/space"

// better reports whether objective a improves on b.
func (o Objective) better(a, b float64) bool {
	if o.Maximize {
		return a > b
	}
	return a < b
}

// Worse reports whether a value of the objective is worse than the best by more than a
// factor: larger than factor·best where it is minimised, smaller than best/factor where it
// is maximised. It is false where that says nothing: the best is not positive, the factor
// is not more than 1, or one of the three is not a finite number.
func (o Objective) Worse(value, best, factor float64) bool {
	switch {
	case !finite(value) || !finite(best) || !finite(factor) || best <= 0 || factor <= 1:
		return false
	case o.Maximize:
		return value < best/factor
	}
	return value > factor*best
}

// ObjectiveAt is the objective that [Run] computes for a configuration from the times of
// its launches, in milliseconds. The error says why these times cannot be ranked.
func (p *Problem) ObjectiveAt(c space.Configuration, d Device, times []float64) (float64, error) {
	stats := StatsOf(times)
	_, value, err := p.judge(c, d, stats, stats.Mean)
	if err != nil {
		return 0, err
	}
	return value, nil
}
