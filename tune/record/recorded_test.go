package record

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// TestRunOverRecord tunes on the A100 of the hub without having one.
func TestRunOverRecord(t *testing.T) {
	r := readHub(t, "convolution_A100.json.gz")
	e, err := NewRecorded(r)
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := r.Space(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if recorded.Len() != hubConfigurations {
		t.Fatalf("the space has %d configurations, want %d", recorded.Len(), hubConfigurations)
	}
	p, err := problem.New(problem.Definition{
		Kernel:      problem.Kernel{Name: "convolution_kernel", Source: "__kernel void convolution_kernel() {}"},
		ProblemSize: []problem.Expr{"4096", "4096"},
		Parameters:  r.Header.Parameters,
		Restrictions: []space.Restriction{{Func: func(c space.Configuration) bool {
			_, ok := recorded.Index(c)
			return ok
		}}},
		Metrics: []problem.Metric{{Name: "GFLOP/s", Expression: "4096 * 4096 * 225 * 2 / time / 1e6"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := tune.Run(context.Background(), p, e, tune.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(outcome.Results) != hubConfigurations || outcome.Stop != tune.Exhausted {
		t.Errorf("%d results, %s", len(outcome.Results), outcome.Stop)
	}
	if outcome.Device.Name != "NVIDIA A100-PCIE-40GB" {
		t.Errorf("device %q", outcome.Device.Name)
	}
	best := outcome.Best
	if best == nil || best.Time() < 0.5535 || best.Time() > 0.5537 {
		t.Fatalf("best %v, want 0.5536 ms", best)
	}
	if gflops, _ := best.Metric("GFLOP/s"); gflops < 13000 {
		t.Errorf("%v GFLOP/s", gflops)
	}
}

func TestRecordedResult(t *testing.T) {
	h, results := sixteen()
	results[1].Metrics, results[1].Objective, results[1].Final = []problem.MetricValue{{Name: "a", Value: 1}}, 1, []float64{1}
	e, err := NewRecorded(&Record{h, results[:3]})
	if err != nil {
		t.Fatal(err)
	}
	// Other parameters: another order, other values, other types of the same values.
	other, err := newLayout([]space.Parameter{{Name: "y", Values: []space.Value{2, 3}}, {Name: "x", Values: []space.Value{16.0, 7}}})
	if err != nil {
		t.Fatal(err)
	}
	got := e.Result(other.configuration(digits{0, 0}))
	if got.Status != tune.Correct || got.Times[0] != results[1].Times[0] || got.Metrics != nil || got.Objective != 0 || got.Final != nil {
		t.Errorf("%+v", got)
	}
	if got.Configuration.String() != "y=2, x=16.0" {
		t.Errorf("the configuration is not the one asked for: %s", got.Configuration)
	}
	for _, c := range []space.Configuration{results[5].Configuration, other.configuration(digits{1, 0}), other.configuration(digits{0, 1}), {}} {
		got := e.Result(c)
		if got.Status != tune.Constraints || !strings.HasPrefix(got.Reason, "the configuration is not in the record") {
			t.Errorf("%s: %s, %q", c, got.Status, got.Reason)
		}
	}
}

func TestRecordedStops(t *testing.T) {
	h, results := sixteen()
	e, err := NewRecorded(&Record{h, results})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	in := make(chan space.Configuration, 1)
	in <- results[0].Configuration
	done := make(chan error)
	go func() { done <- e.Evaluate(ctx, in, make(chan tune.Result)) }() // nobody takes the result
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Evaluate ended with %v", err)
	}
}

func TestSpaceOfRecord(t *testing.T) {
	for seed := range uint64(50) {
		r := newMaker(seed).record(20)
		s, err := r.Space(t.Context())
		if len(r.Results) == 0 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if s.Len() != len(r.Results) {
			t.Fatalf("%d configurations, want %d", s.Len(), len(r.Results))
		}
		for _, result := range r.Results {
			if _, ok := s.Index(result.Configuration); !ok {
				t.Fatalf("%s is missing", result.Configuration)
			}
		}
	}
}
