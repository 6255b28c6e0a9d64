package search

import "github.com/ndtune/ndtune/tune/search/gaussian"

// Auto is the name of the strategy for those who do not want to choose one.
const Auto = "auto"

const (
	autoInitial = 10
	// Of a small budget, no more than a part of it goes to the initial sample.
	autoShare        = 4
	autoInitialLeast = 3
	// Where the second half of the budget begins, or after autoFrom evaluations where nobody
	// knows the budget, each autoLocal-th is a neighbour of the best.
	autoFrom  = 100
	autoLocal = 3
)

var autoDefinition = definition{
	Description: Description{
		Name:    Auto,
		Summary: "brute force where the budget covers the space, else bayes_opt, which in the second half looks around the best at every third turn",
	},
	make: func(s setting) proposer {
		if s.budget >= s.space.Len() {
			return &bruteForce{memory: s.memory}
		}
		initial := autoInitial
		if s.budget > 0 {
			initial = max(autoInitialLeast, min(autoInitial, s.budget/autoShare))
		}
		m := newModelSearch(s, gaussian.Matern32, initial, expectedImprovement)
		if m.local, m.from = autoLocal, autoFrom; s.budget > 0 {
			m.from = s.budget/2 - initial
		}
		return m
	},
}
