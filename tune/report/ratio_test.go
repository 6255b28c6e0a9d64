package report

import (
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// TestRatiosCompareLikeWithLike has a machine on which the search was disturbed: all took ten times as long there as in the final measurement, in
// which the worst and the baseline took no part. The best is 2 times better than the median, 3 times than the worst and than the baseline.
func TestRatiosCompareLikeWithLike(t *testing.T) {
	x := space.Parameter{Name: "x", Values: []space.Value{1, 2, 3}}
	h := record.Header{Parameters: []space.Parameter{x}, Objective: score.Objective{Name: "time"}, Medians: true, Baseline: map[string]space.Value{"x": 3}}
	set, err := space.NewParameters(h.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	r := &record.Record{Header: h}
	for i := range 3 {
		c, err := set.Configure(map[string]space.Value{"x": i + 1})
		if err != nil {
			t.Fatal(err)
		}
		ms := float64(i + 1)
		result := tune.Result{Configuration: c, Status: tune.Correct, Times: []float64{10 * ms}, Objective: 10 * ms}
		if i < 2 {
			result.Final, result.AtFinal = []float64{ms}, &score.Judgement{Objective: ms}
		}
		r.Results = append(r.Results, result)
	}
	report, err := New([]Source{{"r", r}}, "", time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	s := report.Runs[0].Summary
	if *s.OverMedian != 2 || *s.OverWorst != 3 || *s.OverBaseline != 3 || *s.Baseline != 30 || s.Best.SearchObjective != 10 || s.Best.Objective != 1 {
		t.Errorf("%v over the median, %v over the worst, %v over the baseline of %v", *s.OverMedian, *s.OverWorst, *s.OverBaseline, *s.Baseline)
	}
	var text strings.Builder
	if err := report.WriteText(&text); err != nil || !strings.Contains(text.String(), "; in the search 2.00× better than the median configuration, 3.00× than the worst\n") {
		t.Errorf("%v:\n%s", err, text.String())
	}
}
