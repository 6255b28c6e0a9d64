package search

import (
	"iter"
	"math"
	"slices"

	"github.com/ndtune/ndtune/tune/space"
)

const localSearchSource = "Aarts and Lenstra, «Local Search in Combinatorial Optimization», 1997"

var mlsStrategy = Description{
	Name:    "mls",
	Summary: "multi-start local search to the best neighbour: descents from random configurations",
	Source:  localSearchSource,
	Options: []Option{neighborOption("Hamming"), samplesOption},
	make: func(s setting) proposer {
		d := newDescent(s)
		d.steepest = true
		return newTeam(s.memory, 1, d.once)
	},
}

var greedyMLSStrategy = Description{
	Name:    "greedy_mls",
	Summary: "multi-start local search to the first better neighbour: descents from random configurations",
	Source:  localSearchSource,
	Options: []Option{neighborOption("Hamming"), samplesOption},
	make:    func(s setting) proposer { return newTeam(s.memory, 1, newDescent(s).once) },
}

var greedyILSStrategy = Description{
	Name:    "greedy_ils",
	Summary: "greedy iterated local search: descents to the first better neighbour, each from the last minimum with a few changes",
	Source:  "Lourenço, Martin and Stützle, «Iterated local search», Handbook of Metaheuristics, 2003",
	Options: []Option{
		neighborOption("Hamming"),
		{Name: "perturbation_size", Kind: Float, Default: "0.5", Min: 0, Max: 1, Meaning: "share of the parameters that are changed to leave a minimum"},
		{Name: "no_improvement", Kind: Int, Default: "10", Min: 1, Meaning: "descents without a better minimum after which a new search begins"},
		samplesOption,
	},
	make: func(s setting) proposer { return newTeam(s.memory, 1, newDescent(s).iterated) },
}

var basinhoppingStrategy = Description{
	Name:    "basinhopping",
	Summary: "basin hopping: annealing over local minima, with a jump and a descent from one to the next",
	Source:  "Wales and Doye, Journal of Physical Chemistry A 101(28), 1997",
	Options: []Option{
		{Name: "T", Kind: Float, Default: "0.05", Min: 1e-9, Meaning: "temperature: a minimum that is worse by this share is accepted with probability 1/e"},
		{Name: "stepsize", Kind: Float, Default: "0.5", Min: 0.01, Max: 1, Meaning: "longest jump in each parameter, relative to the length of its list"},
		{Name: "niter_success", Kind: Int, Default: "10", Min: 1, Meaning: "jumps without a better minimum after which a new walk begins"},
		neighborOption("adjacent"),
		samplesOption,
	},
	make: func(s setting) proposer { return newTeam(s.memory, 1, newDescent(s).hop) },
}

// A descent is a local search: it moves to a better neighbour until there is none.
type descent struct {
	*lattice
	neighbourhood space.Neighbourhood
	steepest      bool // move to the best neighbour, not to the first better one in random order
}

// newDescent returns a descent over the neighbourhood of the option neighbor.
func newDescent(s setting) descent {
	return descent{lattice: newLattice(s), neighbourhood: neighbourhoods[s.values.choice("neighbor")]}
}

// descend returns the local minimum below configuration i, whose objective is y.
func (d descent) descend(w *walker, i int, y float64) (int, float64) {
	for {
		j, z := d.step(w, i, y)
		if !(z < y) {
			return i, y
		}
		i, y = j, z
	}
}

// step returns a better neighbour of i, or i if there is none.
func (d descent) step(w *walker, i int, y float64) (int, float64) {
	around := d.neighbours(i, d.neighbourhood)
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

// startWalk begins a walk and descends from there.
func (d descent) startWalk(w *walker) (int, float64) {
	i, y := d.beginWalk(w)
	return d.descend(w, i, y)
}

// once is the program of the multi-start local searches: one descent for each walker.
func (d descent) once(w *walker) { d.startWalk(w) }

// iterated is the program of greedy_ils.
func (d descent) iterated(w *walker) {
	i, y := d.startWalk(w)
	steps := int(math.Ceil(d.values.float("perturbation_size") * float64(len(d.varied))))
	for failed := 0; failed < d.values.int("no_improvement"); failed++ {
		j := i
		for range max(1, steps) {
			j = d.neighbour(j)
		}
		j, z := d.descend(w, j, w.evaluateOne(j))
		if z < y {
			failed = 0
		}
		if z <= y {
			i, y = j, z
		}
	}
}

// hop is the program of basinhopping.
func (d descent) hop(w *walker) {
	i, y := d.startWalk(w)
	best := y
	for failed := 0; failed < d.values.int("niter_success"); failed++ {
		x := d.point(i)
		for _, p := range d.varied {
			x[p] = d.clamp(p, x[p]+(2*d.rng.Float64()-1)*d.values.float("stepsize")*d.span(p))
		}
		j := d.fresh(d.space.Nearest(x))
		j, z := d.descend(w, j, w.evaluateOne(j))
		if z < best {
			best, failed = z, 0
		}
		if metropolis(d.rng, y, z, d.values.float("T")) {
			i, y = j, z
		}
	}
}
