package search

var simulatedAnnealingDefinition = definition{
	Description: Description{
		Name:    "simulated_annealing",
		Summary: "simulated annealing: a walk that takes worse steps ever more rarely, repeated",
		Source:  "Kirkpatrick, Gelatt and Vecchi, Science 220, 1983",
		Options: []Option{
			{Name: "T", Kind: Real, Default: "0.1", Min: 1e-9, Meaning: "temperature at the start: a step that is so much worse, relatively, is taken with probability 1/e"},
			{Name: "T_min", Kind: Real, Default: "0.001", Min: 1e-12, Meaning: "temperature at which another walk begins"},
			{Name: "alpha", Kind: Real, Default: "0.98", Min: 0, Max: 0.999999, Meaning: "factor of the temperature in each step"},
			{Name: "maxiter", Kind: Whole, Default: "1", Min: 1, Meaning: "steps at each temperature"},
			samplesOption,
		},
	},
	make: newSimulatedAnnealing,
}

type simulatedAnnealing struct {
	lattice    *lattice
	beginnings *beginnings
	values     values
}

func newSimulatedAnnealing(s setting) proposer {
	a := &simulatedAnnealing{newLattice(s), newBeginnings(s), s.values}
	return newTeam(s.memory, 1, func(int) program { return a.anneal })
}

// anneal is the program of each walker.
func (a *simulatedAnnealing) anneal(w *walker) {
	i, y := a.beginnings.walk(w)
	steps := queue{next: func() (int, bool) { return a.lattice.neighbour(i), true }}
	for t := a.values.real("T"); t > a.values.real("T_min"); t *= a.values.real("alpha") {
		for range a.values.whole("maxiter") {
			j, _ := steps.take()
			if z := w.evaluateBefore(j, steps.more); metropolis(a.lattice.rng, y, z, t) {
				i, y = j, z
				steps.clear()
			}
		}
	}
}
