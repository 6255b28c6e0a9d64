package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/simulate"
	"github.com/ndtune/ndtune/tune/space"
)

// failed is the time of a configuration that failed.
const failed = 0.0

// recorded is a record of a parameter x that is 0, 1, 2, …, with these times.
func recorded(t testing.TB, times ...float64) *record.Record {
	t.Helper()
	x := space.Parameter{Name: "x"}
	for i := range times {
		x.Values = append(x.Values, i)
	}
	p, err := space.NewParameters([]space.Parameter{x})
	if err != nil {
		t.Fatal(err)
	}
	r := &record.Record{Header: record.Header{Parameters: []space.Parameter{x}, Objective: score.Objective{Name: "time"}}}
	for i, time := range times {
		c, err := p.Configure(map[string]space.Value{"x": i})
		if err != nil {
			t.Fatal(err)
		}
		result := tune.Result{Configuration: c, Status: tune.Runtime, Reason: "it failed"}
		if time != failed {
			result = tune.Result{Configuration: c, Status: tune.Correct, Times: []float64{math.Abs(time)}, Objective: time}
		}
		r.Results = append(r.Results, result)
	}
	return r
}

func prepared(t *testing.T, name string, r *record.Record) *recording {
	t.Helper()
	n, err := simulate.NewRecording(t.Context(), name, r)
	if err != nil {
		t.Fatal(err)
	}
	return newRecording(n, r)
}

// judged is a made-up space with searches on it, and what the package autotuning_methodology says of them: see
// testdata/methodology.py.
type judged struct {
	Name        string
	Values      []*float64 // milliseconds; nil: a failure
	Traces      [][][2]float64
	Evaluations [2]int
	Seconds     [2]float64
	Baseline    []float64 // at every 111th time
	Isotonic    float64   // the score by one isotonic regression
	Score       float64   // the mean of many calls of the package, one of which differs from it by Scatter
	Scatter     float64   `json:"one_call_differs_by"`
}

func (j *judged) scoring(t *testing.T) *Scoring {
	t.Helper()
	times := make([]float64, len(j.Values))
	for i, v := range j.Values {
		if times[i] = failed; v != nil {
			times[i] = *v
		}
	}
	r := recorded(t, times...)
	for i := range r.Results {
		r.Results[i].Durations.Build = time.Duration(20+i*37%881) * time.Millisecond
	}
	s, err := NewScoring(prepared(t, j.Name, r))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestScoresAreThoseOfTheMethodology compares with the package autotuning_methodology on the same searches.
func TestScoresAreThoseOfTheMethodology(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "methodology.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []judged
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(b)) }
	for _, j := range all {
		s := j.scoring(t)
		if s.StartEvaluations != j.Evaluations[0] || s.EndEvaluations != j.Evaluations[1] || !near(s.Start, j.Seconds[0]) || !near(s.End, j.Seconds[1]) {
			t.Errorf("%s: scored from %d evaluations to %d, %v s to %v s, want %v, %v", j.Name, s.StartEvaluations, s.EndEvaluations, s.Start, s.End, j.Evaluations, j.Seconds)
		}
		for k, want := range j.Baseline {
			if got := s.baseline[111*k]; !near(got, want) {
				t.Errorf("%s: random sampling finds %v at time %d, want %v", j.Name, got, 111*k, want)
			}
		}
		traces := make([]Trace, len(j.Traces))
		for i, visits := range j.Traces {
			for _, v := range visits {
				traces[i] = append(traces[i], Visit{Index: int(v[0]), Search: v[1] / 1000})
			}
		}
		f := s.newFinds(traces)
		if got := f.scoreOf(f.ranksAt(f.isotonic(slices.Repeat([]int{1}, len(f.list)))), slices.Repeat([]int{1}, len(traces))); !near(got, j.Isotonic) {
			t.Errorf("%s: %v by one regression, want %v", j.Name, got, j.Isotonic)
		}
		score, err := s.Score("s", traces)
		if err != nil || math.Abs(score.Mean-j.Score) > 0.001 && j.Scatter < 0.05 {
			t.Errorf("%s: %v, %v, want %v", j.Name, score.Mean, err, j.Score)
		}
		if !(score.StandardError > 0 && score.StandardError < 0.5) {
			t.Errorf("%s: a standard error of %v", j.Name, score.StandardError)
		}
	}
}

// lognormal is a recording of so many times between 1 and some tens of milliseconds, each of which took 100 ms to build.
func lognormal(t *testing.T, name string, n int) *Scoring {
	t.Helper()
	times := make([]float64, n)
	for i := range times {
		times[i] = 1 + math.Exp(3*math.Sin(float64(i*i)))
	}
	r := recorded(t, times...)
	for i := range r.Results {
		r.Results[i].Durations.Build = 100 * time.Millisecond
	}
	s, err := NewScoring(prepared(t, name, r))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// knowing is a strategy that begins with the best configuration.
func knowing(s *Scoring) simulate.Strategy {
	return simulate.Strategy{Name: "knowing", New: func(of *space.Space, o search.Options) (search.Strategy, error) {
		o.Start = []int{slices.Index(s.ranks, 0)}
		return search.New("random_sample", of, o)
	}}
}

func TestScoresOfKnownStrategies(t *testing.T) {
	s := lognormal(t, "r", 1000)
	searches, err := searchAll(t.Context(), []simulate.Strategy{simulate.Named("random_sample", nil), knowing(s)}, []*Scoring{s}, 60, 1)
	if err != nil {
		t.Fatal(err)
	}
	scores, err := scoresOf([]*Scoring{s}, searches)
	if err != nil {
		t.Fatal(err)
	}
	if random := scores[0]; math.Abs(random.Mean) > max(0.1, 4*random.StandardError) {
		t.Errorf("random sampling scores %v ± %v", random.Mean, random.StandardError)
	}
	if best := scores[1]; best.Mean < 0.999 {
		t.Errorf("the strategy that knows the best scores %v", best.Mean)
	}
}

// TestTheTimeOfTheStrategyCounts scores the same searches by a fast strategy, and by one that takes as long to choose as an
// evaluation takes.
func TestTheTimeOfTheStrategyCounts(t *testing.T) {
	s := lognormal(t, "r", 1000)
	var traces [2][]Trace
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		order := rng.Perm(len(s.ranks))
		for slow := range traces {
			var trace Trace
			for _, i := range order {
				trace = append(trace, Visit{Index: i, Search: float64(slow) * s.recording.costs[i]})
			}
			traces[slow] = append(traces[slow], trace)
		}
	}
	fast, err := s.Score("fast", traces[0])
	slow, err2 := s.Score("slow", traces[1])
	if err != nil || err2 != nil || slow.Mean > fast.Mean-0.2 || slow.Search == 0 {
		t.Errorf("%+v, %v and %+v, %v", fast, err, slow, err2)
	}
}

// scored returns the scores of a file of traces.
func scored(text string, scorings []*Scoring) ([]Score, error) {
	var recordings []*recording
	for _, s := range scorings {
		recordings = append(recordings, s.recording)
	}
	searches, err := decodeSearches(strings.NewReader(text), recordings)
	if err != nil {
		return nil, err
	}
	return scoresOf(scorings, searches)
}

func TestScoreTraces(t *testing.T) {
	scorings := []*Scoring{lognormal(t, "a", 300), lognormal(t, "b", 400)}
	var lines strings.Builder
	for _, s := range scorings {
		for first := range 3 {
			fmt.Fprintf(&lines, `{"strategy":"other","record":%q,"trace":[{"x":%d},{"x":%d},{"x":%d}],"milliseconds":[0.5,1,1]}`+"\n", s.recording.Name, slices.Index(s.ranks, 0), first, slices.Index(s.ranks, 0))
		}
	}
	scores, err := scored(lines.String(), scorings)
	if err != nil || len(scores) != 2 || scores[0].Record != "a" || scores[1].Record != "b" {
		t.Fatalf("%+v, %v", scores, err)
	}
	if s := scores[0]; s.Mean != 1 || s.Repeats != 3 || s.Evaluations > 2 || math.Abs(s.Search-0.0025) > 1e-9 {
		t.Errorf("%+v", s)
	}
	if all := AverageScores(scores); len(all) != 1 || all[0].Mean != 1 || all[0].Record != simulate.AllRecords {
		t.Errorf("%+v", all)
	}
	for says, line := range map[string]string{
		"line 1: a trace is a JSON object":                            `[]`,
		`line 1: want the members "strategy"`:                         `{"strategy":"x","record":"a"}`,
		`line 1: no record is named "c"`:                              `{"strategy":"x","record":"c","trace":[{"x":1}],"milliseconds":[1]}`,
		"line 1: configuration 1: the record a has no result of x=-1": `{"strategy":"x","record":"a","trace":[{"x":-1}],"milliseconds":[1]}`,
		"line 1: configuration 1: no parameter is named y":            `{"strategy":"x","record":"a","trace":[{"y":1}],"milliseconds":[1]}`,
		"line 1: milliseconds of configuration 2: -1 is no time":      `{"strategy":"x","record":"a","trace":[{"x":1},{"x":1}],"milliseconds":[1,-1]}`,
		`a "trace" that is not empty, and "milliseconds"`:             `{"strategy":"x","record":"a","trace":[{"x":1},{"x":1}],"milliseconds":[1]}`,
		"there is no trace of x on the record b":                      `{"strategy":"x","record":"a","trace":[{"x":1}],"milliseconds":[1]}`,
	} {
		if _, err := scored(line, scorings); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

func TestRecordsWithoutAScore(t *testing.T) {
	for says, times := range map[string][]float64{
		"all its correct values are equal": {2, 2, 2, failed},
		"the record is too small":          {3, 1, 2, 4},
	} {
		if _, err := NewScoring(prepared(t, "r", recorded(t, times...))); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %s", times, err, says)
		}
	}
}

// TestFrontOfARecording follows a search over two objectives: a time, and a rate that is maximised.
func TestFrontOfARecording(t *testing.T) {
	r := recorded(t, 1, failed, 4, 2, 8)
	for i, rate := range []float64{1, 0, 4, 1, 3} { // the third and the first make the front
		r.Results[i].Metrics = []score.MetricValue{{Name: "rate", Value: rate}}
	}
	if err := r.SetObjective(score.Objective{Name: "time", More: []score.Objective{{Name: "rate", Maximize: true}}}); err != nil {
		t.Fatal(err)
	}
	n := prepared(t, "r", r)
	f := newFront(n.Observations, 2)
	// In units of ln 4, the front is (0, 0) and (1, -1), and the reference point (1.1, 0.1).
	whole := 1.1*0.1 + 0.1*1
	one := (1.1 - 0.5) * 0.1 / whole
	found := finding{front: f}
	for step, want := range []float64{0, 0, one, 1.1 * 0.1 / whole, 1} {
		if got := found.add([]int{1, 4, 3, 0, 2}[step]); f.size != 2 || math.Abs(got-want) > 1e-9 {
			t.Errorf("step %d: %v of a front of %d, want %v", step, got, f.size, want)
		}
	}
	searches, err := decodeSearches(strings.NewReader(`{"strategy":"s","record":"r","trace":[{"x":1},{"x":4},{"x":3}]}`), []*recording{n})
	if err != nil || math.Abs(f.shares(searches[0].traces)[0][0]-one) > 1e-9 {
		t.Errorf("%+v, %v", searches, err)
	}
}
