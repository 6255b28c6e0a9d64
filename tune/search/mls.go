package search

var mlsDefinition = definition{
	Description: Description{
		Name:    "mls",
		Summary: "multi-start local search to the best neighbour: descents from random configurations",
		Source:  "Aarts and Lenstra, «Local Search in Combinatorial Optimization», 1997",
		Options: []Option{neighborOption("Hamming"), samplesOption},
	},
	make: func(s setting) proposer { return newMultiStart(s, true) },
}

// newMultiStart is a team whose walkers descend once each.
func newMultiStart(s setting, steepest bool) proposer {
	begin := newBeginnings(s)
	d := descent{newLattice(s), neighbourhoods[s.values.choice("neighbor")], steepest}
	return newTeam(s.memory, 1, func(int) program {
		return func(w *walker) {
			i, y := begin.walk(w)
			d.from(w, i, y)
		}
	})
}
