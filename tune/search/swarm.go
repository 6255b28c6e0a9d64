package search

import "math"

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
