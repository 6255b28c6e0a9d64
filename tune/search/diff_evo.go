package search

import "math"

var diffEvoDefinition = definition{
	Description: Description{
		Name:    "diff_evo",
		Summary: "differential evolution: each member tries steps that differences of others suggest",
		Source:  "Storn and Price, Journal of Global Optimization 11, 1997",
		Options: []Option{
			{Name: "popsize", Kind: Whole, Default: "10", Min: 4, Max: 10000, Meaning: "size of the population"},
			{Name: "method", Kind: Choice, Default: "best1bin", Choices: []string{"rand1bin", "best1bin", "currenttobest1bin"}, Meaning: "what the difference is added to"},
			{Name: "F", Kind: Real, Default: "0.7", Min: 0, Max: 2, Meaning: "weight of a difference"},
			{Name: "CR", Kind: Real, Default: "0.9", Min: 0, Max: 1, Meaning: "chance of each coordinate to come from the step"},
		},
	},
	make: newDiffEvo,
}

// diffEvo has no generations: a member that was evaluated tries its next step at once.
type diffEvo struct {
	lattice    *lattice
	beginnings *beginnings
	memory     *memory
	values     values
	members    []*individual // by the places of walkers; nil: not evaluated yet
}

func newDiffEvo(s setting) proposer {
	d := &diffEvo{lattice: newLattice(s), beginnings: newBeginnings(s), memory: s.memory, values: s.values}
	return newTeam(s.memory, max(s.values.whole("popsize"), len(s.start)), func(int) program { return d.evolve })
}

// evolve is the program of each walker.
func (d *diffEvo) evolve(w *walker) {
	for w.place >= len(d.members) {
		d.members = append(d.members, nil)
	}
	d.members[w.place] = nil
	i := d.beginnings.next()
	own := &individual{i, w.evaluateOne(i)}
	d.members[w.place] = own
	for {
		i := d.trial(own)
		if y := w.evaluateOne(i); y <= own.objective {
			own.index, own.objective = i, y
		}
	}
}

// trial is the step of a member.
func (d *diffEvo) trial(own *individual) int {
	r := d.lattice.rng
	x := d.lattice.point(own.index)
	a, b, c := d.lattice.point(d.other(own)), d.lattice.point(d.other(own)), d.lattice.point(d.other(own))
	best := d.lattice.point(d.best())
	f, cr := d.values.real("F"), d.values.real("CR")
	always := 0
	if len(d.lattice.varied) > 0 {
		always = d.lattice.varied[r.IntN(len(d.lattice.varied))]
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
		if x[p] < 0 || x[p] > d.lattice.span(p) {
			x[p] = r.Float64() * d.lattice.span(p)
		}
	}
	i := d.lattice.nearest(x)
	if d.memory.seen(i) {
		i, _ = d.lattice.novel(d.memory, i)
	}
	return i
}

// other is a member by chance, another one where there are two.
func (d *diffEvo) other(own *individual) int {
	for range 4 * len(d.members) {
		if m := d.members[d.lattice.rng.IntN(len(d.members))]; m != nil && m != own {
			return m.index
		}
	}
	return own.index
}

func (d *diffEvo) best() int {
	best, objective := -1, math.Inf(1)
	for _, m := range d.members {
		if m != nil && (best < 0 || m.objective < objective) {
			best, objective = m.index, m.objective
		}
	}
	return best
}
