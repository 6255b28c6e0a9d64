package search

import (
	"iter"
	"slices"

	"github.com/ndtune/ndtune/tune/space"
)

// A descent is a local search: from neighbour to better neighbour, until there is none.
type descent struct {
	lattice       *lattice
	neighbourhood space.Neighbourhood
	steepest      bool // to the best neighbour; else to the first better one, in random order
}

// from is where a descent from a configuration ends.
func (d descent) from(w *walker, i int, y float64) (int, float64) {
	for {
		j, z := d.step(w, i, y)
		if !(z < y) {
			return i, y
		}
		i, y = j, z
	}
}

// step is a better neighbour, or the configuration itself.
func (d descent) step(w *walker, i int, y float64) (int, float64) {
	around := d.lattice.around(i, d.neighbourhood)
	if !d.steepest {
		next, stop := iter.Pull(around)
		defer stop()
		for c := (queue{next: next}); ; {
			j, ok := c.take()
			if !ok {
				return i, y
			}
			if z := w.evaluateBefore(j, c.more); z < y {
				return j, z
			}
		}
	}
	neighbours := slices.Collect(around)
	for k, z := range w.evaluate(neighbours...) {
		if z < y {
			i, y = neighbours[k], z
		}
	}
	return i, y
}
