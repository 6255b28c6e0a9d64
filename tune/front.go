package tune

import (
	"cmp"
	"math"
	"slices"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/search"
)

// Values returns the values of all objectives by the measurement that ranks the result, all to be
// minimised: a value that is maximised is negated. A value that is not known is NaN.
func (r *Result) Values(o score.Objective) []float64 {
	f := r.Figures()
	times := r.Stats()
	if f.Final {
		times = score.StatsOf(r.Final)
	}
	return minimised(o, times, f.Judgement)
}

// SearchValues is Values by the measurement of the search.
func (r *Result) SearchValues(o score.Objective) []float64 {
	return minimised(o, r.Stats(), score.Judgement{Metrics: r.Metrics, Objective: r.Objective})
}

func minimised(o score.Objective, times score.Stats, j score.Judgement) []float64 {
	more := each.Of(o.More, func(one score.Objective) float64 { return one.Value(times, j.Metrics) })
	return negated(o, append([]float64{j.Objective}, more...))
}

// Front returns the places of the results that no other one dominates, in the order of the first objective. Once there
// was a final measurement, it returns those of the finalists that no other finalist dominates: they were measured in
// turn, so that their values can be compared. With one objective, it returns nil.
func Front(o score.Objective, results []Result) []int {
	if !o.Several() {
		return nil
	}
	final := slices.ContainsFunc(results, func(r Result) bool { return r.Rankable() && r.Figures().Final })
	return frontOf(results, func(r *Result) []float64 {
		if final && !r.Figures().Final {
			return nil
		}
		return r.Values(o)
	})
}

// SearchFront returns the front by the measurements of the search. With one objective, it returns nil.
func SearchFront(o score.Objective, results []Result) []int {
	if !o.Several() {
		return nil
	}
	return frontOf(results, func(r *Result) []float64 { return r.SearchValues(o) })
}

// frontOf returns the places of the front of the rankable results by some values, in ascending order of these. Without values, or with one
// that is not finite, a result takes no part. Of equal ones, the first is in the front.
func frontOf(results []Result, valuesOf func(*Result) []float64) []int {
	points := make([][]float64, len(results))
	for i := range results {
		if r := &results[i]; r.Rankable() && !r.EarlyStopped {
			if v := valuesOf(r); !slices.ContainsFunc(v, func(v float64) bool { return !score.Finite(v) }) {
				points[i] = v
			}
		}
	}
	known := slices.DeleteFunc(slices.Clone(points), func(p []float64) bool { return p == nil })
	return each.Of(search.NonDominated(known), func(p []float64) int {
		return slices.IndexFunc(points, func(q []float64) bool { return slices.Equal(p, q) })
	})
}

// Knee returns the place among the points of a front of its knee: the point farthest from the straight line between the
// ends of the front, towards the better values (Das, On characterizing the «knee» of the Pareto curve based on
// normal-boundary intersection, Structural Optimization 18, 1999). Each objective is scaled to the range of the front,
// by its logarithm if all values are positive. Knee returns -1 unless there are two objectives, and at least three points
// of which one is better than the line.
func Knee(front [][]float64) int {
	if len(front) < 3 || len(front[0]) != 2 {
		return -1
	}
	scaled := make([][2]float64, len(front))
	for k := range 2 {
		column := each.Of(front, func(p []float64) float64 { return p[k] })
		least, most := slices.Min(column), slices.Max(column)
		sign := 1.0
		if most < 0 { // maximised
			sign = -1
		}
		for i, v := range column {
			if sign*v > 0 && least*most > 0 {
				scaled[i][k] = sign * (math.Log(sign*v) - math.Log(sign*least)) / math.Abs(math.Log(most/least))
			} else {
				scaled[i][k] = (v - least) / (most - least)
			}
		}
	}
	knee, farthest := -1, 1e-9 // what is nearer to the line is on it but for rounding
	for i, p := range scaled {
		if d := 1 - p[0] - p[1]; d > farthest { // the ends are (0, 1) and (1, 0)
			knee, farthest = i, d
		}
	}
	return knee
}

// A choice orders results with several objectives: see [score.Objective.Choose].
type choice struct {
	objective score.Objective
	places    map[int]place
}

// A place is what a choice knows of a result.
type place struct {
	behind bool    // another result dominates it
	score  float64 // of the choice
	values []float64
}

// newChoice judges the rankable results by some values.
func newChoice(o score.Objective, results []Result, final bool) *choice {
	c := &choice{o, map[int]place{}}
	valuesOf := func(r *Result) []float64 {
		switch {
		case !final:
			return r.SearchValues(o)
		case r.Figures().Final:
			return r.Values(o)
		}
		return nil
	}
	front := frontOf(results, valuesOf)
	bests := slices.Repeat([]float64{math.Inf(1)}, len(o.All()))
	for _, i := range front {
		for k, v := range valuesOf(&results[i]) {
			bests[k] = min(bests[k], v)
		}
	}
	chooser, err := o.Chooser()
	for i := range results {
		values := valuesOf(&results[i])
		if values == nil || !results[i].Rankable() {
			continue
		}
		p := place{behind: !slices.Contains(front, i), values: values}
		if chooser != nil && err == nil {
			p.score = chooser.Score(negated(o, values), negated(o, bests))
		}
		c.places[i] = p
	}
	return c
}

// negated negates the values of objectives that are maximised, which is its own inverse.
func negated(o score.Objective, values []float64) []float64 {
	given := slices.Clone(values)
	for k, one := range o.All() {
		if one.Maximize {
			given[k] = -given[k]
		}
	}
	return given
}

// compare returns a negative number if the choice prefers result i to result j: it belongs to the front, has the
// lesser score, or is better by the objectives in their order.
func (c *choice) compare(i, j int) int {
	a, b := c.places[i], c.places[j]
	if a.values == nil || b.values == nil {
		return 0
	}
	switch {
	case a.behind != b.behind && a.behind:
		return 1
	case a.behind != b.behind:
		return -1
	}
	return cmp.Or(cmp.Compare(a.score, b.score), slices.CompareFunc(a.values, b.values, worseLast))
}

// worseLast compares values, of which those that are not finite are the last.
func worseLast(a, b float64) int {
	switch {
	case score.Finite(a) && score.Finite(b):
		return cmp.Compare(a, b)
	case score.Finite(a):
		return -1
	case score.Finite(b):
		return 1
	}
	return 0
}
