package search

import (
	"math"
	"slices"
)

// targetsOf is what a model learns of objectives: their logarithms, where all have one sign,
// since times are far apart; what is worse than the median counts half as far from it, since
// how bad it is does not matter; a failure, +Inf, is as bad as the worst. They have mean 0 and
// deviation 1.
func targetsOf(objectives []float64) []float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, y := range objectives {
		if !math.IsInf(y, 1) {
			least, most = min(least, y), max(most, y)
		}
	}
	targets := make([]float64, len(objectives))
	if math.IsInf(least, 1) {
		return targets // nothing but failures
	}
	transform := func(y float64) float64 { return y }
	switch {
	case least > 0:
		transform = math.Log
	case most < 0:
		transform = func(y float64) float64 { return -math.Log(-y) }
	}
	for i, y := range objectives {
		targets[i] = transform(min(y, most))
	}
	sorted := slices.Sorted(slices.Values(targets))
	median := sorted[len(sorted)/2]
	mean := 0.0
	for i, t := range targets {
		if t > median {
			targets[i] = median + (t-median)/2
		}
		mean += targets[i] / float64(len(targets))
	}
	variance := 0.0
	for i := range targets {
		targets[i] -= mean
		variance += targets[i] * targets[i] / float64(len(targets))
	}
	if variance > 0 {
		for i := range targets {
			targets[i] /= math.Sqrt(variance)
		}
	}
	return targets
}
