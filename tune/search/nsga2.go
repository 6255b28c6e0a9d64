package search

var nsga2Strategy = Description{
	Name:    "nsga2",
	Summary: "NSGA-II for several objectives: children of parents that few dominate replace the most dominated",
	Source:  "Deb et al., IEEE Transactions on Evolutionary Computation 6(2), 2002; without generations: Durillo et al., EMO 2009",
	Several: true,
	Options: []Option{
		{Name: "popsize", Kind: Int, Default: "20", Min: 2, Max: 1000, Meaning: "size of the population"},
		{Name: "method", Kind: Choice, Default: "uniform", Choices: []string{"uniform", "single_point", "two_point", "disruptive_uniform"}, Meaning: "crossover of two parents"},
		{Name: "mutation_chance", Kind: Int, Default: "10", Min: 1, Meaning: "one child in this many is mutated, on average"},
	},
	make: func(s setting) proposer {
		n := &nsga2{geneticAlgorithm: geneticAlgorithm{lattice: newLattice(s)}}
		return newTeam(s.memory, s.popsize(), n.breed)
	},
}

// An nsga2 has no generations, which parallel evaluators would have to wait for: each walker breeds a child from the
// current population and inserts it.
type nsga2 struct {
	geneticAlgorithm // whose population is not used
	members          []int
	standings        []standing // of the members
}

// breed is the program of nsga2.
func (n *nsga2) breed(w *walker) {
	i := n.begin()
	for {
		w.evaluateOne(i)
		n.insert(i)
		i = n.fresh(n.child(n.parent(), n.parent()))
	}
}

// insert adds a configuration to the population, from which the worst one is removed if it is too large.
func (n *nsga2) insert(i int) {
	for _, member := range n.members {
		if member == i {
			return
		}
	}
	n.members = append(n.members, i)
	n.judge()
	if len(n.members) <= n.popsize() {
		return
	}
	worst := 0
	for k, s := range n.standings {
		if s.compare(n.standings[worst]) > 0 {
			worst = k
		}
	}
	n.members = append(n.members[:worst], n.members[worst+1:]...)
	n.judge()
}

// judge computes the standings of the members.
func (n *nsga2) judge() {
	points := make([][]float64, len(n.members))
	for k, i := range n.members {
		points[k] = n.memory.point(i)
	}
	n.standings = standings(points)
}

// parent returns the better one of two random members.
func (n *nsga2) parent() int {
	a, b := n.rng.IntN(len(n.members)), n.rng.IntN(len(n.members))
	if n.standings[b].compare(n.standings[a]) < 0 {
		a = b
	}
	return n.members[a]
}
