package tune

import (
	"fmt"
	"testing"

	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

// disturbed answers with seven launches of i + 1 ms, of which one of configuration 0 was disturbed.
func disturbed(c space.Configuration) Result {
	t := float64(c.Int("i") + 1)
	r := Result{Status: Correct, Times: []float64{t, t, t, t, t, t, t}}
	if t == 1 {
		r.Times[3] = 100
	}
	return r
}

// TestOneDisturbedLaunchCostsNoPlace has a best configuration with one launch that took a hundred times as long as the others.
func TestOneDisturbedLaunchCostsNoPlace(t *testing.T) {
	d := lineDefinition(4)
	d.Metrics = []task.Metric{{Name: "ops", Expression: "8 / time"}, {Name: "all", Expression: "time == 1 and time_median == 1 and time_mean == 106.0 / 7 and time_min == 1 ? 1 : 0"}}
	p := mustProblem(t, d)
	o := mustRun(t, p, &fake{answer: disturbed}, Options{Finalists: -1})
	if bestKey(o) != "0" || o.Best.Time() != 1 || o.Best.Objective != 1 || fmt.Sprint(o.Best.Metrics) != "[{ops 8} {all 1}]" || len(o.Best.Times) != 7 {
		t.Errorf("best %s: time %v, objective %v, metrics %v, %d launches", bestKey(o), o.Best.Time(), o.Best.Objective, o.Best.Metrics, len(o.Best.Times))
	}
	// A log of an older program has the mean as objective, and metrics at the mean.
	old := disturbed(o.Space.At(0))
	old.Configuration, old.Objective, old.Metrics = o.Space.At(0), 106./7, []judge.MetricValue{{Name: "ops", Value: 8 * 7 / 106.}}
	o = mustRun(t, p, &fake{answer: disturbed}, Options{Finalists: -1, Log: &memory{previous: []Result{old}}})
	if bestKey(o) != "0" || o.Resumed != 1 || o.Best.Objective != 1 || fmt.Sprint(o.Best.Metrics) != "[{ops 8} {all 1}]" {
		t.Errorf("resumed: best %s: objective %v, metrics %v", bestKey(o), o.Best.Objective, o.Best.Metrics)
	}
}
