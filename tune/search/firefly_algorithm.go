package search

import "math"

var fireflyDefinition = definition{
	Description: Description{
		Name:    "firefly_algorithm",
		Summary: "fireflies fly towards brighter ones, the more the nearer these are",
		Source:  "Yang, «Firefly algorithms for multimodal optimization», SAGA 2009",
		Options: []Option{
			{Name: "popsize", Kind: Whole, Default: "10", Min: 2, Max: 10000, Meaning: "number of fireflies"},
			{Name: "B0", Kind: Real, Default: "1", Min: 0, Max: 2, Meaning: "attraction at no distance"},
			{Name: "gamma", Kind: Real, Default: "0.1", Min: 0, Meaning: "absorption: how soon attraction fades with distance"},
			{Name: "alpha", Kind: Real, Default: "0.2", Min: 0, Max: 1, Meaning: "random part of a move, in terms of a parameter's list"},
		},
	},
	make: newFirefly,
}

// firefly moves each firefly as soon as it was evaluated, without waiting for the others.
type firefly struct {
	lattice    *lattice
	beginnings *beginnings
	memory     *memory
	values     values
	flies      []*individual // by the places of walkers; nil: not evaluated yet
}

func newFirefly(s setting) proposer {
	f := &firefly{lattice: newLattice(s), beginnings: newBeginnings(s), memory: s.memory, values: s.values}
	return newTeam(s.memory, max(s.values.whole("popsize"), len(s.start)), func(int) program { return f.fly })
}

// fly is the program of each walker.
func (f *firefly) fly(w *walker) {
	for w.place >= len(f.flies) {
		f.flies = append(f.flies, nil)
	}
	f.flies[w.place] = nil
	i := f.beginnings.next()
	own := &individual{i, w.evaluateOne(i)}
	f.flies[w.place] = own
	for {
		moved := false
		for _, other := range f.flies {
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

// move is the configuration to which a firefly comes on its way to another. Distances are in
// terms of the parameters' lists.
func (f *firefly) move(from, to int) int {
	l := f.lattice
	x, goal := l.point(from), l.point(to)
	square := 0.0
	for _, p := range l.varied {
		d := (goal[p] - x[p]) / l.span(p)
		square += d * d
	}
	beta := f.values.real("B0") * math.Exp(-f.values.real("gamma")*square)
	alpha := f.values.real("alpha")
	for _, p := range l.varied {
		x[p] = l.clamp(p, x[p]+beta*(goal[p]-x[p])+alpha*(l.rng.Float64()-0.5)*l.span(p))
	}
	i := l.nearest(x)
	if f.memory.seen(i) {
		i, _ = l.novel(f.memory, i)
	}
	return i
}
