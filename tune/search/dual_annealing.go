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
	if len(a.lattice.varied) == 0 {
		return
	}
	round, t := 2*len(a.lattice.varied), 1.0
	step := 0
	jumps := queue{next: func() (int, bool) {
		step++
		return a.jump(i, step, t), true
	}}
	for k := 1; t >= a.values.real("restart_temp_ratio"); k++ {
		t = a.temperature(k)
		for range round {
			j, _ := jumps.take()
			z := w.evaluateBefore(j, jumps.more)
			moved := true
			switch {
			case z < best:
				i, y = a.descent.from(w, j, z)
				best = y
			case a.accepts(y, z, t/float64(k)):
				i, y = j, z
			default:
				moved = false
			}
			if moved {
				jumps.clear()
			}
		}
	}
}

// temperature is that of the visiting distribution in round k, 1 in the first
// (Tsallis and Stariolo, equation 15).
func (a *dualAnnealing) temperature(k int) float64 {
	q := a.values.real("visit") - 1
	return (math.Pow(2, q) - 1) / (math.Pow(float64(k)+1, q) - 1)
}

// jump changes coordinates by q-Gaussian steps: in one half of a round all at once, in the
// other one after the other. A coordinate that leaves its list comes in again from the other
// end.
func (a *dualAnnealing) jump(i, step int, t float64) int {
	l := a.lattice
	only := -1
	if k := step%(2*len(l.varied)) - len(l.varied); k >= 0 {
		only = l.varied[k]
	}
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
