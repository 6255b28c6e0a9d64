package simulate

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

func mustRun(t testing.TB, p Plan) []Curve {
	t.Helper()
	curves, err := Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return curves
}

func TestCurvesOfKnownSearches(t *testing.T) {
	r := recording(t, "r", 4, failed, 8, 2, 5)
	for _, test := range []struct {
		name    string
		max     int
		batch   int
		batches [][]int
		want    []float64
	}{
		{"in order", 5, 1, [][]int{{0}, {1}, {2}, {3}, {4}}, []float64{0.5, 0.5, 0.5, 1, 1}},
		{"a failure first counts, and finds nothing", 3, 1, [][]int{{1}, {2}, {4}}, []float64{0, 0.25, 0.4}},
		{"a smaller budget", 2, 1, [][]int{{2}, {0}, {3}}, []float64{0.25, 0.5}},
		{"a larger budget than the space", 7, 1, [][]int{{2}, {0}, {3}, {1}, {4}}, []float64{0.25, 0.5, 1, 1, 1, 1, 1}},
		{"exhausted early", 5, 1, [][]int{{4}, {0}}, []float64{0.4, 0.5, 0.5, 0.5, 0.5}},
		{"batches", 5, 3, [][]int{{1, 2}, {4, 0, 3}}, []float64{0, 0.25, 0.4, 0.5, 1}},
	} {
		c := mustRun(t, Plan{Strategies: []Strategy{scripted("s", test.batches...)}, Recordings: []*Recording{r}, MaxEvaluations: test.max, Repeats: 1, Batch: test.batch})
		if !slices.Equal(c[0].Mean, test.want) {
			t.Errorf("%s: %v, want %v", test.name, c[0].Mean, test.want)
		}
		if c[0].Strategy != "s" || c[0].Record != "r" || c[0].Repeats != 1 || !math.IsNaN(c[0].StandardError[0]) {
			t.Errorf("%s: %+v", test.name, c[0])
		}
	}
}

// TestConversation looks at what a strategy is asked and told, in a batch and at the end of
// the budget.
func TestConversation(t *testing.T) {
	r := recording(t, "r", 4, failed, 8, 2, 5)
	s := &script{batches: [][]int{{1, 3}, {0}, {4}}}
	var options search.Options
	strategy := Strategy{"s", func(_ *space.Space, o search.Options) (search.Strategy, error) { options = o; return s, nil }}
	mustRun(t, Plan{Strategies: []Strategy{strategy}, Recordings: []*Recording{r}, MaxEvaluations: 4, Repeats: 1, Batch: 2})
	if want := []int{2, 2, 1}; !slices.Equal(s.asked, want) {
		t.Errorf("asked for %v, want %v", s.asked, want)
	}
	want := [][]search.Observation{
		{{Index: 1, Status: "runtime"}, {Index: 3, Objective: 2, Valid: true, Status: "correct"}},
		{{Index: 0, Objective: 4, Valid: true, Status: "correct"}},
		{{Index: 4, Objective: 5, Valid: true, Status: "correct"}},
	}
	if !reflect.DeepEqual(s.told, want) {
		t.Errorf("told %v, want %v", s.told, want)
	}
	if options.Budget != 4 || !s.closed {
		t.Errorf("budget %d, closed %v", options.Budget, s.closed)
	}
}

func TestBadStrategies(t *testing.T) {
	r := recording(t, "gpu", 4, failed, 8, 2, 5)
	for says, s := range map[string]Strategy{
		"s on gpu: it proposes nothing":                                          scripted("s"),
		"s on gpu: it proposes the configuration x=2 twice":                      scripted("s", []int{2}, []int{0}, []int{2}),
		"s on gpu: it proposes the configuration x=3 twice":                      scripted("s", []int{3, 3}),
		"s on gpu: it proposes the configuration 5 of a space that has those":    scripted("s", []int{5}),
		"s on gpu: it proposes the configuration -1 of a space that has those":   scripted("s", []int{0}, []int{-1}),
		"it proposes 3 configurations where it is asked for at most 2":           scripted("s", []int{0, 1, 2}),
		`s on gpu: no strategy is named "x"`:                                     {"s", Named("x", nil).New},
		`s on gpu: the strategy random_sample has no option "a": it has none`:    {"s", Named("random_sample", map[string]string{"a": "1"}).New},
		"s on gpu: it proposes 4 configurations where it is asked for at most 2": scripted("s", []int{0, 1, 2, 3}),
	} {
		p := Plan{Strategies: []Strategy{Named("random_sample", nil), s}, Recordings: []*Recording{r}, MaxEvaluations: 5, Repeats: 70, Batch: 2}
		if _, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// TestTraces are the searches in the order of evaluation, those of each pair together, whatever the number of workers; and what is
// written of them can be read.
func TestTraces(t *testing.T) {
	a, b := recording(t, "a", 4, failed, 8, 2, 5), recording(t, "b", failed, 1)
	var traces [][]int
	p := Plan{
		Strategies: []Strategy{scripted("s", []int{1, 0}), Named("random_sample", nil)}, Recordings: []*Recording{a, b},
		MaxEvaluations: 3, Repeats: 70, Batch: 2, Traces: &traces,
	}
	mustRun(t, p)
	var text, again strings.Builder
	if err := EncodeTraces(&text, p); err != nil {
		t.Fatal(err)
	}
	p.Workers = 1
	mustRun(t, p)
	if err := EncodeTraces(&again, p); err != nil || again.String() != text.String() {
		t.Errorf("one worker finds other traces, %v", err)
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(lines) != 4*70 {
		t.Fatalf("%d lines", len(lines))
	}
	for at, want := range map[int]string{
		0:   `{"strategy":"s","record":"a","repeat":0,"trace":[{"x":1},{"x":0}]}`,
		139: `{"strategy":"s","record":"b","repeat":69,"trace":[{"x":1},{"x":0}]}`,
	} {
		if lines[at] != want {
			t.Errorf("line %d is %s, want %s", at+1, lines[at], want)
		}
	}
	if !strings.HasPrefix(lines[140], `{"strategy":"random_sample","record":"a","repeat":0,"trace":[{"x":`) || strings.Count(lines[140], "x") != 3 {
		t.Errorf("line 141 is %s", lines[140])
	}
}

func TestBadPlans(t *testing.T) {
	r := recording(t, "r", 1)
	good := Plan{Strategies: []Strategy{Named("brute_force", nil)}, Recordings: []*Recording{r}, MaxEvaluations: 1, Repeats: 1}
	for says, change := range map[string]func(*Plan){
		"no strategy":         func(p *Plan) { p.Strategies = nil },
		"no record":           func(p *Plan) { p.Recordings = nil },
		"0 evaluations":       func(p *Plan) { p.MaxEvaluations = 0 },
		"-1 repeats":          func(p *Plan) { p.Repeats = -1 },
		"-1 configurations":   func(p *Plan) { p.Batch = -1 },
		"brute_force stands":  func(p *Plan) { p.Strategies = append(p.Strategies, p.Strategies[0]) },
		"two records named r": func(p *Plan) { p.Recordings = append(p.Recordings, r) },
	} {
		p := good
		change(&p)
		says = strings.Replace(says, "named", "are named", 1)
		if _, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// TestTheBestIsFoundAtTheEnd holds for every strategy that covers the space.
func TestTheBestIsFoundAtTheEnd(t *testing.T) {
	r := recording(t, "r", 7, 3, failed, 9, 2.5, failed, 4, 11)
	for _, name := range search.Names() {
		c := mustRun(t, Plan{Strategies: []Strategy{Named(name, nil)}, Recordings: []*Recording{r}, MaxEvaluations: 10, Repeats: 9})[0]
		for _, n := range []int{8, 9, 10} {
			if mean, e := c.At(n); mean != 1 || e != 0 {
				t.Errorf("%s: %v ± %v after %d evaluations, want 1 ± 0", name, mean, e, n)
			}
		}
		if !slices.IsSorted(c.Mean) {
			t.Errorf("%s: the curve falls: %v", name, c.Mean)
		}
	}
}

// expectation is the exact mean quality of the best of n draws without replacement: the
// worst of the sorted qualities q is the best with the probability that all draws are among
// the first i, less that for i - 1.
func expectation(r *Recording, n int) float64 {
	q := slices.Sorted(slices.Values(r.quality))
	all := func(i int) float64 { // the probability that all draws are among i of them
		p := 1.0
		for k := range n {
			p *= max(0, float64(i-k)) / float64(len(q)-k)
		}
		return p
	}
	mean := 0.0
	for i := range q {
		mean += q[i] * (all(i+1) - all(i))
	}
	return mean
}

func TestRandomSampleAgreesWithItsExpectation(t *testing.T) {
	var times []float64
	for i := range 97 {
		times = append(times, float64((i*37)%101)) // one of them 0, a failure
	}
	r := recording(t, "r", times...)
	c := mustRun(t, Plan{Strategies: []Strategy{Named("random_sample", nil)}, Recordings: []*Recording{r}, MaxEvaluations: 60, Repeats: 2000, Seed: 1})[0]
	for _, n := range []int{1, 2, 5, 10, 25, 60} {
		mean, e := c.At(n)
		if want := expectation(r, n); math.Abs(mean-want) > 4*e || e <= 0 || e > 0.02 {
			t.Errorf("%v ± %v after %d evaluations, want %v", mean, e, n, want)
		}
	}
}

// TestCurvesDependOnThePlanOnly compares, to the last bit, runs on one core and on several,
// and with strategies and recordings in another order and under other names.
func TestCurvesDependOnThePlanOnly(t *testing.T) {
	a, b := recording(t, "a", 5, 3, failed, 8, 1, 9, 7), recording(t, "b", 5, 3, failed, 8, 2, 9, 7)
	strategies := []Strategy{Named("random_sample", nil), Named("brute_force", nil)}
	p := Plan{Strategies: strategies, Recordings: []*Recording{a, b}, MaxEvaluations: 6, Repeats: 333, Seed: 3, Workers: 1}
	want := mustRun(t, p)
	p.Workers = 5
	if got := mustRun(t, p); !reflect.DeepEqual(got, want) {
		t.Error("the curves depend on the number of workers")
	}
	p.Strategies, p.Recordings = []Strategy{strategies[1], strategies[0]}, []*Recording{b, a}
	got := mustRun(t, p)
	slices.Reverse(got)
	if !reflect.DeepEqual(got, want) {
		t.Error("the curves depend on the order of the strategies and recordings")
	}
	p.Recordings = []*Recording{recording(t, "another name", 5, 3, failed, 8, 1, 9, 7)}
	if got := mustRun(t, p); !slices.Equal(got[1].Mean, want[0].Mean) {
		t.Error("the curves depend on the name of the record")
	}
	p.Seed = 4
	if got := mustRun(t, p); slices.Equal(got[1].Mean, want[0].Mean) {
		t.Error("the curves do not depend on the seed")
	}
}

func TestSeedsAreTheirOwn(t *testing.T) {
	a, b := recording(t, "a", 5, 3, 8), recording(t, "b", 5, 3, 8.5)
	seen := map[uint64]bool{}
	for _, s := range []seeds{newSeeds(1, "x", a), newSeeds(1, "y", a), newSeeds(1, "x", b), newSeeds(2, "x", a)} {
		for i := range 1000 {
			seen[s.repeat(i)] = true
		}
	}
	if len(seen) != 4000 {
		t.Errorf("%d different seeds of 4000", len(seen))
	}
}

func TestRunEndsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var searches atomic.Int64
	p := Plan{
		Strategies: []Strategy{Named("random_sample", nil)}, Recordings: []*Recording{recording(t, "r", 1, 2, 3)},
		MaxEvaluations: 3, Repeats: 50_000_000, Workers: 2,
	}
	p.Strategies[0].New = func(s *space.Space, o search.Options) (search.Strategy, error) {
		if searches.Add(1) == 100 {
			cancel()
		}
		return search.New("random_sample", s, o)
	}
	if _, err := Run(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestProgressCountsEverySearch(t *testing.T) {
	var n atomic.Int64
	mustRun(t, Plan{
		Strategies: []Strategy{Named("random_sample", nil), Named("brute_force", nil)}, Recordings: []*Recording{recording(t, "r", 1, 2, 3)},
		MaxEvaluations: 2, Repeats: 1001, OnRepeats: func(k int) { n.Add(int64(k)) },
	})
	if n.Load() != 2002 {
		t.Errorf("%d searches, want 2002", n.Load())
	}
}

func BenchmarkMillionRandomEvaluations(b *testing.B) {
	var times []float64
	for i := range 10000 {
		times = append(times, 1+float64((i*37)%10007))
	}
	r := recording(b, "r", times...)
	for b.Loop() {
		mustRun(b, Plan{Strategies: []Strategy{Named("random_sample", nil)}, Recordings: []*Recording{r}, MaxEvaluations: 200, Repeats: 5000})
	}
}

// TestSeveralObjectives: the strategy is told all of them, and the search leaves its trace.
func TestSeveralObjectives(t *testing.T) {
	r := recorded(t, 1, failed, 8)
	for i, rate := range []float64{1, 0, 3} {
		r.Results[i].Metrics = []score.MetricValue{{Name: "rate", Value: rate}}
	}
	if err := r.SetObjective(score.Objective{Name: "time", More: []score.Objective{{Name: "rate", Maximize: true}}}); err != nil {
		t.Fatal(err)
	}
	n, err := NewRecording(t.Context(), "r", r)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{batches: [][]int{{1}, {2}, {0}}}
	strategy := Strategy{"s", func(*space.Space, search.Options) (search.Strategy, error) { return s, nil }}
	var traces [][]int
	mustRun(t, Plan{Strategies: []Strategy{strategy}, Recordings: []*Recording{n}, MaxEvaluations: 3, Repeats: 1, Traces: &traces})
	if !slices.Equal(traces[0], []int{1, 2, 0}) {
		t.Errorf("the trace is %v", traces)
	}
	if told := s.told[1][0]; told.Objective != 8 || !slices.Equal(told.More, []float64{-3}) {
		t.Errorf("the strategy is told %+v", told)
	}
	if err := r.SetObjective(score.Objective{Name: "time", More: []score.Objective{{Name: "rates"}}}); err == nil {
		t.Error("an unknown metric is an objective")
	}
}
