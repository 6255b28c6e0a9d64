package device

import (
	"math"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// halves sums the first terms of the series of 1 / (i * (i + 1)), which is 1, for one half of its output, and gives 1 for the other:
// more terms take longer and are more accurate. The sum is 1 - 1 / terms.
const halves = `
// standin: halves is fill(y, 1); halves is fill(y, 1 - 1 / terms) over 2048; halves takes 1000 * terms + 100 * abs(block_size_x - 64)
__kernel void halves(__global float *y) {
    float sum = 0;
    for (int i = 1; i < terms; i++) sum += 1.0f / (i * (i + 1));
    y[get_global_id(0)] = get_global_id(0) < 2048 ? sum : 1;
}`

func halvesDefinition(objective score.Objective) definition.Definition {
	return definition.Definition{
		Kernel: definition.Kernel{Name: "halves", Source: halves}, ProblemSize: []definition.Expr{"4096"},
		Arguments: []definition.Argument{{Name: "y", Type: "float32", Size: "4096", Output: true}},
		Parameters: []space.Parameter{
			{Name: "terms", Values: []space.Value{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
			{Name: "block_size_x", Values: []space.Value{16, 32, 64, 128, 256}},
		},
		Verify:    &definition.Verification{Expected: map[string]any{"y": slices.Repeat([]float32{1}, 4096)}, ATol: "1"},
		Objective: objective,
	}
}

// TestFrontOfTimeAndError searches for the front of time and error, and checks each error.
func TestFrontOfTimeAndError(t *testing.T) {
	e := open(t, halvesDefinition(score.Objective{Name: "time", More: []score.Objective{{Name: "error"}}, Choose: "error < 0.2"}))
	e.session.verifier.least = 0 // the device compares outputs, if nobody needs their error
	o, err := loop.Run(t.Context(), e.problem, e, loop.Options{MaxEvaluations: 16, Strategy: func(s *space.Space) (search.Strategy, error) {
		return search.New(search.Auto, s, search.Options{Seed: 1, Budget: 16, Objectives: 2})
	}})
	if err != nil {
		t.Fatal(err)
	}
	least := math.Inf(1)
	for _, r := range o.Results {
		if r.Status != tune.Correct {
			t.Fatalf("%s: %s %s", r.Configuration, r.Status, r.Reason)
		}
		got, _ := r.Metric("error")
		if want := 1 / float64(r.Configuration.Int("terms")); math.Abs(got-want) > 3e-7 {
			t.Errorf("%s: error %v, want %v", r.Configuration, got, want)
		}
		least = min(least, got)
	}
	front := tune.Front(e.problem.Objective(), o.Results)
	errs := make([]float64, len(front))
	for k, i := range front {
		errs[k], _ = o.Results[i].Metric("error")
		if k > 0 && (errs[k] >= errs[k-1] || o.Results[i].FinalTime() <= o.Results[front[k-1]].FinalTime()) {
			t.Errorf("the front is not in order: %v", errs)
		}
	}
	if len(front) < 2 || slices.Min(errs) > 2*least+1e-6 {
		t.Errorf("the front of %d ends at %v; the least error is %v", len(front), slices.Min(errs), least)
	}
	if got, _ := o.Best.Metric("error"); !(got < 0.2) {
		t.Errorf("the winner %s has the error %v", o.Best.Configuration, got)
	}
	if e.session.verifier.passed > 0 {
		t.Error("the device compared outputs whose error was needed")
	}
}

// TestErrorIsMeasuredForMetricsOnly has no readings if nothing needs the error, and none without a reference.
func TestErrorIsMeasuredForMetricsOnly(t *testing.T) {
	if r := evaluateFirst(t, halvesDefinition(score.Objective{})); r.Status != tune.Correct || r.Readings != nil {
		t.Errorf("%s %s, %v", r.Status, r.Reason, r.Readings)
	}
	d := halvesDefinition(score.Objective{})
	d.Metrics = []definition.Metric{{Name: "digits", Expression: "-log2(error_rms)"}}
	r := evaluateFirst(t, d)
	rms, ok := hardware.ReadingOf(r.Readings, hardware.ErrorRMS)
	if r.Status != tune.Correct || !ok || math.Abs(rms.Value-math.Sqrt(0.125)) > 1e-6 {
		t.Errorf("%s %s, %v", r.Status, r.Reason, r.Readings)
	}
	d.Verify = nil
	if _, err := problem.New(d); err == nil {
		t.Error("the error of outputs without a reference is a metric")
	}
}
