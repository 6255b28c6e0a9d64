package search

import (
	"math"

	"github.com/ndtune/ndtune/tune/search/gaussian"
)

var bayesOptStrategy = Description{
	Name:    "bayes_opt",
	Summary: "Bayesian optimisation with a Gaussian process",
	Source:  "Jones et al., Journal of Global Optimization 13, 1998; Willemsen et al., «Bayesian optimization for auto-tuning GPU kernels», PMBS 2021",
	Priors:  true,
	Options: []Option{
		{Name: "initial", Kind: Int, Default: "8", Min: 2, Meaning: "configurations of the initial sample, spread over the space"},
		{Name: "kernel", Kind: Choice, Default: "matern52", Choices: []string{"matern52", "matern32", "exponential"}, Meaning: "assumed smoothness of the objective, the smoothest first"},
		{Name: "acquisition", Kind: Choice, Default: "ei", Choices: []string{"ei", "pi", "lcb"}, Meaning: "expected improvement, probability of improvement, or lower confidence bound"},
		{Name: "exploration", Kind: Float, Default: "1", Min: 0, Meaning: "for lcb, number of standard deviations below the mean"},
	},
	make: func(s setting) proposer {
		kernel := map[string]gaussian.Kernel{
			"matern52": gaussian.Matern52, "matern32": gaussian.Matern32, "exponential": gaussian.Exponential,
		}[s.values.choice("kernel")]
		acquire := expectedImprovement
		switch s.values.choice("acquisition") {
		case "pi":
			acquire = probabilityOfImprovement
		case "lcb":
			deviations := s.values.float("exploration")
			acquire = func(mean, deviation, _ float64) float64 { return deviations*deviation - mean }
		}
		return newModelSearch(s, kernel, s.values.int("initial"), acquire)
	},
}

// Auto is the name of the default strategy.
const Auto = "auto"

const (
	// The initial sample has autoInitial configurations, but at most one in autoShare of the
	// budget, and at least autoInitialLeast.
	autoInitial      = 8
	autoShare        = 4
	autoInitialLeast = 3
	// In the second half of the budget, or after autoFrom proposals if the budget is unknown,
	// every autoLocal-th proposal is a neighbour of the best.
	autoFrom  = 100
	autoLocal = 3
)

var autoStrategy = Description{
	Name:    Auto,
	Summary: "brute_force if the budget covers the space, else bayes_opt; in its second half, every third proposal is a neighbour of the best. With several objectives, the expected improvement of the hypervolume",
	Source:  "several objectives: Emmerich et al., «A multicriteria generalization of Bayesian global optimization», 2016",
	Several: true,
	Priors:  true,
	make: func(s setting) proposer {
		if s.budget >= s.space.Len() {
			return bruteForce(s)
		}
		initial := autoInitial
		if s.budget > 0 {
			initial = max(autoInitialLeast, min(autoInitial, s.budget/autoShare))
		}
		m := newModelSearch(s, gaussian.Matern52, initial, expectedImprovement)
		if s.objectives > 1 {
			return m
		}
		if m.local, m.from = autoLocal, autoFrom; s.budget > 0 {
			m.from = s.budget/2 - initial
		}
		return m
	},
}

// An acquisition returns the worth of a candidate from the mean and the standard deviation that
// the model predicts for it, and the best target so far.
type acquisition func(mean, deviation, best float64) float64

// expectedImprovement returns by how much a candidate is expected to be better than the best.
func expectedImprovement(mean, deviation, best float64) float64 {
	if deviation <= 0 {
		return 0
	}
	u := (best - mean) / deviation
	return deviation * (u*normal(u) + density(u))
}

// probabilityOfImprovement returns how likely a candidate is better than the best.
func probabilityOfImprovement(mean, deviation, best float64) float64 {
	if deviation <= 0 {
		return 0
	}
	return normal((best - mean) / deviation)
}

// normal and density are the distribution function and the density of the standard normal
// distribution.
func normal(u float64) float64  { return math.Erfc(-u/math.Sqrt2) / 2 }
func density(u float64) float64 { return math.Exp(-u*u/2) / math.Sqrt(2*math.Pi) }
