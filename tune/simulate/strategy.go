package simulate

import (
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// A Strategy is what is simulated: a name for its curves, and a maker of searches, which gets
// the seed and the budget of each and whose searches are closed.
type Strategy struct {
	Name string
	New  func(s *space.Space, o search.Options) (search.Strategy, error)
}

// Named is a strategy of package search with options. It is called as it is written on a
// command line, its options sorted: genetic_algorithm:popsize=20.
func Named(name string, options map[string]string) Strategy {
	label := []string{name}
	for option, value := range options {
		label = append(label, option+"="+value)
	}
	slices.Sort(label[1:])
	return Strategy{
		Name: strings.Join(label, ":"),
		New: func(s *space.Space, o search.Options) (search.Strategy, error) {
			o.Values = options
			return search.New(name, s, o)
		},
	}
}
