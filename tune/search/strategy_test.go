package search

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune/space"
)

func testSpace(t testing.TB) *space.Space { return squareSpace(t, 40) }

// squareSpace has two thirds of n × n configurations.
func squareSpace(t testing.TB, n int) *space.Space {
	t.Helper()
	var values []space.Value
	for i := range n {
		values = append(values, i)
	}
	p, err := space.NewParameters([]space.Parameter{{Name: "x", Values: values}, {Name: "y", Values: values}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New(t.Context(), p, []space.Restriction{{Expression: "(x + y) % 3 != 0"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drain asks in batches of changing size until the strategy is exhausted.
func drain(strategy Strategy) []int {
	var all []int
	for n := 1; ; n = n%7 + 1 {
		batch := strategy.Ask(n)
		if len(batch) == 0 {
			return all
		}
		all = append(all, batch...)
		var told []Observation
		for _, i := range batch {
			told = append(told, Observation{Index: i, Objective: float64(i % 17), Valid: i%5 != 0})
		}
		strategy.Tell(told)
	}
}

func TestEveryStrategyProposesEachConfigurationOnceAndEnds(t *testing.T) {
	s := squareSpace(t, 22)
	for _, name := range Names() {
		strategy, err := New(name, s, Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		all := drain(strategy)
		slices.Sort(all)
		if len(all) != s.Len() || len(slices.Compact(all)) != s.Len() || all[0] != 0 || all[len(all)-1] != s.Len()-1 {
			t.Errorf("%s proposed %d of %d, %d different", name, len(all), s.Len(), len(slices.Compact(all)))
		}
	}
}

// TestSeeds: two seeds make two samples. TestStrategiesKeepTheirPromises compares searches of one seed.
func TestSeeds(t *testing.T) {
	s := testSpace(t)
	a, _ := New("random_sample", s, Options{Seed: 1})
	b, _ := New("random_sample", s, Options{Seed: 2})
	if slices.Equal(a.Ask(50), b.Ask(50)) {
		t.Error("random_sample gives the same sample for two seeds")
	}
}

// TestRandomSampleIsUniform draws the first configuration of many samples and compares the
// counts of ten equal parts by Pearson's chi-square, at a level that one seed in a million
// would fail.
func TestRandomSampleIsUniform(t *testing.T) {
	s := testSpace(t)
	const draws, parts = 20000, 10
	var counts [parts]int
	for seed := range uint64(draws) {
		r, _ := New("random_sample", s, Options{Seed: seed})
		counts[r.Ask(1)[0]*parts/s.Len()]++
	}
	chi := 0.0
	for _, n := range counts {
		d := float64(n) - draws/parts
		chi += d * d / (draws / parts)
	}
	if chi > 46.0 { // 9 degrees of freedom, p below 1e-6
		t.Errorf("chi-square %.1f over %v", chi, counts)
	}
}

func TestNewRefusesWhatItDoesNotKnow(t *testing.T) {
	s := testSpace(t)
	if _, err := New("brute_forse", s, Options{}); err == nil {
		t.Error("an unknown strategy was made")
	}
	if _, err := New("brute_force", s, Options{Values: map[string]string{"popsize": "3"}}); err == nil {
		t.Error("an unknown option was accepted")
	}
}

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
					d.objective = func(i int) Observation { return Observation{Index: i, Objective: float64(i*7%11) - 5, Valid: i%6 != 0} }
					d.search(t, description.Name, seed)
				}
			}
		}
	}
}

// TestVastSpaces: nothing goes through a whole space, or through all neighbours where these
// are too many.
func TestVastSpaces(t *testing.T) {
	for _, values := range []int{2, 300} {
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
						strategy.Tell([]Observation{{Index: i, Objective: float64(i % 1000), Valid: true}})
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

// TestInterruptedProposals: a strategy whose context is done proposes nothing, then and later.
func TestInterruptedProposals(t *testing.T) {
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, name := range Names() {
		strategy, err := New(name, testSpace(t), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if proposed, err := Ask(interrupted, strategy, 1); len(proposed) > 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, %v", name, proposed, err)
		}
		if proposed, _ := Ask(t.Context(), strategy, 1); len(proposed) > 0 {
			t.Errorf("%s proposes %v afterwards", name, proposed)
		}
		strategy.Close()
	}
}

// TestManyParameters: a model of many features has fewer candidates, and is fitted to fewer points.
func TestManyParameters(t *testing.T) {
	var list []space.Parameter
	for i := range 400 {
		list = append(list, space.Parameter{Name: fmt.Sprintf("p%d", i), Values: []space.Value{0, 1}})
	}
	p, err := space.NewParameters(list)
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New(t.Context(), p, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	strategy, err := New(Auto, s, Options{Budget: 40})
	if err != nil {
		t.Fatal(err)
	}
	defer strategy.Close()
	for k := range 10 {
		for _, i := range strategy.Ask(1) {
			strategy.Tell([]Observation{{Index: i, Objective: float64(k%3) + 1, Valid: true}})
		}
	}
	m := strategy.(*session).proposer.(*modelSearch)
	if n := m.features.within(fitPoints, fitFeatures); n != 20 || len(m.pool) > 2500 {
		t.Errorf("%d points, %d candidates", n, len(m.pool))
	}
}
