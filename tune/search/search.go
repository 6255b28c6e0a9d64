// Package search holds the strategies that decide which configurations are evaluated, and
// in which order. A strategy is an ask/tell proposer over the indices of a space: it knows
// nothing of kernels, devices, time or budgets, and it never evaluates anything itself.
//
// Each strategy is a file with its [Description] and its algorithm, which is one of two
// things: a proposer, which is asked and told as the strategy is, or a program of a [team] of
// walkers, which reads as the algorithm does and asks for evaluations as for any function.
// What all have in common stands around them: the user's own configurations come first,
// nothing is proposed twice, what is known already costs nothing, and a strategy ends when
// the space is exhausted, not when its algorithm has converged.
//
// All work on the places of values in their parameters' lists, so that lists should be
// sorted where the values have an order.
package search

import (
	"fmt"
	"maps"
	"math/rand/v2"
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
// none are. Tell feeds observations back, in any order. Close ends a strategy that is needed
// no longer; it proposes nothing from then on. A strategy is deterministic for its seed and
// the same calls in the same order. It is not safe for concurrent use.
type Strategy interface {
	Ask(n int) []int
	Tell(observations []Observation)
	Close()
}

// Options of a strategy. The zero value is that of every strategy's own defaults.
type Options struct {
	Seed   uint64
	Budget int               // how many configurations may be proposed; 0: nobody knows
	Start  []int             // proposed first, in this order, and what a search begins with
	Values map[string]string // of the strategy's own options, by name; see [Description]
}

// A definition is what stands in a strategy's file.
type definition struct {
	Description
	make func(setting) proposer
}

// A setting is what a proposer is made of.
type setting struct {
	space  *space.Space
	memory *memory
	rng    *rand.Rand
	budget int   // see Options
	start  []int // without duplicates; proposed by others
	values values
}

// A proposer decides what is evaluated next. All that it proposes it marks in its memory by
// claim first, and it never proposes what it could not claim. It may propose nothing: while
// observations are due it waits for them, and otherwise some configuration is drawn for it.
// The memory has noted an observation before the proposer sees it.
type proposer interface {
	propose(n int) []int
	observe(o Observation)
	close()
}

// Names are the names of all strategies, sorted.
func Names() []string { return slices.Sorted(maps.Keys(definitions)) }

// Check is the error that [New] would give for a name and the values of options.
func Check(name string, values map[string]string) error {
	_, _, err := find(name, values)
	return err
}

func find(name string, given map[string]string) (definition, values, error) {
	d, ok := definitions[name]
	if !ok {
		return d, nil, fmt.Errorf("no strategy is named %q%s (there are %s)", name, nearest.Hint(name, Names()), strings.Join(Names(), ", "))
	}
	v, err := d.parse(given)
	return d, v, err
}

// New makes the named strategy over a space. An unknown name, an option that the strategy
// does not have, a value that it cannot have and a start beyond the space are errors.
func New(name string, s *space.Space, o Options) (Strategy, error) {
	d, v, err := find(name, o.Values)
	if err != nil {
		return nil, err
	}
	start := make([]int, 0, len(o.Start))
	for _, i := range o.Start {
		if i < 0 || i >= s.Len() {
			return nil, fmt.Errorf("start at configuration %d: the space has %d", i, s.Len())
		}
		if !slices.Contains(start, i) {
			start = append(start, i)
		}
	}
	m := newMemory(s.Len(), rand.New(rand.NewPCG(o.Seed, 0)))
	p := d.make(setting{space: s, memory: m, rng: rand.New(rand.NewPCG(o.Seed, 1)), budget: o.Budget, start: start, values: v})
	return &session{memory: m, start: start, proposer: p}, nil
}
