package tune

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// needing are results of the two configurations of moving, the second the best, and a failure.
func needing(t *testing.T, p *Problem) []Result {
	t.Helper()
	one, two := configurationOf(t, p, map[string]any{"steps": 1}), configurationOf(t, p, map[string]any{"steps": 2})
	return []Result{
		{Configuration: one, Status: Correct, Times: []float64{4}, Objective: 4},
		{Configuration: two, Status: Correct, Times: []float64{2}, Objective: 2},
		{Configuration: one, Status: Runtime},
	}
}

// Limits that are added later are those of a search whose peaks were known.
func TestAddLimits(t *testing.T) {
	d := moving("1024", &Roofline{Flops: "1e8 * steps", Bytes: "8192"})
	d.Metrics = []definition.Metric{{Name: "speed", Expression: "1 / time"}}
	p := mustProblem(t, d)
	known := hardware.Device{Peaks: testPeaks()}
	results, want := needing(t, p), needing(t, p)
	for i := range 2 {
		for _, judged := range []struct {
			r *Result
			d hardware.Device
		}{{&results[i], hardware.Device{}}, {&want[i], known}} {
			judgement, err := p.Judge(judged.r.Configuration, judged.d, judged.r.Stats(), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			judged.r.Metrics = judgement.Metrics
		}
	}
	results[1].Final, want[1].Final = []float64{1.5, 2.5, 1.75}, []float64{1.5, 2.5, 1.75}
	results[1].JudgeFinal(p, hardware.Device{})
	want[1].JudgeFinal(p, known)
	before := slices.Clone(results[0].Metrics)
	shared := results[0].Metrics
	for range 2 { // the second time changes nothing
		AddLimits(p, results, known)
		if !reflect.DeepEqual(results, want) {
			t.Errorf("%+v, want %+v", results, want)
		}
	}
	if !slices.Equal(shared, before) {
		t.Errorf("the metrics that others hold became %v", shared)
	}
}

// testPeaks are those of a device whose small buffers are faster than its large ones.
func testPeaks() *hardware.Peaks {
	return &hardware.Peaks{
		Figures: map[string]hardware.Peak{hardware.PeakFloat32: {Value: 1000}},
		Copy:    []hardware.Bandwidth{{Bytes: 1 << 13, Rate: 1000}, {Bytes: 1 << 23, Rate: 100}},
		Read:    []hardware.Bandwidth{{Bytes: 1 << 13, Rate: 2000}, {Bytes: 1 << 23, Rate: 150}},
	}
}

// moving is a problem of two buffers, of which the second is the output, of so many elements.
func moving(n string, r *definition.Roofline) definition.Definition {
	return definition.Definition{
		Kernel: definition.Kernel{Name: "k", Source: "__kernel void k() {}"}, ProblemSize: []definition.Expr{"1"}, Roofline: r,
		Arguments:  []definition.Argument{{Name: "in", Type: "float32", Size: n}, {Name: "out", Type: "float32", Size: n, Output: true}},
		Parameters: []space.Parameter{{Name: "steps", Values: []space.Value{1, 2}}},
	}
}

func configurationOf(t testing.TB, p *problem.Problem, values map[string]space.Value) space.Configuration {
	t.Helper()
	c, err := p.Parameters().ConfigureFirst(values)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPartsHaveTheTimesOfTheirResult: after the final measurement, they are shares of its time.
func TestPartsHaveTheTimesOfTheirResult(t *testing.T) {
	r := Result{Times: []float64{4}, Parts: []problem.Part{{Kernel: "a", Launches: 1, Time: 3}, {Kernel: "b", Launches: 2, Time: 1}}}
	for _, c := range []struct {
		final *score.Judgement
		want  string
	}{
		{nil, "[a: sizes that change, 3.000 ms b, 2 launches: sizes that change, 1.000 ms]"},
		{&score.Judgement{Objective: 2}, "[a: sizes that change, 1.500 ms b, 2 launches: sizes that change, 0.5000 ms]"},
	} {
		if r.AtFinal = c.final; c.final != nil {
			r.Final = []float64{2, 1, 9}
		}
		if got := fmt.Sprint(r.Launches()); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
