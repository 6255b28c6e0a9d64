package search_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
)

// TestStrategiesFindMoreThanChance lets every strategy search a recorded space a few times.
// It is there to catch a strategy that was broken; ndtune simulate compares them.
func TestStrategiesFindMoreThanChance(t *testing.T) {
	r, err := record.Read(filepath.Join("..", "record", "testdata", "convolution_A100.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Space(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	times := make([]float64, s.Len())
	best := math.Inf(1)
	for _, result := range r.Results {
		i, ok := s.Index(result.Configuration)
		if !ok {
			t.Fatalf("%s is not in the space of its record", result.Configuration)
		}
		times[i] = math.Inf(1)
		if result.Status == tune.Correct {
			times[i] = result.Time()
			best = min(best, times[i])
		}
	}
	const repeats, evaluations = 3, 120
	mean := map[string]float64{}
	for _, name := range search.Names() {
		if name == "brute_force" || name == "prior_ranking" { // the latter has no prior
			continue
		}
		for seed := range uint64(repeats) {
			strategy, err := search.New(name, s, search.Options{Seed: seed, Budget: evaluations})
			if err != nil {
				t.Fatal(err)
			}
			found := math.Inf(1)
			for range evaluations {
				i := strategy.Ask(1)[0]
				found = min(found, times[i])
				strategy.Tell([]search.Observation{{Index: i, Objective: times[i], Valid: !math.IsInf(times[i], 1)}})
			}
			strategy.Close()
			mean[name] += best / found / repeats
		}
	}
	t.Log(mean)
	for name, m := range mean {
		if name != "random_sample" && m < mean["random_sample"]+0.02 {
			t.Errorf("%s finds %.3f of the best, random sampling %.3f", name, m, mean["random_sample"])
		}
	}
}
