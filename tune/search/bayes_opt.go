package search

import "github.com/ndtune/ndtune/tune/search/gaussian"

var bayesOptDefinition = definition{
	Description: Description{
		Name:    "bayes_opt",
		Summary: "Bayesian optimisation with a Gaussian process",
		Source:  "Jones et al., Journal of Global Optimization 13, 1998; Willemsen et al., «Bayesian optimization for auto-tuning GPU kernels», PMBS 2021",
		Options: []Option{
			{Name: "initial", Kind: Whole, Default: "10", Min: 2, Meaning: "configurations before the model is asked, spread over the space"},
			{Name: "kernel", Kind: Choice, Default: "matern32", Choices: []string{"matern52", "matern32", "exponential"}, Meaning: "how smooth the objective is thought to be, the smoothest first"},
			{Name: "acquisition", Kind: Choice, Default: "ei", Choices: []string{"ei", "pi", "lcb"}, Meaning: "expected improvement, its probability, or the lower confidence bound"},
			{Name: "exploration", Kind: Real, Default: "1", Min: 0, Meaning: "for lcb, how many standard deviations below the mean"},
		},
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
			deviations := s.values.real("exploration")
			acquire = func(mean, deviation, _ float64) float64 { return deviations*deviation - mean }
		}
		return newModelSearch(s, kernel, s.values.whole("initial"), acquire)
	},
}
