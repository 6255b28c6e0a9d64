package search

import "math"

var greedyILSDefinition = definition{
	Description: Description{
		Name:    "greedy_ils",
		Summary: "greedy iterated local search: descents to the first better neighbour, from the last minimum a few changes on",
		Source:  "Lourenço, Martin and Stützle, «Iterated local search», Handbook of Metaheuristics, 2003",
		Options: []Option{
			neighborOption("Hamming"),
			{Name: "perturbation_size", Kind: Real, Default: "0.5", Min: 0, Max: 1, Meaning: "part of the parameters that are changed from a minimum on"},
			{Name: "no_improvement", Kind: Whole, Default: "10", Min: 1, Meaning: "descents without a better minimum after which another search begins"},
			samplesOption,
		},
	},
	make: newGreedyILS,
}

type greedyILS struct {
	lattice    *lattice
	beginnings *beginnings
	memory     *memory
	values     values
	descent    descent
}

func newGreedyILS(s setting) proposer {
	l := newLattice(s)
	g := &greedyILS{l, newBeginnings(s), s.memory, s.values, descent{lattice: l, neighbourhood: neighbourhoods[s.values.choice("neighbor")]}}
	return newTeam(s.memory, 1, func(int) program { return g.search })
}

// search is the program of each walker.
func (g *greedyILS) search(w *walker) {
	i, y := g.beginnings.walk(w)
	i, y = g.descent.from(w, i, y)
	steps := int(math.Ceil(g.values.real("perturbation_size") * float64(len(g.lattice.varied))))
	for failed := 0; failed < g.values.whole("no_improvement"); failed++ {
		j := g.lattice.wander(i, max(1, steps))
		j, z := g.descent.from(w, j, w.evaluateOne(j))
		if z < y {
			failed = 0
		}
		if z <= y {
			i, y = j, z
		}
	}
}
