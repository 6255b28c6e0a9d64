package simulate

import (
	"math"
	"slices"

	"github.com/ndtune/ndtune/tune/search"
)

// A front is the front of a recording with several objectives, and the measure of how much of it a search has found: the
// hypervolume of the front that was found, as a share of that of the whole front. Positive objectives are taken by their
// logarithms. The reference point lies beyond the worst values of the whole front, so that its ends count, too (Ishibuchi et al.,
// «How to specify a reference point in hypervolume calculation for fair performance comparison», Evolutionary Computation 26(3),
// 2018).
type front struct {
	points    [][]float64 // by the index of the configuration; nil: it failed
	reference []float64
	whole     float64 // hypervolume of the whole front
	size      int     // of the whole front
}

// frontMargin is the distance of the reference point from the front, as a share of the front's range, and leastMargin the least
// one: ten per cent of a positive objective. If the whole front lies within the scatter of the measurements in one objective,
// what comes near it counts, too.
const (
	frontMargin = 0.1
	leastMargin = 0.1
)

// newFront makes the front of observations.
func newFront(observations []search.Observation, objectives int) *front {
	f := &front{points: make([][]float64, len(observations))}
	for k := range objectives {
		column := make([]float64, len(observations))
		for i, o := range observations {
			column[i] = math.Inf(1)
			if o.Valid {
				column[i] = append([]float64{o.Objective}, o.More...)[k]
			}
		}
		for i, y := range search.Logarithms(column) {
			if observations[i].Valid {
				f.points[i] = append(f.points[i], y)
			}
		}
	}
	found := search.NonDominated(slices.DeleteFunc(slices.Clone(f.points), func(p []float64) bool { return p == nil }))
	f.size = len(found)
	for k := range objectives {
		least, most := math.Inf(1), math.Inf(-1)
		for _, p := range found {
			least, most = min(least, p[k]), max(most, p[k])
		}
		f.reference = append(f.reference, most+max(leastMargin, frontMargin*(most-least)))
	}
	f.whole = search.Hypervolume(found, f.reference)
	return f
}

// A finding is the front that a search has found.
type finding struct {
	*front
	points [][]float64
	share  float64
}

// add adds a configuration, and returns the share of the hypervolume that was found.
func (f *finding) add(i int) float64 {
	p := f.front.points[i]
	if p == nil || slices.ContainsFunc(f.points, func(q []float64) bool { return search.Dominates(q, p) || slices.Equal(p, q) }) {
		return f.share
	}
	f.points = append(slices.DeleteFunc(f.points, func(q []float64) bool { return search.Dominates(p, q) }), p)
	f.share = search.Hypervolume(f.points, f.reference) / f.whole
	return f.share
}
