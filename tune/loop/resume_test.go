package loop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// TestInterruptedAndResumedIsUninterrupted is the promise of the run log, for random
// evaluators: whatever they answer and in which order, however many configurations they
// hold, wherever they are cancelled and whatever of it they still send, an interrupted run
// and those that resume it come to the results of an uninterrupted one.
func TestInterruptedAndResumedIsUninterrupted(t *testing.T) {
	cases := 300
	if os.Getenv("NDTUNE_LONG") != "" {
		cases = 30000
	}
	for seed := range uint64(cases) {
		s := newScenario(t, seed)
		whole, wholeLog := s.run(nil, 0)
		want := s.summary(wholeLog.results)
		if whole.Stop == tune.Interrupted {
			t.Fatalf("seed %d: stop %s", seed, whole.Stop)
		}
		log := &memory{}
		for range 4 {
			_, log = s.run(log, 1+s.rng.IntN(2*s.size))
			log = log.reopened()
		}
		last, log := s.run(log, 0)
		if got := s.summary(append(log.previous, log.results...)); got != want {
			t.Fatalf("seed %d, %+v: resumed\n%s\nuninterrupted\n%s", seed, s, got, want)
		}
		if last.Stop != whole.Stop || bestKey(last) != bestKey(whole) || len(last.Results) != len(whole.Results) {
			t.Fatalf("seed %d: stop %s and %s, best %s and %s", seed, last.Stop, whole.Stop, bestKey(last), bestKey(whole))
		}
		if last.Resumed != len(log.previous) {
			t.Fatalf("seed %d: resumed %d of %d", seed, last.Resumed, len(log.previous))
		}
	}
}

// TestKnownResults gives a run some of the results that an evaluator would give: it comes to the same results, marked as known, and
// evaluates the others only. A result of a configuration that the space does not have changes nothing.
func TestKnownResults(t *testing.T) {
	for seed := range uint64(300) {
		s := newScenario(t, seed)
		whole, wholeLog := s.run(nil, 0)
		all, given := mustSpace(t, s.problem), map[string]bool{}
		for i := range s.size {
			if s.rng.IntN(2) == 0 {
				r := s.answers[i]
				r.Configuration = all.At(i)
				s.given = append(s.given, r)
				given[r.Configuration.Key()] = true
			}
		}
		elsewhere := mustSpace(t, mustProblem(t, lineDefinition(s.size+1)))
		s.given = append(s.given, tune.Result{Configuration: elsewhere.At(s.size), Status: tune.Correct, Times: []float64{1e-9}})
		got, log := s.run(nil, 0)
		if s.summary(log.results) != s.summary(wholeLog.results) || got.Stop != whole.Stop || bestKey(got) != bestKey(whole) {
			t.Fatalf("seed %d: stop %s, best %s\n%s\nwithout known results %s, %s\n%s", seed,
				got.Stop, bestKey(got), s.summary(log.results), whole.Stop, bestKey(whole), s.summary(wholeLog.results))
		}
		for _, r := range log.results {
			if r.Known != (given[r.Configuration.Key()] && !r.Refused) {
				t.Fatalf("seed %d: %s is known: %t", seed, r.Configuration, r.Known)
			}
		}
	}
}

// TestReadingsOfKnownResults gives a run values of an observed quantity among the metrics of known results: other metrics and the objective
// come from them.
func TestReadingsOfKnownResults(t *testing.T) {
	d := lineDefinition(3)
	d.Measure.Observe = []string{"energy"}
	d.Metrics = []definition.Metric{{Name: "cost", Expression: "100 / energy"}}
	d.Objective = score.Objective{Name: "cost", Maximize: true}
	p := mustProblem(t, d)
	all := mustSpace(t, p)
	known := []tune.Result{
		{Configuration: all.At(0), Status: tune.Correct, Times: []float64{2}, Metrics: []score.MetricValue{{Name: "energy", Value: 4}, {Name: "cost", Value: 7}}},
		{Configuration: all.At(1), Status: tune.Correct, Times: []float64{4}, Metrics: []score.MetricValue{{Name: "energy", Value: 5}}},
		{Configuration: all.At(2), Status: tune.Correct, Times: []float64{1}},
	}
	o, err := Run(t.Context(), p, &fake{}, Options{Known: known})
	if err != nil {
		t.Fatal(err)
	}
	want := []score.MetricValue{{Name: "energy", Value: 4}, {Name: "cost", Value: 25}}
	if r := o.Results[0]; o.Best == nil || o.Best.Configuration.Int("i") != 0 || r.Objective != 25 || !slices.Equal(r.Metrics, want) {
		t.Errorf("best %+v, first %+v", o.Best, r)
	}
	if r := o.Results[2]; r.Status != tune.Runtime || !strings.Contains(r.Reason, "cost") {
		t.Errorf("without the objective: %s %q", r.Status, r.Reason)
	}
}

// A scenario is a random problem with answers for all of its configurations.
type scenario struct {
	t        testing.TB
	rng      *rand.Rand
	problem  *problem.Problem
	size     int
	budget   int
	strategy string
	capacity int
	answers  []tune.Result
	device   hardware.Device // its limit refuses some configurations
	given    []tune.Result   // known results
}

func newScenario(t testing.TB, seed uint64) *scenario {
	rng := rand.New(rand.NewPCG(seed, 2))
	s := &scenario{t: t, rng: rng, size: 1 + rng.IntN(40), capacity: 1 + rng.IntN(8)}
	if rng.IntN(2) == 0 {
		s.budget = 1 + rng.IntN(s.size+5)
	}
	s.strategy = search.Names()[rng.IntN(len(search.Names()))]
	d := lineDefinition(s.size)
	d.Metrics = []definition.Metric{{Name: "rate", Expression: "1 / time"}}
	switch rng.IntN(4) {
	case 0:
		d.Objective = score.Objective{Name: "rate", Maximize: true}
	case 1:
		d.Metrics = append(d.Metrics, definition.Metric{Name: "cost", Expression: "(i * 7) % 13 + 1"})
		d.Objective = score.Objective{Name: "rate", Maximize: true, More: []score.Objective{{Name: "cost"}}, Choose: "cost <= 2 * best.cost"}
		for search.Check(s.strategy, nil, 2) != nil {
			s.strategy = search.Names()[rng.IntN(len(search.Names()))]
		}
	}
	d.BlockSize[0] = "1 + i % 5"
	s.device.MaxWorkGroupSize = rng.IntN(6) // 0: unknown
	s.problem = mustProblem(t, d)
	order := rng.Perm(s.size) // no two times alike
	for i := range s.size {
		r := tune.Result{Status: tune.Correct, Times: []float64{float64(order[i] + 1), float64(order[i] + 2)}}
		switch rng.IntN(6) {
		case 0:
			all := tune.Statuses()
			r = tune.Result{Status: all[1+rng.IntN(len(all)-1)], Reason: fmt.Sprintf("reason %c", 'a'+rune(i%26))}
		case 1:
			r.Times[0] = 0
		}
		s.answers = append(s.answers, r)
	}
	return s
}

// run runs the scenario until the evaluator has taken so many configurations, 0: to its end.
func (s *scenario) run(log *memory, cancelAfter int) (*tune.Outcome, *memory) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if log == nil {
		log = &memory{}
	}
	known := map[string]bool{}
	for _, r := range slices.Concat(log.previous, s.given) {
		known[r.Configuration.Key()] = true
	}
	f := &fake{
		device: s.device, capacity: s.capacity, rng: s.rng, lingers: s.rng.IntN(2) == 0,
		answer: func(c space.Configuration) tune.Result {
			if known[c.Key()] {
				s.t.Errorf("%s is in the log or known, and was evaluated", c)
			}
			if s.problem.ExceededLimit(c, s.device) != "" {
				s.t.Errorf("%s is beyond the device's limits and was evaluated", c)
			}
			r := s.answers[c.Int("i")]
			r.Times = slices.Clone(r.Times)
			return r
		},
		taken: func(n int) {
			if n == cancelAfter {
				cancel()
			}
		},
	}
	seed := uint64(s.size)
	o, err := Run(ctx, s.problem, f, Options{
		MaxEvaluations: s.budget, Log: log, Known: s.given,
		Strategy: func(sp *space.Space) (search.Strategy, error) {
			return search.New(s.strategy, sp, search.Options{Seed: seed})
		},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	f.checkStopped(s.t)
	resumed := 0
	for _, r := range log.previous {
		if s.problem.ExceededLimit(r.Configuration, s.device) == "" {
			resumed++
		}
	}
	if s.budget > 0 && f.count()+resumed > s.budget {
		s.t.Errorf("%d evaluated and %d resumed, with a budget of %d", f.count(), resumed, s.budget)
	}
	return o, log
}

// summary is what is kept of results, without what differs between runs.
func (s *scenario) summary(results []tune.Result) string {
	var lines []string
	for _, r := range results {
		lines = append(lines, fmt.Sprintf("%s %s %q %v %v %v\n", r.Configuration.Key(), r.Status, r.Reason, r.Times, r.Metrics, r.Objective))
	}
	slices.Sort(lines)
	return fmt.Sprint(lines)
}
