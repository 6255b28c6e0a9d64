package search

import (
	"math"
	"math/rand/v2"
)

var simulatedAnnealingStrategy = Description{
	Name:    "simulated_annealing",
	Summary: "simulated annealing: a random walk that accepts worse steps ever more rarely, repeated",
	Source:  "Kirkpatrick, Gelatt and Vecchi, Science 220, 1983",
	Options: []Option{
		{Name: "T", Kind: Float, Default: "0.1", Min: 1e-9, Meaning: "initial temperature: a step that is worse by this share is accepted with probability 1/e"},
		{Name: "T_min", Kind: Float, Default: "0.001", Min: 1e-12, Meaning: "temperature at which a new walk begins"},
		{Name: "alpha", Kind: Float, Default: "0.98", Min: 0, Max: 0.999999, Meaning: "factor by which each step lowers the temperature"},
		{Name: "maxiter", Kind: Int, Default: "1", Min: 1, Meaning: "steps at each temperature"},
		samplesOption,
	},
	make: func(s setting) proposer { return newTeam(s.memory, 1, newLattice(s).anneal) },
}

// anneal is the program of simulated_annealing.
func (l *lattice) anneal(w *walker) {
	i, y := l.beginWalk(w)
	steps := queue{next: func() (int, bool) { return l.neighbour(i), true }}
	for t := l.values.float("T"); t > l.values.float("T_min"); t *= l.values.float("alpha") {
		for range l.values.int("maxiter") {
			j, _ := steps.take()
			if z := w.evaluateBefore(j, steps.more); metropolis(l.rng, y, z, t) {
				i, y = j, z
				steps.clear()
			}
		}
	}
}

var dualAnnealingStrategy = Description{
	Name:    "dual_annealing",
	Summary: "generalised simulated annealing with jumps of all lengths and a descent from each new best",
	Source:  "Tsallis and Stariolo, Physica A 233, 1996; Xiang et al., Physics Letters A 233, 1997",
	Options: []Option{
		{Name: "visit", Kind: Float, Default: "2.62", Min: 1.01, Max: 2.99, Meaning: "shape of the distribution of jumps: higher values make long jumps more frequent"},
		{Name: "accept", Kind: Float, Default: "-5", Min: -1e4, Max: 0.99, Meaning: "shape of the acceptance rule: lower values accept fewer worse configurations"},
		{Name: "restart_temp_ratio", Kind: Float, Default: "0.01", Min: 1e-9, Max: 0.99, Meaning: "temperature, relative to the initial one, at which a new walk begins"},
		neighborOption("adjacent"),
		samplesOption,
	},
	make: func(s setting) proposer { return newTeam(s.memory, 1, dualAnnealing{newDescent(s)}.anneal) },
}

type dualAnnealing struct{ descent }

// anneal is the program of dual_annealing.
func (a dualAnnealing) anneal(w *walker) {
	i, y := a.startWalk(w)
	best := y
	if len(a.varied) == 0 {
		return
	}
	round, t := 2*len(a.varied), 1.0
	step := 0
	jumps := queue{next: func() (int, bool) {
		step++
		return a.jump(i, step, t), true
	}}
	for k := 1; t >= a.values.float("restart_temp_ratio"); k++ {
		t = a.temperature(k)
		for range round {
			j, _ := jumps.take()
			z := w.evaluateBefore(j, jumps.more)
			moved := true
			switch {
			case z < best:
				i, y = a.descend(w, j, z)
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

// temperature returns the temperature of the visiting distribution in round k, from 1: it
// starts at 1 (Tsallis and Stariolo, equation 15).
func (a dualAnnealing) temperature(k int) float64 {
	q := a.values.float("visit") - 1
	return (math.Pow(2, q) - 1) / (math.Pow(float64(k)+1, q) - 1)
}

// jump returns a configuration at q-Gaussian steps from i: in the first half of a round in all
// coordinates, in the second in one coordinate after the other. A coordinate that leaves its
// list enters again at the other end.
func (a dualAnnealing) jump(i, step int, t float64) int {
	only := -1
	if k := step%(2*len(a.varied)) - len(a.varied); k >= 0 {
		only = a.varied[k]
	}
	x := a.point(i)
	scale := math.Pow(t, 1/(3-a.values.float("visit")))
	for _, p := range a.varied {
		if only >= 0 && p != only {
			continue
		}
		n := float64(a.sizes[p])
		to := math.Mod(x[p]+0.5+scale*n*a.qGaussian(), n)
		if math.IsNaN(to) {
			to = a.rng.Float64() * n
		}
		if to < 0 {
			to += n
		}
		x[p] = to - 0.5
	}
	return a.space.Nearest(x)
}

// qGaussian draws a q-Gaussian number by the generalised Box-Muller method (Thistleton, Marsh,
// Nelson and Tsallis, IEEE Transactions on Information Theory 53(12), 2007).
func (a dualAnnealing) qGaussian() float64 {
	q := a.values.float("visit")
	dual := (1 + q) / (3 - q)
	u := 1 - a.rng.Float64()
	logarithm := (math.Pow(u, 1-dual) - 1) / (1 - dual)
	return math.Sqrt(-2*logarithm) * math.Cos(2*math.Pi*a.rng.Float64())
}

// accepts applies the generalised Metropolis rule (Tsallis and Stariolo, equation 5) to the
// relative loss.
func (a dualAnnealing) accepts(present, next, t float64) bool {
	loss := relativeLoss(present, next)
	if loss <= 0 {
		return true
	}
	q := a.values.float("accept")
	base := 1 - (1-q)*loss/t
	return base > 0 && a.rng.Float64() < math.Pow(base, 1/(1-q))
}

// metropolis decides whether a walk moves from the objective present to next: always if next
// is no worse, else with probability exp(-Δ/T) (Metropolis et al., Journal of Chemical Physics
// 21(6), 1953). Δ is relative to present, so that a temperature means the same for times of
// microseconds and of seconds.
func metropolis(r *rand.Rand, present, next, temperature float64) bool {
	loss := relativeLoss(present, next)
	return loss <= 0 || r.Float64() < math.Exp(-loss/temperature)
}

// relativeLoss returns by how much next is worse than present, relative to |present|; 0 if it
// is no worse. If present is a failure, nothing is worse.
func relativeLoss(present, next float64) float64 {
	switch {
	case next <= present:
		return 0
	case present == 0:
		return math.Inf(1)
	}
	return (next - present) / math.Abs(present)
}
