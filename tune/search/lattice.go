package search

import (
	"iter"
	"math"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/space"
)

// A lattice gives the configurations of a space coordinates: for each parameter, the place of
// its value in the parameter's list, from 0. Strategies that move through a space embed it.
type lattice struct {
	setting
	sizes  []int // lengths of the parameters' lists
	varied []int // the parameters with more than one value
	begun  int   // how many of the start configurations were handed out
}

func newLattice(s setting) *lattice {
	l := &lattice{setting: s}
	p := s.space.Parameters()
	for i := range p.Len() {
		n := len(p.At(i).Values)
		l.sizes = append(l.sizes, n)
		if n > 1 {
			l.varied = append(l.varied, i)
		}
	}
	return l
}

// begin returns a configuration for a new member of a population: the start configurations
// first, then configurations that were never proposed, drawn uniformly.
func (l *lattice) begin() int {
	if l.begun < len(l.start) {
		l.begun++
		return l.start[l.begun-1]
	}
	if i, ok := l.memory.unseen(); ok {
		return i
	}
	return l.rng.IntN(l.space.Len())
}

// samplesOption is an option of all strategies that use beginWalk.
var samplesOption = Option{Name: "samples", Kind: Int, Default: "5", Min: 1, Max: 10000, Meaning: "random configurations; a walk begins at the best of them"}

// beginWalk returns the configuration at which a walk begins, and its objective: for the first
// walk the best of the start configurations, for the others the best of a random sample.
func (l *lattice) beginWalk(w *walker) (int, float64) {
	from := l.start[l.begun:]
	l.begun = len(l.start)
	if len(from) == 0 {
		from = l.space.Sample(l.values.int("samples"), l.rng)
	}
	best, objective := from[0], math.Inf(1)
	for k, y := range w.evaluate(from...) {
		if y < objective {
			best, objective = from[k], y
		}
	}
	return best, objective
}

// row returns the coordinates of a configuration.
func (l *lattice) row(i int) []int { return l.space.Row(i, nil) }

// point returns the coordinates of a configuration as a point.
func (l *lattice) point(i int) []float64 { return pointOf(l.row(i)) }

func pointOf(row []int) []float64 {
	return each.Of(row, func(digit int) float64 { return float64(digit) })
}

// repair returns the configuration of a row if it is valid, else a valid one near it.
func (l *lattice) repair(row []int) int {
	if i, ok := l.space.Find(row); ok {
		return i
	}
	return l.space.Nearest(pointOf(row))
}

// span returns the largest coordinate of a parameter.
func (l *lattice) span(p int) float64 { return float64(l.sizes[p] - 1) }

// clamp limits x to the coordinates of a parameter.
func (l *lattice) clamp(p int, x float64) float64 { return math.Max(0, math.Min(x, l.span(p))) }

// neighbour returns a random configuration that differs from i in one parameter, or i if there
// is none. Each parameter is equally likely to change, half of the time by one place, else to
// any value: in a list of sizes adjacent values behave alike, in a list of alternatives any
// value may be the best.
func (l *lattice) neighbour(i int) int {
	if len(l.varied) == 0 {
		return i
	}
	row := l.row(i)
	for range 4 * len(l.varied) {
		p := l.varied[l.rng.IntN(len(l.varied))]
		own := row[p]
		if l.rng.IntN(2) == 0 {
			row[p] += 2*l.rng.IntN(2) - 1
		} else {
			row[p] = (own + 1 + l.rng.IntN(l.sizes[p]-1)) % l.sizes[p]
		}
		if j, ok := l.space.Find(row); ok {
			return j
		}
		row[p] = own
	}
	for j := range l.hamming(i) {
		return j
	}
	return i
}

// fresh returns i if it was not proposed yet, else a configuration a few random steps away,
// one that was not proposed if it finds one.
func (l *lattice) fresh(i int) int {
	for range 8 {
		if !l.memory.seen(i) {
			return i
		}
		i = l.neighbour(i)
	}
	return i
}

// neighbourhoods are the values of the option neighbor.
var neighbourhoods = map[string]space.Neighbourhood{
	"Hamming":           space.Hamming,
	"adjacent":          space.Adjacent,
	"strictly-adjacent": space.StrictlyAdjacent,
}

// neighborOption chooses the neighbourhood of a local search.
func neighborOption(standard string) Option {
	return Option{Name: "neighbor", Kind: Choice, Default: standard, Choices: []string{"Hamming", "adjacent", "strictly-adjacent"},
		Meaning: "neighbourhood: Hamming, one parameter has any other value; adjacent, one parameter has the next valid value; strictly-adjacent, any number of parameters differ by one place each"}
}

// maxStrict limits the strictly adjacent neighbours that are visited. There are up to 3ⁿ for n
// parameters.
const maxStrict = 3 * 3 * 3 * 3 * 3 * 3

// neighbours returns the neighbours of a configuration in random order.
func (l *lattice) neighbours(i int, n space.Neighbourhood) iter.Seq[int] {
	switch {
	case n == space.Hamming:
		return l.hamming(i)
	case n == space.StrictlyAdjacent && math.Pow(3, float64(len(l.varied))) > maxStrict:
		return l.someStrict(i)
	}
	return func(yield func(int) bool) {
		all := l.space.Neighbours(i, n)
		l.rng.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
		for _, j := range all {
			if !yield(j) {
				return
			}
		}
	}
}

// hamming returns the configurations that differ from i in one parameter. It changes each
// parameter once before it changes any twice, so that a long list counts no more than a short
// one. It finds neighbours as they are asked for.
func (l *lattice) hamming(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		row := l.row(i)
		left := make([][]int, len(row)) // by parameter, the places to try
		turns := append([]int(nil), l.varied...)
		for len(turns) > 0 {
			l.rng.Shuffle(len(turns), func(a, b int) { turns[a], turns[b] = turns[b], turns[a] })
			next := turns[:0]
			for _, p := range turns {
				if left[p] == nil {
					left[p] = l.rng.Perm(l.sizes[p])
				}
				j, ok := l.changed(row, p, &left[p])
				if !ok {
					continue
				}
				next = append(next, p)
				if !yield(j) {
					return
				}
			}
			turns = next
		}
	}
}

// changed returns the next valid configuration in which parameter p has another value, and
// removes the places it tried. It returns false if no place is left.
func (l *lattice) changed(row []int, p int, places *[]int) (int, bool) {
	own := row[p]
	defer func() { row[p] = own }()
	for len(*places) > 0 {
		row[p] = (*places)[0]
		*places = (*places)[1:]
		if row[p] == own {
			continue
		}
		if j, ok := l.space.Find(row); ok {
			return j, true
		}
	}
	return 0, false
}

// someStrict returns a random sample of the strictly adjacent neighbours of i.
func (l *lattice) someStrict(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		seen := map[int]bool{i: true}
		row := l.row(i)
		near := make([]int, len(row))
		for range maxStrict {
			for p := range row {
				near[p] = row[p] + l.rng.IntN(3) - 1
			}
			if j, ok := l.space.Find(near); ok && !seen[j] {
				seen[j] = true
				if !yield(j) {
					return
				}
			}
		}
	}
}
