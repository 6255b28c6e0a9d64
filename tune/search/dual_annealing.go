package search

import "math"

var dualAnnealingDefinition = definition{
	Description: Description{
		Name:    "dual_annealing",
		Summary: "generalised simulated annealing with jumps of all lengths, and a descent from each new best",
		Source:  "Tsallis and Stariolo, Physica A 233, 1996; Xiang et al., Physics Letters A 233, 1997",
		Options: []Option{
			{Name: "visit", Kind: Real, Default: "2.62", Min: 1.01, Max: 2.99, Meaning: "shape of the jumps: the higher, the more long ones"},
			{Name: "accept", Kind: Real, Default: "-5", Min: -1e4, Max: 0.99, Meaning: "shape of acceptance: the lower, the fewer worse ones are accepted"},
			{Name: "restart_temp_ratio", Kind: Real, Default: "0.01", Min: 1e-9, Max: 0.99, Meaning: "temperature, in terms of the first, at which the annealing begins anew"},
			neighborOption("adjacent"),
			samplesOption,
		},
	},
	make: newDualAnnealing,
}

type dualAnnealing struct {
	lattice    *lattice
	beginnings *beginnings
	memory     *memory
	values     values
	descent    descent
}

func newDualAnnealing(s setting) proposer {
	l := newLattice(s)
	a := &dualAnnealing{l, newBeginnings(s), s.memory, s.values, descent{lattice: l, neighbourhood: neighbourhoods[s.values.choice("neighbor")]}}
	return newTeam(s.memory, 1, func(int) program { return a.anneal })
}

// anneal is the program of each walker.
func (a *dualAnnealing) anneal(w *walker) {
	i, y := a.beginnings.walk(w)
	i, y = a.descent.from(w, i, y)
	best := y
	for k := 1; ; k++ {
		t := a.temperature(k)
		if t < a.values.real("restart_temp_ratio") {
			return
		}
		// All coordinates at once first, then one after the other.
		for step := range 2 * len(a.lattice.varied) {
			only := -1
			if step >= len(a.lattice.varied) {
				only = a.lattice.varied[step-len(a.lattice.varied)]
			}
			j := a.jump(i, only, t)
			z := w.evaluateOne(j)
			if a.accepts(y, z, t/float64(k)) {
				i, y = j, z
			}
			if z < best {
				i, y = a.descent.from(w, j, z)
				best = y
			}
		}
		if len(a.lattice.varied) == 0 {
			return
		}
	}
}

// temperature is that of the visiting distribution in round k, 1 in the first
// (Tsallis and Stariolo, equation 15).
func (a *dualAnnealing) temperature(k int) float64 {
	q := a.values.real("visit") - 1
	return (math.Pow(2, q) - 1) / (math.Pow(float64(k)+1, q) - 1)
}

// jump changes one coordinate, or all where only is -1, by q-Gaussian steps. A coordinate that
// leaves its list comes in again from the other end.
func (a *dualAnnealing) jump(i, only int, t float64) int {
	l := a.lattice
	x := l.point(i)
	scale := math.Pow(t, 1/(3-a.values.real("visit")))
	for _, p := range l.varied {
		if only >= 0 && p != only {
			continue
		}
		n := float64(l.sizes[p])
		to := math.Mod(x[p]+0.5+scale*n*a.qGaussian(), n)
		if math.IsNaN(to) {
			to = l.rng.Float64() * n
		}
		if to < 0 {
			to += n
		}
		x[p] = to - 0.5
	}
	return l.nearest(x)
}

// qGaussian is drawn by the generalised Box-Muller method (Thistleton, Marsh, Nelson and
// Tsallis, IEEE Transactions on Information Theory 53(12), 2007).
func (a *dualAnnealing) qGaussian() float64 {
	q := a.values.real("visit")
	dual := (1 + q) / (3 - q)
	u := 1 - a.lattice.rng.Float64()
	logarithm := (math.Pow(u, 1-dual) - 1) / (1 - dual)
	return math.Sqrt(-2*logarithm) * math.Cos(2*math.Pi*a.lattice.rng.Float64())
}

// accepts is the generalised Metropolis rule (Tsallis and Stariolo, equation 5) of the
// relative loss.
func (a *dualAnnealing) accepts(present, next, t float64) bool {
	loss := relativeLoss(present, next)
	if loss <= 0 {
		return true
	}
	q := a.values.real("accept")
	base := 1 - (1-q)*loss/t
	return base > 0 && a.lattice.rng.Float64() < math.Pow(base, 1/(1-q))
}
