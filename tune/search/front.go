package search

import (
	"cmp"
	"math"
	"math/rand/v2"
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

// An improvement computes the expected hypervolume improvement of a candidate: the volume, between the front and a
// reference point, that the candidate is expected to dominate and the front does not. The model predicts independent
// normal distributions of the objectives. All objectives are minimised.
//
// The volume is an integral over the points that the front does not dominate, of the probability that the candidate
// dominates them (Emmerich, Giannakoglou and Naujoks, «Single- and multiobjective evolutionary optimization assisted by
// Gaussian random field metamodels», IEEE Transactions on Evolutionary Computation 10(4), 2006). With two objectives, the
// front divides the region into strips, and the integral over a strip is a product of two expectations (Emmerich, Yang,
// Deutz, Wang and Fonseca, «A multicriteria generalization of Bayesian global optimization», 2016). With more, the
// integral is estimated at random points of the region, the same ones for all candidates.
type improvement struct {
	front     [][]float64 // in ascending order of the first objective
	reference []float64

	// With more than two objectives: the lower end of the region, random points of the region, and its volume.
	low     []float64
	samples [][]float64
	volume  float64
}

const (
	// hypervolumeSamples is the number of random points in the region, and hypervolumeTries bounds the number of points
	// that are drawn for them.
	hypervolumeSamples = 128
	hypervolumeTries   = 4096
	// negligible is the number of standard deviations below the mean at which the front must dominate a candidate for
	// it to be worth nothing.
	negligible = 4
)

// newImprovement returns the improvement of the front of some points, which must be within the reference.
func newImprovement(points [][]float64, reference []float64, rng *rand.Rand) *improvement {
	v := &improvement{front: NonDominated(points), reference: reference}
	if len(reference) > 2 {
		v.sample(rng)
	}
	return v
}

// sample draws points of the region between the front and the reference. The region has no lower end; it is cut off
// below the best values by as much as these are better than the reference.
func (v *improvement) sample(rng *rand.Rand) {
	low := slices.Clone(v.reference)
	v.low = low
	for _, p := range v.front {
		for k := range low {
			low[k] = min(low[k], p[k])
		}
	}
	box := 1.0
	for k, r := range v.reference {
		low[k] -= r - low[k]
		box *= r - low[k]
	}
	tries := 0
	for ; tries < hypervolumeTries && len(v.samples) < hypervolumeSamples; tries++ {
		z := make([]float64, len(low))
		for k, r := range v.reference {
			z[k] = low[k] + rng.Float64()*(r-low[k])
		}
		if !slices.ContainsFunc(v.front, func(p []float64) bool { return Dominates(p, z) }) {
			v.samples = append(v.samples, z)
		}
	}
	v.volume = box * float64(len(v.samples)) / float64(tries)
}

// expected returns the expected improvement of a candidate by the means and the standard deviations that the models
// predict. It returns 0 if that is certainly negligible.
func (v *improvement) expected(means, deviations []float64) float64 {
	hopeless := func(p []float64) bool {
		for k, y := range p {
			if y > means[k]-negligible*deviations[k] {
				return false
			}
		}
		return true
	}
	if slices.ContainsFunc(v.front, hopeless) || hopeless(v.reference) {
		return 0
	}
	if len(v.reference) == 2 {
		return v.exact(means, deviations)
	}
	sum := 0.0
	for _, z := range v.samples {
		p := 1.0
		for k, y := range z {
			if deviations[k] > 0 {
				p *= normal((y - means[k]) / deviations[k])
			} else if y < means[k] {
				p = 0
			}
		}
		sum += p
	}
	if sum == 0 {
		return 0
	}
	return v.volume * sum / float64(len(v.samples))
}

// exact is expected for two objectives. The strip between two neighbours of the front, from x to next, reaches from below
// up to the second objective of the first neighbour. If a candidate has the objectives a and b, it dominates a part of the
// strip of the width (next - a)⁺ - (x - a)⁺ and of the height (top - b)⁺, which are independent.
func (v *improvement) exact(means, deviations []float64) float64 {
	total, before, top := 0.0, 0.0, v.reference[1]
	for i := 0; i <= len(v.front); i++ {
		next := v.reference[0]
		if i < len(v.front) {
			next = v.front[i][0]
		}
		to := shortfall(next, means[0], deviations[0])
		total += (to - before) * shortfall(top, means[1], deviations[1])
		if before = to; i < len(v.front) {
			top = v.front[i][1]
		}
	}
	return total
}

// shortfall returns by how much a normally distributed value is expected to be below a level; it counts as 0 above it.
func shortfall(level, mean, deviation float64) float64 {
	if deviation <= 0 {
		return max(0, level-mean)
	}
	return expectedImprovement(mean, deviation, level)
}

// referenceMargin is how far the reference point lies beyond the worst values of the front, as a share of the front's
// range, and leastMargin at least, in standard deviations of all targets. The ends of the front are worth more the farther it
// is. A front that is narrow in one objective, such as energy within its scatter, would leave hardly anything to improve on
// without the second.
const (
	referenceMargin = 0.5
	leastMargin     = 0.5
)

// improvement returns the improvement of the front of the points of a model search, those without an observation
// included: the model believes its predictions.
func (m *modelSearch) improvement(predictions []*prediction) *improvement {
	var points [][]float64
	for at, i := range m.points {
		if y, ok := m.memory.objective(i); ok && math.IsInf(y, 1) {
			continue // failed
		}
		p := make([]float64, len(predictions))
		for k := range p {
			p[k] = predictions[k].targets[at]
		}
		points = append(points, p)
	}
	front := NonDominated(points)
	reference := make([]float64, len(predictions))
	for k := range reference {
		least, most := math.Inf(1), math.Inf(-1)
		for _, p := range front {
			least, most = min(least, p[k]), max(most, p[k])
		}
		switch {
		case len(front) == 0: // all failed: the targets are 0
			reference[k] = 1
		case most > least:
			reference[k] = most + max(leastMargin, referenceMargin*(most-least))
		default: // the deviation of all targets is 1
			reference[k] = most + 1
		}
	}
	return newImprovement(front, reference, m.rng)
}

// Logarithms returns the logarithms of values, because times and errors differ by orders of magnitude. A 0 among them
// counts as a tenth of the least positive value. Values of both signs are returned as they are. A failure, +Inf, counts
// as the worst value.
func Logarithms(values []float64) []float64 {
	least, most, negative := math.Inf(1), math.Inf(-1), false
	allNegative := true
	for _, y := range values {
		if math.IsInf(y, 1) {
			continue
		}
		most, negative, allNegative = max(most, y), negative || y < 0, allNegative && y < 0
		if y > 0 {
			least = min(least, y)
		}
	}
	scaled := make([]float64, len(values))
	for i, y := range values {
		y = min(y, most)
		switch {
		case math.IsInf(most, -1): // all failed
		case allNegative:
			scaled[i] = -math.Log(-y)
		case negative || math.IsInf(least, 1):
			scaled[i] = y
		default:
			scaled[i] = math.Log(max(y, least/10))
		}
	}
	return scaled
}
