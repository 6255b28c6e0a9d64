package search

import (
	"cmp"
	"slices"
)

var geneticAlgorithmDefinition = definition{
	Description: Description{
		Name:    "genetic_algorithm",
		Summary: "steady-state genetic algorithm: children of ranked parents take the place of the worst",
		Source:  "Whitley, «The GENITOR algorithm and selection pressure», ICGA 1989; crossovers: Syswerda, ICGA 1989",
		Options: []Option{
			{Name: "popsize", Kind: Whole, Default: "10", Min: 2, Max: 10000, Meaning: "size of the population"},
			{Name: "method", Kind: Choice, Default: "uniform", Choices: []string{"uniform", "single_point", "two_point", "disruptive_uniform"}, Meaning: "crossover of two parents"},
			{Name: "mutation_chance", Kind: Whole, Default: "10", Min: 1, Meaning: "one child in so many has a parameter changed, on average"},
			{Name: "pressure", Kind: Real, Default: "2", Min: 1, Max: 2, Meaning: "how often the best becomes a parent, in terms of the mean"},
		},
	},
	make: newGeneticAlgorithm,
}

// An individual is an evaluated configuration of a population.
type individual struct {
	index     int
	objective float64
}

// geneticAlgorithm has no generations, which parallel evaluators would have to wait for: each
// walker makes a child of the population as it is, and puts it in.
type geneticAlgorithm struct {
	lattice    *lattice
	beginnings *beginnings
	memory     *memory
	values     values
	population []individual // the best first
}

func newGeneticAlgorithm(s setting) proposer {
	g := &geneticAlgorithm{lattice: newLattice(s), beginnings: newBeginnings(s), memory: s.memory, values: s.values}
	return newTeam(s.memory, max(s.values.whole("popsize"), len(s.start)), func(int) program { return g.breed })
}

// breed is the program of each walker.
func (g *geneticAlgorithm) breed(w *walker) {
	i := g.beginnings.next()
	for {
		g.insert(individual{i, w.evaluateOne(i)})
		i = g.child()
	}
}

// insert lets an individual take the place of the worst, where it is better than that and not
// in the population already.
func (g *geneticAlgorithm) insert(v individual) {
	if slices.ContainsFunc(g.population, func(o individual) bool { return o.index == v.index }) {
		return
	}
	at, _ := slices.BinarySearchFunc(g.population, v, func(a, b individual) int { return cmp.Compare(a.objective, b.objective) })
	g.population = slices.Insert(g.population, at, v)
	if n := g.values.whole("popsize"); len(g.population) > n {
		g.population = g.population[:n]
	}
}

// child is a new configuration of two parents. What is known already is mutated until it is
// not.
func (g *geneticAlgorithm) child() int {
	mother, father := g.parent(), g.parent()
	for range g.population {
		if father != mother {
			break
		}
		father = g.parent()
	}
	i := g.lattice.mend(g.cross(g.lattice.row(mother), g.lattice.row(father)))
	if g.lattice.rng.IntN(g.values.whole("mutation_chance")) == 0 {
		i = g.lattice.neighbour(i)
	}
	if g.memory.seen(i) {
		i, _ = g.lattice.novel(g.memory, i)
	}
	return i
}

// parent is chosen by linear ranking (Baker, «Adaptive selection methods for genetic
// algorithms», ICGA 1985): the best is expected pressure times as often as the mean, the worst
// 2-pressure times.
func (g *geneticAlgorithm) parent() int {
	r, n := g.lattice.rng, len(g.population)
	for {
		rank := r.IntN(n)
		pressure := g.values.real("pressure")
		weight := pressure
		if n > 1 {
			weight -= 2 * (pressure - 1) * float64(rank) / float64(n-1)
		}
		if r.Float64()*pressure < weight {
			return g.population[rank].index
		}
	}
}

// cross mixes two rows.
func (g *geneticAlgorithm) cross(a, b []int) []int {
	r := g.lattice.rng
	from, to := 0, len(a) // what the child has from b, where that is a piece
	switch g.values.choice("method") {
	case "uniform":
		for p := range a {
			if r.IntN(2) == 0 {
				a[p] = b[p]
			}
		}
		return a
	case "disruptive_uniform":
		// Half of the differences are exchanged, so that the child is as far from both.
		var differ []int
		for p := range a {
			if a[p] != b[p] {
				differ = append(differ, p)
			}
		}
		r.Shuffle(len(differ), func(i, j int) { differ[i], differ[j] = differ[j], differ[i] })
		for _, p := range differ[:len(differ)/2] {
			a[p] = b[p]
		}
		return a
	case "single_point":
		from = r.IntN(len(a) + 1)
	case "two_point":
		from, to = r.IntN(len(a)+1), r.IntN(len(a)+1)
		from, to = min(from, to), max(from, to)
	}
	copy(a[from:to], b[from:to])
	return a
}
