package command

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/internal/foreign"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// TestTheExampleInPython runs docs/strategies/evolution.py on a bowl with a restriction, where it must find the best long before a random
// sample would.
func TestTheExampleInPython(t *testing.T) {
	foreign.Require(t, "python3")
	var list []space.Parameter
	for _, name := range []string{"a", "b", "c"} {
		p := space.Parameter{Name: name}
		for v := range 16 {
			p.Values = append(p.Values, v)
		}
		list = append(list, p)
	}
	parameters, err := space.NewParameters(list)
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New(t.Context(), parameters, []space.Restriction{{Expression: "(a + b + c) % 4 != 3"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	objective := func(i int) float64 {
		row := s.Row(i, nil)
		return math.Abs(float64(row[0]-5)) + math.Abs(float64(row[1]-6)) + math.Abs(float64(row[2]-7))
	}
	run := func() (all []int, best float64) {
		c, err := New(t.Context(), s, Options{
			Args:      []string{"python3", filepath.Join("..", "..", "..", "docs", "strategies", "evolution.py"), "--popsize", "6"},
			Objective: score.Objective{Name: "GFLOP/s", Maximize: true}, Seed: 3, Budget: 300,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		best = math.Inf(1)
		for len(all) < 300 {
			proposed, err := c.Consult(t.Context(), 3)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range proposed {
				best = min(best, objective(i))
				c.Tell([]search.Observation{{Index: i, Objective: objective(i), Valid: true, Status: "correct"}})
			}
			all = append(all, proposed...)
		}
		return all, best
	}
	first, best := run()
	if best > 1 { // of 3072 configurations, 7 are so good
		t.Errorf("the best after %d evaluations is %g", len(first), best)
	}
	if again, _ := run(); !slices.Equal(first, again) {
		t.Error("two searches with one seed differ")
	}
}
