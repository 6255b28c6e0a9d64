package search

import "github.com/ndtune/ndtune/tune/space"

// neighbourhoods are the values of the option neighbor.
var neighbourhoods = map[string]space.Neighbourhood{
	"Hamming":           space.Hamming,
	"adjacent":          space.Adjacent,
	"strictly-adjacent": space.StrictlyAdjacent,
}

// neighborOption chooses the neighbourhood of a local search.
func neighborOption(standard string) Option {
	return Option{Name: "neighbor", Kind: Choice, Default: standard, Choices: []string{"Hamming", "adjacent", "strictly-adjacent"},
		Meaning: "neighbours differ: Hamming, in one parameter; adjacent, in one, by the next valid value; strictly-adjacent, in any number, by one place each"}
}
