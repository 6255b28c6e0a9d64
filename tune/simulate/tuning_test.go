package simulate

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/search"
)

// bowl scores a record whose times rise with the distance from a configuration. Evaluations take so long that the time of a strategy
// does not count.
func bowl(t *testing.T, name, kernel string, best int) *Scoring {
	t.Helper()
	times := make([]float64, 400)
	for i := range times {
		times[i] = 1 + math.Abs(float64(i-best))
	}
	r := recorded(t, times...)
	r.Header.Kernel = kernel
	for i := range r.Results {
		r.Results[i].Durations.Build = 1000 * time.Hour
	}
	n, err := NewRecording(t.Context(), name, r)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewScoring(n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tuningOf(t *testing.T, strategy string, scorings ...*Scoring) *Tuning {
	t.Helper()
	tuning, err := NewTuning(strategy, scorings, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	return tuning
}

// TestEveryStrategyWithOptionsHasAProblem: the defaults are its baseline.
func TestEveryStrategyWithOptionsHasAProblem(t *testing.T) {
	on := bowl(t, "a", "k", 100)
	for _, d := range search.Descriptions() {
		tuning, err := NewTuning(d.Name, []*Scoring{on}, 1, 1)
		if len(d.Options) == 0 {
			if err == nil || !strings.HasPrefix(err.Error(), "the strategy "+d.Name+" has no options: tune one of basinhopping, ") {
				t.Errorf("%s: %v", d.Name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := tuning.Problem(nil)
		if err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		baseline, ok := p.Baseline()
		if !ok || !tuning.IsDefault(baseline) {
			t.Errorf("%s: the baseline is %s", d.Name, baseline)
		}
		for _, o := range d.Options {
			if got := tuning.Values(baseline)[o.Name]; got != o.Default {
				t.Errorf("%s: %s=%s, want %s", d.Name, o.Name, got, o.Default)
			}
		}
	}
}

// TestTheBestOptionsAreFound tunes a local search along a line, where walking from place to place is far worse than random sampling,
// which the default neighbourhood, the whole line, is.
func TestTheBestOptionsAreFound(t *testing.T) {
	tuning := tuningOf(t, "mls", bowl(t, "a", "k", 100), bowl(t, "b", "l", 300))
	p, err := tuning.Problem(map[string][]string{"samples": {"1", "5"}})
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := tune.Run(t.Context(), p, tuning.Evaluator(""), tune.Options{Finalists: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(outcome.Results) != 6 || outcome.Best == nil || !strings.HasPrefix(outcome.Best.Configuration.String(), "neighbor=Hamming, ") {
		t.Fatalf("%+v", outcome)
	}
	finals := 0
	for _, r := range outcome.Results {
		if len(r.Final) > 0 {
			finals++
		}
		if score, _ := r.Metric("score"); r.Status != tune.Correct || score != r.Objective || score > 1 {
			t.Errorf("%+v", r)
		}
	}
	if finals < 2 || finals > 3 { // the defaults, too
		t.Errorf("%d took part in the final measurement", finals)
	}
	defaults, others, err := tuning.Compare(t.Context(), worst(outcome.Results).Configuration, "")
	if err != nil || len(defaults) != 2 || len(others) != 2 {
		t.Fatal(defaults, others, err)
	}
	for i := range defaults {
		if d, o := defaults[i], others[i]; d.Repeats != 40 || d.Record != o.Record || o.Mean > d.Mean-3*(o.StandardError+d.StandardError) {
			t.Errorf("defaults %+v, worst %+v", d, o)
		}
	}
}

func worst(results []tune.Result) tune.Result {
	return slices.MinFunc(results, func(a, b tune.Result) int { return cmp.Compare(a.Objective, b.Objective) })
}

// TestAnEvaluationIsAScore compares with RunScores, for all recordings and without those of a kernel.
func TestAnEvaluationIsAScore(t *testing.T) {
	if testing.Short() {
		t.Skip("a score counts the time that the strategy itself takes, which the race detector stretches")
	}
	scorings := []*Scoring{bowl(t, "a", "k", 100), bowl(t, "b", "k", 300), bowl(t, "c", "l", 200)}
	tuning := tuningOf(t, "mls", scorings...)
	if got := tuning.Groups(); !slices.Equal(got, []string{"k", "l"}) {
		t.Errorf("groups %v", got)
	}
	if got := tuningOf(t, "mls", scorings[:2]...).Groups(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("groups of one kernel %v", got)
	}
	if got := tuningOf(t, "mls", scorings[:1]...).Groups(); got != nil {
		t.Errorf("groups of one record %v", got)
	}
	p, err := tuning.Problem(map[string][]string{"neighbor": {"adjacent"}, "samples": {"2"}})
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{"neighbor": "adjacent", "samples": "2"}
	plan := Plan{Strategies: []Strategy{Named("mls", values)}, Repeats: 10, Seed: 1}
	for _, s := range scorings {
		plan.Recordings = append(plan.Recordings, s.recording)
	}
	scores, err := RunScores(t.Context(), plan, scorings)
	if err != nil {
		t.Fatal(err)
	}
	for without, want := range map[string]float64{"": (scores[0].Mean + scores[1].Mean + scores[2].Mean) / 3, "k": scores[2].Mean, "l": (scores[0].Mean + scores[1].Mean) / 2} {
		e := tuning.Evaluator(without)
		outcome, err := tune.Run(t.Context(), p, e, tune.Options{})
		if err != nil || outcome.Best == nil || math.Abs(outcome.Best.Objective-want) > 1e-3 {
			t.Errorf("without %q: %v, %+v, want %g", without, err, outcome.Results, want)
		}
	}
}

// TestOptionsThatCannotBe are refused.
func TestOptionsThatCannotBe(t *testing.T) {
	tuning := tuningOf(t, "pso", bowl(t, "a", "k", 100))
	for want, given := range map[string]map[string][]string{
		"the strategy pso: popsize=1: want a whole number from 2 to 10000":                               {"popsize": {"1"}},
		`the strategy pso has no option "popsiz"; did you mean "popsize"? (options: popsize, w, c1, c2)`: {"popsiz": {"10"}},
	} {
		if _, err := tuning.Problem(given); err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", given, err, want)
		}
	}
	p, err := tuning.Problem(map[string][]string{"w": {"0.3", "0.4"}})
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := p.Baseline(); ok {
		t.Errorf("the baseline is %s, which is none of the values", c)
	}
	other, err := NewTuning("pso", []*Scoring{bowl(t, "a", "k", 101)}, 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	if q, err := other.Problem(map[string][]string{"w": {"0.3", "0.4"}}); err != nil || q.Digest() == p.Digest() {
		t.Errorf("tunings on different records have one digest, or %v", err)
	}
}
