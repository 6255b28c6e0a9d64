package search

import "math"

// beginnings are where walkers begin: the user's own configurations first, then uniformly
// drawn ones that were never proposed.
type beginnings struct {
	setting
	given int // how many of the user's were handed out
}

func newBeginnings(s setting) *beginnings { return &beginnings{setting: s} }

// next is where a member of a population begins.
func (b *beginnings) next() int {
	if b.given < len(b.start) {
		b.given++
		return b.start[b.given-1]
	}
	if i, ok := b.memory.unseen(); ok {
		return i
	}
	return b.rng.IntN(b.space.Len())
}

// samplesOption is an option of all strategies that walk; see walk.
var samplesOption = Option{Name: "samples", Kind: Whole, Default: "5", Min: 1, Max: 10000, Meaning: "random configurations, at the best of which a walk begins"}

// walk is where a walk begins, evaluated: the first of all at the best of the user's
// configurations, the others at the best of some random ones.
func (b *beginnings) walk(w *walker) (int, float64) {
	from := b.start[b.given:]
	b.given = len(b.start)
	if len(from) == 0 {
		from = b.space.Sample(b.values.whole("samples"), b.rng)
	}
	best, objective := from[0], math.Inf(1)
	for k, y := range w.evaluate(from...) {
		if y < objective {
			best, objective = from[k], y
		}
	}
	return best, objective
}
