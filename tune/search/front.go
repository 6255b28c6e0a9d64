package search

import (
	"cmp"
	"math"
	"slices"
)

// Dominates reports whether a point is better than another in one objective and worse in none. All objectives are
// minimised. No point with +Inf, a failure, dominates another one.
func Dominates(a, b []float64) bool {
	better := false
	for k := range a {
		if a[k] > b[k] {
			return false
		}
		better = better || a[k] < b[k]
	}
	return better
}

// NonDominated returns the points that no other one dominates, each once, in ascending order of the first objective, then
// of the others.
func NonDominated(points [][]float64) [][]float64 {
	sorted := slices.SortedFunc(slices.Values(points), slices.Compare[[]float64])
	var front [][]float64
	for _, p := range sorted { // only points before it can dominate p
		if !slices.ContainsFunc(front, func(q []float64) bool { return Dominates(q, p) || slices.Equal(p, q) }) {
			front = append(front, p)
		}
	}
	return front
}

// A standing is the place of a point among others, for selection by NSGA-II (Deb et al., «A fast and elitist
// multiobjective genetic algorithm: NSGA-II», IEEE Transactions on Evolutionary Computation 6(2), 2002).
type standing struct {
	rank     int     // of its front: 0 is that of the points that none dominates, 1 that without these, and so on
	crowding float64 // distance to its neighbours in the front, as shares of the range of the front; +Inf at the ends
}

// compare returns a negative number if a is selected before b.
func (a standing) compare(b standing) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.crowding, a.crowding))
}

// standings returns the standing of each point.
func standings(points [][]float64) []standing {
	all := make([]standing, len(points))
	dominators := make([]int, len(points)) // left
	dominated := make([][]int, len(points))
	var front []int
	for i, p := range points {
		for j, q := range points {
			if Dominates(p, q) {
				dominated[i] = append(dominated[i], j)
				dominators[j]++
			}
		}
	}
	for i, n := range dominators {
		if n == 0 {
			front = append(front, i)
		}
	}
	for rank := 0; len(front) > 0; rank++ {
		var next []int
		for _, i := range front {
			all[i].rank = rank
			for _, j := range dominated[i] {
				if dominators[j]--; dominators[j] == 0 {
					next = append(next, j)
				}
			}
		}
		crowd(points, front, all)
		front = next
	}
	return all
}

// crowd computes the crowding distances in a front.
func crowd(points [][]float64, front []int, all []standing) {
	front = slices.Clone(front)
	for k := range points[front[0]] {
		slices.SortStableFunc(front, func(i, j int) int { return cmp.Compare(points[i][k], points[j][k]) })
		first, last := front[0], front[len(front)-1]
		span := points[last][k] - points[first][k]
		all[first].crowding, all[last].crowding = math.Inf(1), math.Inf(1)
		for n := 1; n < len(front)-1; n++ {
			if d := (points[front[n+1]][k] - points[front[n-1]][k]) / span; d > 0 { // not NaN, of a span of 0
				all[front[n]].crowding += d
			}
		}
	}
}

// Hypervolume returns the volume that points dominate within the box below a reference point: what is worse than one of
// the points and better than the reference in all objectives. All objectives are minimised. It slices the volume along the
// last objective, so that for n points and d objectives it takes time O(n^(d-1) log n) (Zitzler and Thiele,
// «Multiobjective evolutionary algorithms», IEEE Transactions on Evolutionary Computation 3(4), 1999).
func Hypervolume(points [][]float64, reference []float64) float64 {
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

// volume is Hypervolume for the points of a front within the reference, in ascending order.
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
