package search

import (
	"math"
	"math/rand/v2"
)

// metropolis decides whether a walk goes from an objective to another: always where that is no
// worse, and else with the probability exp(-Δ/T) (Metropolis et al., Journal of Chemical
// Physics 21(6), 1953), Δ being relative to the present objective, so that a temperature means
// the same for times of microseconds and of seconds.
func metropolis(r *rand.Rand, present, next, temperature float64) bool {
	loss := relativeLoss(present, next)
	return loss <= 0 || r.Float64() < math.Exp(-loss/temperature)
}

// relativeLoss is how much worse an objective is than another, relative to that. Of a
// failure nothing is lost.
func relativeLoss(present, next float64) float64 {
	switch {
	case next <= present:
		return 0
	case present == 0:
		return math.Inf(1)
	}
	return (next - present) / math.Abs(present)
}
