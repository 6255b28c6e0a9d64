package tune

import (
	"math"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
)

// TestFinalsOfOldRecordsAreDerived compares with what the problem computes, which has the formulas
// at hand: the winner is the same, and so are the figures but for rounding.
func TestFinalsOfOldRecordsAreDerived(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func([]Result)
	}{
		{"no final measurement", func([]Result) {}},
		{"the final measurement turns it around", func(rs []Result) {
			rs[0].Final, rs[1].Final = []float64{3, 3.5, 3}, []float64{2, 2.5, 9}
		}},
		{"equal in the final measurement", func(rs []Result) { rs[2].Final, rs[1].Final = []float64{2}, []float64{2} }},
		{"one only was measured again", func(rs []Result) { rs[3].Final = []float64{7} }},
		{"a time that cannot be", func(rs []Result) { rs[3].Final, rs[1].Final = []float64{0, 0}, []float64{3} }},
		{"the best is not correct", func(rs []Result) { rs[0].Status = Correctness }},
		{"none is correct", func(rs []Result) {
			for i := range rs {
				rs[i].Status = Compile
			}
		}},
	} {
		for _, o := range []problem.Objective{{Name: "time", Maximize: false}, {Name: "time_min", Maximize: false}, {Name: "time_median", Maximize: true}, {Name: "rate", Maximize: true}, {Name: "per ms", Maximize: false}} {
			d := lineDefinition(4)
			d.Metrics, d.Objective = []problem.Metric{{Name: "rate", Expression: "100 / time"}, {Name: "per ms", Expression: "time / 3"}}, o
			p := mustProblem(t, d)
			s, err := p.Space(t.Context(), hardware.Device{})
			if err != nil {
				t.Fatal(err)
			}
			var judged, derived []Result
			for i := range s.Len() {
				r := Result{Configuration: s.At(i), Status: Correct, Times: []float64{float64(i + 1), float64(i + 1)}}
				judgement, err := p.Judge(r.Configuration, hardware.Device{}, r.Stats(), r.Time(), nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Metrics, r.Objective = judgement.Metrics, judgement.Objective
				judged, derived = append(judged, r), append(derived, r)
			}
			test.change(judged)
			test.change(derived)
			for i := range judged {
				if len(judged[i].Final) > 0 {
					judged[i].AtFinal = judgeFinal(p, &judged[i], hardware.Device{})
				}
			}
			DeriveFinals(o, derived)
			want, got := Rank(o, judged), Rank(o, derived)
			if want.Finalists != got.Finalists || len(want.Places) != len(got.Places) {
				t.Fatalf("%s, by %s: %+v, want %+v", test.name, o.Name, got, want)
			}
			for i := range want.Places {
				if want.Places[i] != got.Places[i] {
					t.Errorf("%s, by %s: the order %v, want %v", test.name, o.Name, got.Places, want.Places)
				}
				a, b := judged[want.Places[i]].Figures(), derived[want.Places[i]].Figures()
				if math.Abs(a.Objective-b.Objective) > 1e-12 || a.Time != b.Time || len(a.Metrics) != len(b.Metrics) {
					t.Errorf("%s, by %s: %+v, want %+v", test.name, o.Name, b, a)
				}
			}
		}
	}
}

// TestFinalsThatOnlyTheFormulaTells: an objective that is no rate of the time is not known at the
// final times, and the search decides. A run that resumes the log knows it.
func TestFinalsThatOnlyTheFormulaTells(t *testing.T) {
	d := lineDefinition(5)
	d.Metrics, d.Objective = []problem.Metric{{Name: "work", Expression: "i * i / time"}}, problem.Objective{Name: "work", Maximize: true}
	p := mustProblem(t, d)
	old := &memory{}
	e := &remeasuring{fake: fake{answer: correct}, again: reversed}
	first := mustRun(t, p, e, Options{Log: old})
	results := old.reopened().previous // with final times alone
	DeriveFinals(d.Objective, results)
	if k := Rank(d.Objective, results); k.Finalists != 0 || results[k.Places[0]].AtFinal != nil {
		t.Errorf("derived %+v", k)
	}
	log := old.reopened()
	o := mustRun(t, p, &remeasuring{fake: fake{answer: correct}, again: reversed}, Options{Log: log})
	if o.Best.AtFinal == nil || o.Best.AtFinal.Objective != first.Best.AtFinal.Objective || bestKey(o) != bestKey(first) {
		t.Errorf("resumed: %+v, want %+v", o.Best, first.Best)
	}
	if len(log.finals) != 5 || log.finals[0].AtFinal == nil {
		t.Errorf("the log has been completed by %+v", log.finals)
	}
}
