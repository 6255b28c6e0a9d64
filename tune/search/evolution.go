package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/ndtune/ndtune/internal/each"
)

var geneticAlgorithmStrategy = Description{
	Name:    "genetic_algorithm",
	Summary: "steady-state genetic algorithm: children of ranked parents replace the worst",
	Source:  "Whitley, «The GENITOR algorithm and selection pressure», ICGA 1989; crossovers: Syswerda, ICGA 1989",
	Options: []Option{
		{Name: "popsize", Kind: Int, Default: "10", Min: 2, Max: 10000, Meaning: "size of the population"},
		{Name: "method", Kind: Choice, Default: "uniform", Choices: []string{"uniform", "single_point", "two_point", "disruptive_uniform"}, Meaning: "crossover of two parents"},
		{Name: "mutation_chance", Kind: Int, Default: "10", Min: 1, Meaning: "one child in this many is mutated, on average"},
		{Name: "pressure", Kind: Float, Default: "2", Min: 1, Max: 2, Meaning: "how often the best becomes a parent, relative to the average"},
	},
	make: func(s setting) proposer {
		g := &geneticAlgorithm{lattice: newLattice(s)}
		return newTeam(s.memory, g.popsize(), g.breed)
	},
}

// An individual is an evaluated member of a population.
type individual struct {
	index     int
	objective float64
}

// popsize returns the number of walkers of a strategy with a population, which has room for all
// start configurations.
func (s setting) popsize() int { return max(s.values.int("popsize"), len(s.start)) }

// A geneticAlgorithm has no generations, which parallel evaluators would have to wait for: each
// walker breeds a child from the current population and inserts it.
type geneticAlgorithm struct {
	*lattice
	population []individual // the best first
}

// breed is the program of genetic_algorithm.
func (g *geneticAlgorithm) breed(w *walker) {
	i := g.begin()
	for {
		g.insert(individual{i, w.evaluateOne(i)})
		mother, father := g.parent(), g.parent()
		for range g.population {
			if father != mother {
				break
			}
			father = g.parent()
		}
		i = g.fresh(g.child(mother, father))
	}
}

// insert replaces the worst individual by v, if v is better and not in the population yet.
func (g *geneticAlgorithm) insert(v individual) {
	if slices.ContainsFunc(g.population, func(o individual) bool { return o.index == v.index }) {
		return
	}
	at, _ := slices.BinarySearchFunc(g.population, v, func(a, b individual) int { return cmp.Compare(a.objective, b.objective) })
	g.population = slices.Insert(g.population, at, v)
	if n := g.values.int("popsize"); len(g.population) > n {
		g.population = g.population[:n]
	}
}

// child returns a configuration made from two parents and sometimes mutated.
func (g *geneticAlgorithm) child(mother, father int) int {
	i := g.repair(g.cross(g.row(mother), g.row(father)))
	if g.rng.IntN(g.values.int("mutation_chance")) == 0 {
		i = g.neighbour(i)
	}
	return i
}

// parent chooses an individual by linear ranking (Baker, «Adaptive selection methods for genetic
// algorithms», ICGA 1985): the best is pressure times as likely as the average one, the worst
// 2-pressure times.
func (g *geneticAlgorithm) parent() int {
	r, n := g.rng, len(g.population)
	for {
		rank := r.IntN(n)
		pressure := g.values.float("pressure")
		weight := pressure
		if n > 1 {
			weight -= 2 * (pressure - 1) * float64(rank) / float64(n-1)
		}
		if r.Float64()*pressure < weight {
			return g.population[rank].index
		}
	}
}

// cross overwrites parts of row a by those of row b and returns a.
func (g *geneticAlgorithm) cross(a, b []int) []int {
	r := g.rng
	from, to := 0, len(a) // the piece that the child has from b
	switch g.values.choice("method") {
	case "uniform":
		for p := range a {
			if r.IntN(2) == 0 {
				a[p] = b[p]
			}
		}
		return a
	case "disruptive_uniform":
		// Half of the differences are exchanged: the child is equally far from both parents.
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

var diffEvoStrategy = Description{
	Name:    "diff_evo",
	Summary: "differential evolution: each member tries steps along differences of other members",
	Source:  "Storn and Price, Journal of Global Optimization 11, 1997",
	Options: []Option{
		{Name: "popsize", Kind: Int, Default: "10", Min: 4, Max: 10000, Meaning: "size of the population"},
		{Name: "method", Kind: Choice, Default: "best1bin", Choices: []string{"rand1bin", "best1bin", "currenttobest1bin"}, Meaning: "base to which the difference is added, and crossover"},
		{Name: "F", Kind: Float, Default: "0.7", Min: 0, Max: 2, Meaning: "weight of a difference"},
		{Name: "CR", Kind: Float, Default: "0.9", Min: 0, Max: 1, Meaning: "probability that a coordinate comes from the step"},
	},
	make: func(s setting) proposer {
		d := &diffEvo{population{lattice: newLattice(s)}}
		return newTeam(s.memory, s.popsize(), d.evolve)
	},
}

// A population is the members of a team whose walkers each improve one individual.
type population struct {
	*lattice
	members []*individual // by the places of walkers; nil: not evaluated yet
}

// join evaluates the first configuration of a walker and makes it a member.
func (p *population) join(w *walker) *individual {
	for w.place >= len(p.members) {
		p.members = append(p.members, nil)
	}
	p.members[w.place] = nil
	i := p.begin()
	own := &individual{i, w.evaluateOne(i)}
	p.members[w.place] = own
	return own
}

// A diffEvo has no generations: a member tries its next step as soon as it was evaluated.
type diffEvo struct{ population }

// evolve is the program of diff_evo.
func (d *diffEvo) evolve(w *walker) {
	own := d.join(w)
	for {
		i := d.trial(own)
		if y := w.evaluateOne(i); y <= own.objective {
			own.index, own.objective = i, y
		}
	}
}

// trial returns the configuration that a member tries next.
func (d *diffEvo) trial(own *individual) int {
	r := d.rng
	x := d.point(own.index)
	a, b, c := d.point(d.other(own)), d.point(d.other(own)), d.point(d.other(own))
	best := d.point(d.best())
	f, cr := d.values.float("F"), d.values.float("CR")
	always := 0
	if len(d.varied) > 0 {
		always = d.varied[r.IntN(len(d.varied))]
	}
	for p := range x {
		if p != always && r.Float64() >= cr {
			continue
		}
		step := f * (b[p] - c[p])
		switch d.values.choice("method") {
		case "rand1bin":
			x[p] = a[p] + step
		case "best1bin":
			x[p] = best[p] + step
		case "currenttobest1bin":
			x[p] += f*(best[p]-x[p]) + step
		}
		if x[p] < 0 || x[p] > d.span(p) {
			x[p] = r.Float64() * d.span(p)
		}
	}
	return d.fresh(d.space.Nearest(x))
}

// other returns the configuration of a random member, one other than own if there is one.
func (d *diffEvo) other(own *individual) int {
	for range 4 * len(d.members) {
		if m := d.members[d.rng.IntN(len(d.members))]; m != nil && m != own {
			return m.index
		}
	}
	return own.index
}

// best returns the configuration of the best member.
func (d *diffEvo) best() int {
	best, objective := -1, math.Inf(1)
	for _, m := range d.members {
		if m != nil && (best < 0 || m.objective < objective) {
			best, objective = m.index, m.objective
		}
	}
	return best
}

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
	if slices.Contains(n.members, i) {
		return
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
	n.members = slices.Delete(n.members, worst, worst+1)
	n.judge()
}

// judge computes the standings of the members.
func (n *nsga2) judge() {
	n.standings = standings(each.Of(n.members, n.memory.point))
}

// parent returns the better one of two random members.
func (n *nsga2) parent() int {
	a, b := n.rng.IntN(len(n.members)), n.rng.IntN(len(n.members))
	if n.standings[b].compare(n.standings[a]) < 0 {
		a = b
	}
	return n.members[a]
}

var psoStrategy = Description{
	Name:    "pso",
	Summary: "particle swarm: particles fly between their own best place and that of the swarm",
	Source:  "Kennedy and Eberhart, ICNN 1995; inertia: Shi and Eberhart, ICEC 1998",
	Options: []Option{
		{Name: "popsize", Kind: Int, Default: "10", Min: 2, Max: 10000, Meaning: "number of particles"},
		{Name: "w", Kind: Float, Default: "0.5", Min: 0, Max: 1, Meaning: "inertia"},
		{Name: "c1", Kind: Float, Default: "1.5", Min: 0, Max: 4, Meaning: "pull of the particle's own best place"},
		{Name: "c2", Kind: Float, Default: "1.5", Min: 0, Max: 4, Meaning: "pull of the swarm's best place"},
	},
	make: func(s setting) proposer {
		p := &pso{lattice: newLattice(s)}
		return newTeam(s.memory, s.popsize(), p.fly)
	},
}

// A pso moves each particle as soon as it was evaluated, without waiting for the others.
type pso struct {
	*lattice
	best      []float64 // the best place of the swarm; nil: nothing was evaluated yet
	objective float64   // of best
}

// fly is the program of pso.
func (s *pso) fly(w *walker) {
	i := s.begin()
	x := s.point(i)
	v := make([]float64, len(x))
	for p := range v {
		v[p] = (s.rng.Float64() - 0.5) * s.span(p)
	}
	var own []float64
	objective := math.Inf(1)
	for {
		y := w.evaluateOne(i)
		if own == nil || y < objective {
			own, objective = s.point(i), y
		}
		if s.best == nil || y < s.objective {
			s.best, s.objective = s.point(i), y
		}
		i = s.move(x, v, own)
	}
}

// move changes a particle's position x and velocity v, and returns the configuration there.
func (s *pso) move(x, v, own []float64) int {
	w, c1, c2 := s.values.float("w"), s.values.float("c1"), s.values.float("c2")
	for p := range x {
		v[p] = w*v[p] + c1*s.rng.Float64()*(own[p]-x[p]) + c2*s.rng.Float64()*(s.best[p]-x[p])
		v[p] = math.Max(-s.span(p)/2, math.Min(v[p], s.span(p)/2))
		if to := x[p] + v[p]; to != s.clamp(p, to) {
			v[p] = -v[p] / 2 // it bounces off
		}
		x[p] = s.clamp(p, x[p]+v[p])
	}
	return s.fresh(s.space.Nearest(x))
}

var fireflyStrategy = Description{
	Name:    "firefly_algorithm",
	Summary: "fireflies fly towards brighter ones, faster towards near ones",
	Source:  "Yang, «Firefly algorithms for multimodal optimization», SAGA 2009",
	Options: []Option{
		{Name: "popsize", Kind: Int, Default: "10", Min: 2, Max: 10000, Meaning: "number of fireflies"},
		{Name: "B0", Kind: Float, Default: "1", Min: 0, Max: 2, Meaning: "attraction at distance 0"},
		{Name: "gamma", Kind: Float, Default: "0.1", Min: 0, Meaning: "absorption: how fast attraction decreases with distance"},
		{Name: "alpha", Kind: Float, Default: "0.2", Min: 0, Max: 1, Meaning: "random part of a move, relative to the length of a parameter's list"},
	},
	make: func(s setting) proposer {
		f := &firefly{population{lattice: newLattice(s)}}
		return newTeam(s.memory, s.popsize(), f.fly)
	},
}

// A firefly strategy moves each firefly as soon as it was evaluated, without waiting for the
// others.
type firefly struct{ population }

// fly is the program of firefly_algorithm.
func (f *firefly) fly(w *walker) {
	own := f.join(w)
	for {
		moved := false
		for _, other := range f.members {
			if other != nil && other.objective < own.objective {
				own.index = f.move(own.index, other.index)
				own.objective = w.evaluateOne(own.index)
				moved = true
			}
		}
		if moved {
			continue
		}
		// The brightest looks around, and stays where it is unless that is brighter.
		i := f.move(own.index, own.index)
		if y := w.evaluateOne(i); y < own.objective {
			own.index, own.objective = i, y
		}
	}
}

// move returns the configuration that a firefly reaches on its way to another. Distances are
// relative to the lengths of the parameters' lists.
func (f *firefly) move(from, to int) int {
	x, goal := f.point(from), f.point(to)
	square := 0.0
	for _, p := range f.varied {
		d := (goal[p] - x[p]) / f.span(p)
		square += d * d
	}
	beta := f.values.float("B0") * math.Exp(-f.values.float("gamma")*square)
	alpha := f.values.float("alpha")
	for _, p := range f.varied {
		x[p] = f.clamp(p, x[p]+beta*(goal[p]-x[p])+alpha*(f.rng.Float64()-0.5)*f.span(p))
	}
	return f.fresh(f.space.Nearest(x))
}
