package search

import (
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune/space"
)

func testSpace(t testing.TB) *space.Space {
	t.Helper()
	var values []space.Value
	for i := range 40 {
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
	s := testSpace(t)
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

func TestStrategiesAreDeterministicForASeed(t *testing.T) {
	s := testSpace(t)
	for _, name := range Names() {
		a, _ := New(name, s, Options{Seed: 7})
		b, _ := New(name, s, Options{Seed: 7})
		if !slices.Equal(drain(a), drain(b)) {
			t.Errorf("%s differs between two runs with one seed", name)
		}
	}
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
