// Package search holds the strategies that decide which configurations are evaluated, and
// in which order. A strategy is an ask/tell proposer over the indices of a space: it knows
// nothing of kernels, devices, time or budgets, and it never evaluates anything itself.
package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/space"
)

// An Observation is what became of a proposed configuration.
type Observation struct {
	Index     int     // of the configuration in the space
	Objective float64 // to be minimised; without meaning where Valid is false
	Valid     bool    // a correct configuration with an objective
}

// A Strategy proposes configurations, by their index in the space.
//
// Ask proposes at most n configurations that it has not proposed before. None means
// «wait for results» while any proposed are without an observation, and «exhausted» when
// none are. Tell feeds observations back, in any order. A strategy is deterministic for
// its seed and the same calls in the same order. It is not safe for concurrent use.
type Strategy interface {
	Ask(n int) []int
	Tell(observations []Observation)
}

// A maker builds a strategy over a space.
type maker func(s *space.Space, seed uint64) Strategy

var strategies = map[string]maker{
	"brute_force":   newBruteForce,
	"random_sample": newRandomSample,
}

// Names are the names of all strategies, sorted.
func Names() []string {
	names := make([]string, 0, len(strategies))
	for name := range strategies {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// New makes the named strategy over a space. Options are the strategy's own; one that it
// does not know is an error.
func New(name string, s *space.Space, seed uint64, options map[string]string) (Strategy, error) {
	make, ok := strategies[name]
	if !ok {
		return nil, fmt.Errorf("no strategy is named %q%s (there are %s)", name, nearest.Hint(name, Names()), strings.Join(Names(), ", "))
	}
	for option := range options {
		return nil, fmt.Errorf("the strategy %s has no option %q: it has none", name, option)
	}
	return make(s, seed), nil
}
