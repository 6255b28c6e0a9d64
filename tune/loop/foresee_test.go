package loop

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// A foreseeing fake keeps what Run tells it of configurations that will probably come.
type foreseeing struct {
	fake
	mutex    sync.Mutex
	foreseen [][]string
}

func (f *foreseeing) Foresee(probable []space.Configuration) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var keys []string
	for _, c := range probable {
		keys = append(keys, c.Key())
	}
	f.foreseen = append(f.foreseen, keys)
}

// TestForeseenConfigurationsChangeNothing runs a search on an evaluator that prepares what will come, and on one that does not: the results
// are the same. What is foreseen is never known already, some of it comes, and in the end nothing is left to prepare.
func TestForeseenConfigurationsChangeNothing(t *testing.T) {
	p := line(t, 60)
	o := Options{
		MaxEvaluations: 40,
		Strategy: func(s *space.Space) (search.Strategy, error) {
			return search.New(search.Auto, s, search.Options{Seed: 3, Budget: 40})
		},
	}
	plain := &fake{capacity: 4, rng: rand.New(rand.NewPCG(1, 1)), answer: correct}
	want, err := Run(t.Context(), p, plain, o)
	if err != nil {
		t.Fatal(err)
	}
	f := &foreseeing{fake: fake{capacity: 4, rng: rand.New(rand.NewPCG(2, 2)), answer: correct}}
	f.answer = func(c space.Configuration) tune.Result {
		f.mutex.Lock()
		defer f.mutex.Unlock()
		for _, later := range f.foreseen[len(f.foreseen)-1:] {
			if slices.Contains(later, c.Key()) {
				t.Errorf("%s is foreseen, and under way", c)
			}
		}
		return correct(c)
	}
	got, err := Run(t.Context(), p, f, o)
	if err != nil {
		t.Fatal(err)
	}
	evaluated := func(o *tune.Outcome) (all []string) {
		for _, r := range o.Results {
			all = append(all, r.Configuration.Key())
		}
		slices.Sort(all)
		return all
	}
	if !slices.Equal(evaluated(got), evaluated(want)) {
		t.Errorf("evaluated %v, without foresight %v", evaluated(got), evaluated(want))
	}
	came := 0
	for key := range f.times {
		if slices.ContainsFunc(f.foreseen, func(keys []string) bool { return slices.Contains(keys, key) }) {
			came++
		}
	}
	if came < 20 {
		t.Errorf("%d of 40 were foreseen", came)
	}
	if last := f.foreseen[len(f.foreseen)-1]; len(last) > 0 {
		t.Errorf("at the end of the budget, %v is foreseen", last)
	}
}
