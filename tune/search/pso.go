package search

import "math"

var psoDefinition = definition{
	Description: Description{
		Name:    "pso",
		Summary: "particle swarm: particles fly between the best places of their own and of the swarm",
		Source:  "Kennedy and Eberhart, ICNN 1995; inertia: Shi and Eberhart, ICEC 1998",
		Options: []Option{
			{Name: "popsize", Kind: Whole, Default: "10", Min: 2, Max: 10000, Meaning: "number of particles"},
			{Name: "w", Kind: Real, Default: "0.5", Min: 0, Max: 1, Meaning: "inertia"},
			{Name: "c1", Kind: Real, Default: "1.5", Min: 0, Max: 4, Meaning: "pull of the particle's own best place"},
			{Name: "c2", Kind: Real, Default: "1.5", Min: 0, Max: 4, Meaning: "pull of the swarm's best place"},
		},
	},
	make: newPSO,
}

// pso moves each particle as soon as it was evaluated, without waiting for the others.
type pso struct {
	lattice    *lattice
	beginnings *beginnings
	memory     *memory
	values     values
	best       []float64 // of the swarm; nil: none was evaluated
	objective  float64
}

func newPSO(s setting) proposer {
	p := &pso{lattice: newLattice(s), beginnings: newBeginnings(s), memory: s.memory, values: s.values}
	return newTeam(s.memory, max(s.values.whole("popsize"), len(s.start)), func(int) program { return p.fly })
}

// fly is the program of each walker.
func (s *pso) fly(w *walker) {
	l := s.lattice
	i := s.beginnings.next()
	x := l.point(i)
	v := make([]float64, len(x))
	for p := range v {
		v[p] = (l.rng.Float64() - 0.5) * l.span(p)
	}
	var own []float64
	objective := math.Inf(1)
	for {
		y := w.evaluateOne(i)
		if own == nil || y < objective {
			own, objective = l.point(i), y
		}
		if s.best == nil || y < s.objective {
			s.best, s.objective = l.point(i), y
		}
		i = s.move(x, v, own)
	}
}

// move changes a position and its velocity, and is the configuration there.
func (s *pso) move(x, v, own []float64) int {
	l := s.lattice
	w, c1, c2 := s.values.real("w"), s.values.real("c1"), s.values.real("c2")
	for p := range x {
		v[p] = w*v[p] + c1*l.rng.Float64()*(own[p]-x[p]) + c2*l.rng.Float64()*(s.best[p]-x[p])
		v[p] = math.Max(-l.span(p)/2, math.Min(v[p], l.span(p)/2))
		if to := x[p] + v[p]; to != l.clamp(p, to) {
			v[p] = -v[p] / 2 // it bounces off
		}
		x[p] = l.clamp(p, x[p]+v[p])
	}
	i := l.nearest(x)
	if s.memory.seen(i) {
		i, _ = l.novel(s.memory, i)
	}
	return i
}
