package search

import (
	"cmp"
	"math"
	"slices"
)

// hypervolume returns the volume that points dominate within the box below a reference point: what is worse than one of
// the points and better than the reference in all objectives. All objectives are minimised. It slices the volume along the
// last objective, so that for n points and d objectives it takes time O(n^(d-1) log n) (Zitzler and Thiele,
// «Multiobjective evolutionary algorithms», IEEE Transactions on Evolutionary Computation 3(4), 1999).
func hypervolume(points [][]float64, reference []float64) float64 {
	var inside [][]float64
	for _, p := range points {
		if !slices.ContainsFunc(p, math.IsNaN) && within(p, reference) {
			inside = append(inside, p)
		}
	}
	return volume(NonDominated(inside), reference)
}

// within reports whether a point is better than another one in all objectives.
func within(p, reference []float64) bool {
	for k := range reference {
		if !(p[k] < reference[k]) {
			return false
		}
	}
	return true
}

// volume is hypervolume for the points of a front within the reference, in ascending order.
func volume(front [][]float64, reference []float64) float64 {
	d := len(reference)
	switch {
	case len(front) == 0:
		return 0
	case d == 1:
		return reference[0] - front[0][0]
	case d == 2:
		total, above := 0.0, reference[1]
		for _, p := range front {
			total += (reference[0] - p[0]) * (above - p[1])
			above = p[1]
		}
		return total
	}
	byLast := slices.SortedStableFunc(slices.Values(front), func(a, b []float64) int { return cmp.Compare(a[d-1], b[d-1]) })
	total := 0.0
	var slice [][]float64
	for i, p := range byLast {
		slice = append(slice, p[:d-1])
		to := reference[d-1]
		if i+1 < len(byLast) {
			to = byLast[i+1][d-1]
		}
		if to > p[d-1] {
			total += (to - p[d-1]) * volume(NonDominated(slice), reference[:d-1])
		}
	}
	return total
}
