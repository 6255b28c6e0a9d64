package search

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ndtune/ndtune/tune/space"
)

// extremes are values at the ends of an option's range, and every choice.
func extremes(o Option) []string {
	if o.Kind == Choice {
		return o.Choices
	}
	values := []string{fmt.Sprint(o.Min)}
	if o.Max > o.Min {
		values = append(values, fmt.Sprintf("%.15g", o.Max))
	} else {
		values = append(values, "1000")
	}
	return values
}

// TestExtremeOptions searches small spaces to the end with every option at its extremes.
func TestExtremeOptions(t *testing.T) {
	for _, description := range Descriptions() {
		for _, o := range description.Options {
			for _, value := range extremes(o) {
				for seed := range uint64(4) {
					d := &drive{rng: rand.New(rand.NewPCG(seed, 3))}
					d.space = smallSpace(t, d.rng)
					d.values = map[string]string{o.Name: value}
					d.objective = func(i int) Observation { return Observation{i, float64(i*7%11) - 5, i%6 != 0} }
					d.search(t, description.Name, seed)
				}
			}
		}
	}
}

// TestVastSpaces: nothing goes through a whole space, or through all neighbours where these
// are too many.
func TestVastSpaces(t *testing.T) {
	for _, values := range []int{2, 8, 300} {
		var list []space.Parameter
		for p := range 20 {
			q := space.Parameter{Name: fmt.Sprintf("p%d", p)}
			for v := range values {
				q.Values = append(q.Values, v)
			}
			list = append(list, q)
		}
		parameters, err := space.NewParameters(list)
		if err != nil {
			t.Fatal(err)
		}
		s, err := space.New(t.Context(), parameters, []space.Restriction{{Expression: "p0 <= p1"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, description := range Descriptions() {
			search := func(name string, options map[string]string) {
				strategy, err := New(name, s, Options{Seed: 1, Values: options})
				if err != nil {
					t.Fatal(err)
				}
				defer strategy.Close()
				seen := map[int]bool{}
				for range 15 {
					batch := strategy.Ask(3)
					if len(batch) == 0 {
						t.Fatalf("%s proposes nothing", name)
					}
					for _, i := range batch {
						if seen[i] {
							t.Fatalf("%s proposes %d again", name, i)
						}
						seen[i] = true
						strategy.Tell([]Observation{{i, float64(i % 1000), true}})
					}
				}
			}
			search(description.Name, nil)
			for _, o := range description.Options {
				if o.Name == "neighbor" {
					search(description.Name, map[string]string{"neighbor": "strictly-adjacent"})
				}
			}
		}
	}
}
