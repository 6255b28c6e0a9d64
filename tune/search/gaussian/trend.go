package gaussian

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// trendRounds is the number of rounds in which a trend, and the variance of the function about it, are estimated.
const trendRounds = 8

// leastWeight is the smallest weight that is not taken for 0.
const leastWeight = 0.1

// Trend returns the coefficients of a trend that the targets of the points follow: an intercept, and a weight for each function
// of a basis, given by its values at the points. The weights are from 0 to most. They have normal distributions about the expected ones with
// the standard deviation spread before the targets are known, and the trend is the most probable one afterwards. The rest of the
// targets is the process.
func (p *Process) Trend(targets []float64, basis [][]float64, expected []float64, spread, most float64) []float64 {
	columns := [][]float64{p.solve(slices.Repeat([]float64{1}, len(targets)))}
	for _, b := range basis {
		columns = append(columns, p.solve(b))
	}
	trend := append([]float64{0}, expected...)
	z := p.solve(targets)
	rest := slices.Clone(z)
	for k, c := range columns {
		floats.AddScaled(rest, -trend[k], c)
	}
	for round := range trendRounds {
		variance := max(floats.Dot(rest, rest)/float64(len(z)), leastPivot)
		for k, c := range columns { // one coefficient at a time
			floats.AddScaled(rest, trend[k], c)
			if k == 0 {
				trend[k] = floats.Dot(c, rest) / floats.Dot(c, c)
			} else {
				precision := variance / square(spread)
				trend[k] = min(most, max(0, (floats.Dot(c, rest)+precision*expected[k-1])/(floats.Dot(c, c)+precision)))
				if round >= trendRounds/2 && trend[k] < leastWeight {
					trend[k] = 0
				}
			}
			floats.AddScaled(rest, -trend[k], c)
		}
	}
	return trend
}
