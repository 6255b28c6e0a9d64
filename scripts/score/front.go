package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/internal/figure"
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
	f.whole = hypervolume(found, f.reference)
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
	f.share = hypervolume(f.points, f.reference) / f.whole
	return f.share
}

// frontCheckpoints are the numbers of evaluations whose shares are printed.
var frontCheckpoints = []int{10, 25, 50, 100, 200}

// printFronts prints the share of the whole front's hypervolume that the searches of the files of traces have found after some
// numbers of evaluations.
func printFronts(recordings []*recording, o options) error {
	if len(o.strategies) > 0 || len(o.traces) == 0 {
		return errors.New("with several objectives, give the traces of ndtune simulate -o traces.jsonl by -trace, and no -strategy")
	}
	var all []searches
	for _, path := range o.traces {
		more, err := readSearches(path, recordings)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, more...)
	}
	fmt.Println("hypervolume found / hypervolume of the front, mean ± standard error")
	for _, r := range recordings {
		f := newFront(r.Observations, len(r.Objective.All()))
		fmt.Printf("\n%s: %s, %d correct, front of %s: %d\n", r.Name, figure.Count(r.Space.Len(), "configuration"), r.Correct, r.Objective, f.size)
		rows := [][]string{{"after evaluations"}}
		for _, n := range frontCheckpoints {
			rows[0] = append(rows[0], strconv.Itoa(n))
		}
		for _, s := range all {
			if s.on != r {
				continue
			}
			row := []string{s.strategy}
			for _, shares := range f.shares(s.traces) {
				mean, deviation := stat.MeanStdDev(shares, nil)
				row = append(row, fmt.Sprintf("%.3f ± %.3f", mean, stat.StdErr(deviation, float64(len(shares)))))
			}
			rows = append(rows, row)
		}
		figure.Columns(os.Stdout, "  ", func(column int) bool { return column > 0 }, rows...)
	}
	return nil
}

// shares returns what each search has found after each of the checkpoints.
func (f *front) shares(traces []Trace) [][]float64 {
	shares := make([][]float64, len(frontCheckpoints))
	for _, trace := range traces {
		for k, n := range frontCheckpoints {
			found := finding{front: f}
			for _, v := range trace[:min(n, len(trace))] {
				found.add(v.Index)
			}
			shares[k] = append(shares[k], found.share)
		}
	}
	return shares
}

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
	return volume(search.NonDominated(inside), reference)
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
			total += (to - p[d-1]) * volume(search.NonDominated(slice), reference[:d-1])
		}
	}
	return total
}
