package tune

import (
	"cmp"
	"math"
	"slices"

	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// A Ranking is the order of the results of one run on one device: the winner is the first. Every
// output of a run follows it. The finalists come first, by their objective in the final
// measurement; the other results follow, by their objective in the search. Results that are equal in
// the final measurement are ranked by the search, then by their order of arrival.
//
// With several objectives, the winner is the configuration of the front that [score.Objective.Choose] prefers. The
// other ones of the front follow in the order of the choice, then the results that others dominate.
type Ranking struct {
	Indices   []int // of the rankable results, the winner first
	Finalists int   // number of the first of them, which the final measurement ranks
}

// Rank ranks the results of one run. A result without a finite objective in [Result.AtFinal] is ranked
// by the search.
func Rank(o score.Objective, results []Result) Ranking {
	return rank(o, results, (*Result).finalObjective)
}

// BySearch returns the indices of the rankable results by the search alone.
func BySearch(o score.Objective, results []Result) []int {
	return rank(o, results, func(*Result) float64 { return math.NaN() }).Indices
}

func rank(o score.Objective, results []Result, final func(*Result) float64) Ranking {
	var k Ranking
	for i := range results {
		if !results[i].Rankable() {
			continue
		}
		k.Indices = append(k.Indices, i)
		if score.Finite(final(&results[i])) {
			k.Finalists++
		}
	}
	finals, searched := func(i, j int) int { return o.Compare(final(&results[i]), final(&results[j])) },
		func(i, j int) int { return o.Compare(results[i].Objective, results[j].Objective) }
	if o.Several() {
		if k.Finalists > 0 {
			inFinal, byObjective := newChoice(o, results, true), finals
			finals = func(i, j int) int { return cmp.Or(inFinal.compare(i, j), byObjective(i, j)) }
		}
		searched = newChoice(o, results, false).compare
	}
	slices.SortStableFunc(k.Indices, func(i, j int) int { return cmp.Or(finals(i, j), searched(i, j)) })
	return k
}

// Best returns the winner of the results of one run, the first of their [Ranking], or nil if none is
// correct.
func Best(o score.Objective, results []Result) *Result {
	if k := Rank(o, results); len(k.Indices) > 0 {
		return &results[k.Indices[0]]
	}
	return nil
}

// ResultOf returns the result of the configuration with some values, or nil.
func ResultOf(results []Result, values map[string]space.Value) *Result {
next:
	for i := range results {
		for name, v := range values {
			if own, ok := results[i].Configuration.Get(name); !ok || !space.SameValue(own, v) {
				continue next
			}
		}
		return &results[i]
	}
	return nil
}

// GainOver returns how many times better a result is than another, both by the final measurement, or both by the search if that measured only
// one of them. It is false if that is not known.
func (r *Result) GainOver(o score.Objective, other *Result) (float64, bool) {
	if other == nil || !r.Rankable() || !other.Rankable() {
		return 0, false
	}
	if a, b := r.Figures(), other.Figures(); a.Final && b.Final {
		return o.Gain(a.Objective, b.Objective)
	}
	return o.Gain(r.Objective, other.Objective)
}

// Rankable reports whether a result has a place in a [Ranking]: it is correct, and its objective is
// a finite number.
func (r *Result) Rankable() bool { return r.Status == Correct && score.Finite(r.Objective) }

// finalObjective returns the objective of the final measurement, or NaN if there is none.
func (r *Result) finalObjective() float64 {
	if r.AtFinal == nil {
		return math.NaN()
	}
	return r.AtFinal.Objective
}

// Figures are the numbers that are reported of a correct result.
type Figures struct {
	Time float64 // milliseconds
	score.Judgement
	Final bool // Time is the median of the final measurement, else of the search
}

// Figures returns the numbers of the measurement that ranks the result.
func (r *Result) Figures() Figures {
	if score.Finite(r.finalObjective()) {
		return Figures{r.FinalTime(), *r.AtFinal, true}
	}
	return Figures{r.Time(), score.Judgement{Metrics: r.Metrics, Objective: r.Objective}, false}
}

// Improves reports whether a result of a search is better than the best before it, which may be nil.
func Improves(o score.Objective, r, best *Result) bool {
	return r.Rankable() && (best == nil || o.Better(r.Objective, best.Objective))
}

// The search at a size begins with the best configurations of the nearest sizes, and ends early: most of
// what it can gain, these have.
const (
	NeighbourSizes    = 2  // the number of these sizes
	NeighbourPatience = 50 // evaluations without a gain after which such a search ends
	bestOfSize        = 5
)

// Neighbours returns the configurations with which the search at a size begins. Bests are the best
// configurations of each of the other sizes, the nearest size first. Neighbours takes five of each of the first
// two, in turns: the best of each, the second of each, and so on.
func Neighbours(bests [][]space.Configuration) []space.Configuration {
	var all []space.Configuration
	for rank := range bestOfSize {
		for _, of := range bests[:min(len(bests), NeighbourSizes)] {
			if rank < len(of) && !slices.ContainsFunc(all, func(c space.Configuration) bool { return c.Key() == of[rank].Key() }) {
				all = append(all, of[rank])
			}
		}
	}
	return all
}
