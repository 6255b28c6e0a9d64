package search

var basinhoppingDefinition = definition{
	Description: Description{
		Name:    "basinhopping",
		Summary: "basin hopping: annealing over local minima, from one to the next by a jump and a descent",
		Source:  "Wales and Doye, Journal of Physical Chemistry A 101(28), 1997",
		Options: []Option{
			{Name: "T", Kind: Real, Default: "0.05", Min: 1e-9, Meaning: "temperature: a minimum that is so much worse, relatively, is taken with probability 1/e"},
			{Name: "stepsize", Kind: Real, Default: "0.5", Min: 0.01, Max: 1, Meaning: "longest jump of each parameter, in terms of its list"},
			{Name: "niter_success", Kind: Whole, Default: "10", Min: 1, Meaning: "jumps without a better minimum after which another walk begins"},
			neighborOption("adjacent"),
			samplesOption,
		},
	},
	make: newBasinhopping,
}

type basinhopping struct {
	lattice    *lattice
	beginnings *beginnings
	memory     *memory
	values     values
	descent    descent
}

func newBasinhopping(s setting) proposer {
	l := newLattice(s)
	b := &basinhopping{l, newBeginnings(s), s.memory, s.values, descent{lattice: l, neighbourhood: neighbourhoods[s.values.choice("neighbor")]}}
	return newTeam(s.memory, 1, func(int) program { return b.hop })
}

// hop is the program of each walker.
func (b *basinhopping) hop(w *walker) {
	i, y := b.beginnings.walk(w)
	i, y = b.descent.from(w, i, y)
	best := y
	for failed := 0; failed < b.values.whole("niter_success"); failed++ {
		j := b.jump(i)
		j, z := b.descent.from(w, j, w.evaluateOne(j))
		if z < best {
			best, failed = z, 0
		}
		if metropolis(b.lattice.rng, y, z, b.values.real("T")) {
			i, y = j, z
		}
	}
}

// jump is a configuration around another, never proposed where that can be had.
func (b *basinhopping) jump(i int) int {
	l := b.lattice
	x := l.point(i)
	for _, p := range l.varied {
		x[p] = l.clamp(p, x[p]+(2*l.rng.Float64()-1)*b.values.real("stepsize")*l.span(p))
	}
	j := l.nearest(x)
	if b.memory.seen(j) {
		j, _ = l.novel(b.memory, j)
	}
	return j
}
