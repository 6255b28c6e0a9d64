package record

import (
	"context"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// fromRecord is an Evaluator that answers with the results of a record.
type fromRecord struct{ *Record }

func (e fromRecord) Device() hardware.Device { return e.Header.Device }

func (e fromRecord) Capacity() int { return 1 }

func (e fromRecord) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	known := map[string]tune.Result{}
	for _, r := range e.Results {
		r.Metrics, r.Objective, r.Final, r.AtFinal = nil, 0, nil, nil // which Run sets
		known[r.Configuration.Key()] = r
	}
	return tune.EvaluateEach(ctx, in, out, func(c space.Configuration) (tune.Result, error) {
		r := known[c.Key()]
		r.Configuration = c
		return r, nil
	})
}

// TestRunOverRecord tunes on the A100 of the hub without having one.
func TestRunOverRecord(t *testing.T) {
	r := readHub(t, "convolution_A100.json.gz")
	recorded, err := r.Space(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if recorded.Len() != hubConfigurations {
		t.Fatalf("the space has %d configurations, want %d", recorded.Len(), hubConfigurations)
	}
	rows := `["` + strings.Join(recorded.Parameters().Names(), `","`) + `"]`
	for _, c := range recorded.All() {
		rows += "\n[" + c.Key() + "]"
	}
	table, err := space.ReadTable("the record", strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	p, err := problem.New(definition.Definition{
		Kernel:       definition.Kernel{Name: "convolution_kernel", Source: "__kernel void convolution_kernel() {}"},
		ProblemSize:  []definition.Expr{"4096", "4096"},
		Parameters:   r.Header.Parameters,
		Restrictions: []space.Restriction{{Table: table}},
		Metrics:      []definition.Metric{{Name: "GFLOP/s", Expression: "4096 * 4096 * 225 * 2 / time / 1e6"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := loop.Run(t.Context(), p, fromRecord{r}, loop.Options{})
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
	if best == nil || best.Time() < 0.5498 || best.Time() > 0.5500 {
		t.Fatalf("best %v, want 0.5499 ms", best)
	}
	if gflops, _ := best.Metric("GFLOP/s"); gflops < 13000 {
		t.Errorf("%v GFLOP/s", gflops)
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
