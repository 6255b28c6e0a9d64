package device

import (
	"math"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// exponential sums the first terms of the series of e^x: more terms take longer and are more accurate.
const exponential = `
__kernel void exponential(__global float *y) {
    const float x = (float)(get_global_id(0) % 1024) / 1024;
    float sum = 1, term = 1;
    for (int i = 1; i < terms; i++) {
        term *= x / i;
        sum += term;
    }
    y[get_global_id(0)] = sum;
}`

func exponentialDefinition(objective problem.Objective) problem.Definition {
	const n = 1 << 18 // an output that the device compares, if nobody needs the error
	want := make([]float32, n)
	for i := range want {
		want[i] = float32(math.Exp(float64(i%1024) / 1024))
	}
	return problem.Definition{
		Kernel: problem.Kernel{Name: "exponential", Source: exponential}, ProblemSize: []problem.Expr{"262144"},
		Arguments: []problem.Argument{{Name: "y", Type: "float32", Size: "262144", Output: true}},
		Parameters: []space.Parameter{
			{Name: "terms", Values: []space.Value{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
			{Name: "block_size_x", Values: []space.Value{16, 32, 64, 128, 256}},
		},
		Verify:    &problem.Verification{Expected: map[string]any{"y": want}, ATol: "1"},
		Objective: objective,
	}
}

// TestFrontOfTimeAndError searches for the front of time and error, and checks each error against the remainder of the series.
func TestFrontOfTimeAndError(t *testing.T) {
	e := open(t, exponentialDefinition(problem.Objective{Name: "time", More: []problem.Objective{{Name: "error"}}, Choose: "error < 1e-4"}))
	o, err := tune.Run(t.Context(), e.problem, e, tune.Options{MaxEvaluations: 16, Strategy: func(s *space.Space) (search.Strategy, error) {
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
		x, term, remainder := 1023.0/1024, 1.0, math.Exp(1023.0/1024)
		for i := range r.Configuration.Int("terms") {
			remainder -= term
			term *= x / float64(i+1)
		}
		got, _ := r.Metric("error")
		if want := remainder / math.Exp(x); math.Abs(got-want) > 3e-7 {
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
	if got, _ := o.Best.Metric("error"); !(got < 1e-4) {
		t.Errorf("the winner %s has the error %v", o.Best.Configuration, got)
	}
	if e.session.verifier.passed > 0 {
		t.Error("the device compared outputs whose error was needed")
	}
}

// TestErrorIsMeasuredForMetricsOnly has no readings if nothing needs the error, and none without a reference.
func TestErrorIsMeasuredForMetricsOnly(t *testing.T) {
	if r := evaluateFirst(t, exponentialDefinition(problem.Objective{})); r.Status != tune.Correct || r.Readings != nil {
		t.Errorf("%s %s, %v", r.Status, r.Reason, r.Readings)
	}
	d := exponentialDefinition(problem.Objective{})
	d.Metrics = []problem.Metric{{Name: "digits", Expression: "-log2(error_rms)"}}
	r := evaluateFirst(t, d)
	rms, ok := hardware.ReadingOf(r.Readings, hardware.ErrorRMS)
	if r.Status != tune.Correct || !ok || !(rms.Value > 0.1 && rms.Value < 0.2) {
		t.Errorf("%s %s, %v", r.Status, r.Reason, r.Readings)
	}
	d.Verify = nil
	if _, err := problem.New(d); err == nil {
		t.Error("the error of outputs without a reference is a metric")
	}
}
