package job

import (
	"strings"
	"testing"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

func TestLinesOfCorrectResults(t *testing.T) {
	parameters, err := space.NewParameters([]space.Parameter{{Name: "block_size_x", Values: []space.Value{16}}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := parameters.Configure(map[string]space.Value{"block_size_x": 16})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		verified, earlyStopped bool
		want                   string
	}{
		{true, false, "block_size_x=16, time=2.500ms, GB/s=3.200"},
		{false, false, "block_size_x=16, time=2.500ms, GB/s=3.200, unverified"},
		{true, true, "block_size_x=16, time=2.500ms, GB/s=3.200, measured once"},
		{false, true, "block_size_x=16, time=2.500ms, GB/s=3.200, measured once, unverified"},
	} {
		r := tune.Result{
			Configuration: c, Status: tune.Correct, Times: []float64{2.5}, Verified: test.verified, EarlyStopped: test.earlyStopped,
			Metrics: []score.MetricValue{{Name: "GB/s", Value: 3.2}},
		}
		got := (&Printer{Console: &ui.Console{}}).line(r)
		if got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestColumns: on a terminal, a line has the parameters that vary, in columns.
func TestColumns(t *testing.T) {
	parameters, err := space.NewParameters([]space.Parameter{
		{Name: "x", Values: []space.Value{8, 1024}}, {Name: "y", Values: []space.Value{1, 100000}}, {Name: "mode", Values: []space.Value{"a", "long"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New(t.Context(), parameters, []space.Restriction{{Expression: "y == 1"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &Printer{Console: &ui.Console{Verbose: true}, columns: true}
	var fixed string
	if p.varying, fixed = parameterColumns(s); fixed != "y=1" {
		t.Errorf("fixed: %s, want y=1", fixed)
	}
	for i, want := range []string{
		"x=8     mode=a     time=0.004445ms  GB/s=3.200",
		"x=8     mode=long  time=147.698ms   GB/s=1000        measured once  unverified",
		"x=1024  mode=a     constraints: too much",
	} {
		r := tune.Result{
			Configuration: s.At(i), Status: tune.Correct, Times: []float64{[]float64{0.004445, 147.698, 1}[i]}, Verified: i == 0, EarlyStopped: i == 1,
			Metrics: []score.MetricValue{{Name: "GB/s", Value: []float64{3.2, 1000, 1}[i]}},
		}
		if i == 2 {
			r = tune.Result{Configuration: s.At(i), Status: tune.Constraints, Reason: "too much"}
		}
		if got := p.line(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestACauseIsShownOnce: the reason of a build that fails, and a long one of a search that stops.
func TestACauseIsShownOnce(t *testing.T) {
	parameters, err := space.NewParameters([]space.Parameter{{Name: "x", Values: []space.Value{1, 2, 3, 4}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := space.New(t.Context(), parameters, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var notes strings.Builder
	p := &Printer{Console: &ui.Console{Quiet: true, Notes: &notes}}
	o := &tune.Outcome{Stop: tune.Hopeless, Cause: "all fail: " + strings.Repeat("error\n", 500), Warnings: []string{"Is the reference right?"}}
	lines := &Printer{Console: &ui.Console{}}
	for i, want := range []string{"x=1, compile: wrong type", "x=2, compile: the same as at x=1", "x=3, compile: another", "x=4, correctness: wrong type"} {
		r := tune.Result{Configuration: s.At(i), Status: tune.Compile, Reason: "wrong type", Outputs: uint64(i % 3)}
		switch i {
		case 2:
			r.Reason = "another"
		case 3:
			r.Status, r.Outputs = tune.Correctness, 1
		}
		if got := lines.line(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		o.Results = append(o.Results, r)
	}
	p.Bar = ui.NewProgress(&notes, 4, "configuration", true)
	p.end(o, 4)
	if got := notes.String(); strings.Count(got, "error") != ui.MaxLines-1 || !strings.Contains(got, "[… 461 lines left out …]") ||
		!strings.Contains(got, "Is the reference right?\n") {
		t.Error(got)
	}
}
