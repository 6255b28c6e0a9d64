package loop

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

func TestObjectiveAtIsThatOfRun(t *testing.T) {
	times := []float64{4, 1, 1}
	d := hardware.Device{ComputeUnits: 10}
	for objective, want := range map[string]float64{"": 1, "time": 1, "time_min": 1, "time_median": 1, "time_mean": 2, "rate": 15, "GB/s": 15} {
		def := lineDefinition(6)
		def.Metrics = []definition.Metric{{Name: "rate", Expression: "i * 3 / time_min"}, {Name: "GB/s", Expression: "rate * time * device.compute_units / 10"}}
		def.Objective = score.Objective{Name: objective}
		p := mustProblem(t, def)
		f := &fake{device: d, answer: func(space.Configuration) tune.Result { return tune.Result{Status: tune.Correct, Times: times} }}
		o := mustRun(t, p, f, Options{})
		got, err := p.ObjectiveAt(o.Space.At(5), d, times)
		if err != nil || got != want || got != o.Results[5].Objective {
			t.Errorf("%s: %v, %v, want %v, of the run %v", objective, got, err, want, o.Results[5].Objective)
		}
	}
}

func TestTheLimitAsObjective(t *testing.T) {
	d := lineDefinition(3)
	d.Roofline = &tune.Roofline{Flops: "1e9 * (i + 1)"}
	d.Objective = score.Objective{Name: score.MetricOfLimit, Maximize: true}
	p := mustProblem(t, d)
	slow := func(c space.Configuration) tune.Result {
		return tune.Result{Status: tune.Correct, Times: []float64{100 * math.Pow(1.5, float64(c.Int("i")))}}
	}
	o, err := Run(context.Background(), p, &fake{device: hardware.Device{Peaks: testPeaks()}, answer: slow}, Options{})
	if err != nil || bestKey(o) != "1" {
		t.Errorf("best %v, %v", bestKey(o), err)
	}
	never := func(space.Configuration) tune.Result { t.Error("it was evaluated"); return tune.Result{} }
	if _, err := Run(context.Background(), p, &fake{answer: never}, Options{}); err == nil || !strings.Contains(err.Error(), "the objective is % of limit: the peaks of the device are not known") {
		t.Errorf("without peaks: %v", err)
	}
}

// tradeoff is a problem whose configurations i = 0 … n-1 get slower and need less watts.
func tradeoff(t *testing.T, n int, choose string) *problem.Problem {
	d := lineDefinition(n)
	d.Metrics = []definition.Metric{{Name: "watts", Expression: "10 * abs(i - 6) + 100 / (1 + i)"}}
	d.Objective = score.Objective{Name: "time", More: []score.Objective{{Name: "watts"}}, Choose: choose}
	return mustProblem(t, d)
}

// TestChoice runs a search with each kind of choice, and ranks by the final measurement.
func TestChoice(t *testing.T) {
	slower := func(c space.Configuration) tune.Result {
		return tune.Result{Status: tune.Correct, Times: []float64{float64(1 + c.Int("i"))}}
	}
	for _, c := range []struct{ choose, first, front string }{
		{"", "0", "[0 1 2 3 4 5 6]"},
		{"watts <= 1.9 * best.watts", "5", "[0 1 2 3 4 5 6]"}, // 26.7 of 14.3
		{"watts <= 14 and time < 4", "0", "[0 1 2 3 4 5 6]"},  // none
		{"time / best.time + watts / best.watts", "4", "[0 1 2 3 4 5 6]"},
		{"-time", "6", "[0 1 2 3 4 5 6]"},
	} {
		p := tradeoff(t, 9, c.choose)
		o := mustRun(t, p, &fake{answer: slower}, Options{})
		front := tune.Front(p.Objective(), o.Results)
		if got := bestKey(o); got != c.first || fmt.Sprint(front) != c.front {
			t.Errorf("%q: the winner is %s of %v, want %s of %s", c.choose, got, front, c.first, c.front)
		}
		places := tune.Rank(p.Objective(), o.Results).Indices
		if last := places[len(places)-2:]; len(places) != 9 || !slices.Contains(last, 7) || !slices.Contains(last, 8) {
			t.Errorf("%q: the dominated results are not the last of %v", c.choose, places)
		}
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
