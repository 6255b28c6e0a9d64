package problem

import (
	"math"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
)

func TestMetricsAndObjectives(t *testing.T) {
	d := saxpy()
	d.Metrics = []definition.Metric{
		{Name: "rate", Expression: "n / time"},
		{Name: "per_item", Expression: "rate / (block_size_x * unroll)"},
		{Name: "spread", Expression: "time_median - time_min"},
		{Name: "n", Expression: "1"}, // the constant keeps its name in expressions
		{Name: "twice n", Expression: "2 * n"},
	}
	for objective, want := range map[string]float64{
		"": 4, "time": 4, "time_min": 1, "time_median": 4, "time_mean": 5, "rate": 250, "per_item": 250. / 64, "spread": 3, "n": 1, "twice n": 2000,
	} {
		d.Objective.Name = objective
		p := mustProblem(t, d)
		times := score.StatsOf([]float64{10, 4, 1})
		judgement, err := p.Judge(configurationOf(t, p, map[string]any{"unroll": 2}), hardware.Device{}, times, nil, nil)
		if err != nil || judgement.Objective != want || len(judgement.Metrics) != len(d.Metrics) {
			t.Errorf("objective %q is %v, %v (%v); want %v", objective, judgement.Objective, err, judgement.Metrics, want)
		}
	}
}

func TestAMetricThatCannotBeComputedIsNaN(t *testing.T) {
	d := saxpy()
	d.Metrics = []definition.Metric{{Name: "bad", Expression: "n % (unroll - 1)"}, {Name: "worse", Expression: "bad * 2"}}
	p := mustProblem(t, d)
	judgement, err := p.Judge(configurationOf(t, p, nil), hardware.Device{}, score.StatsOf([]float64{2}), nil, nil)
	if err != nil || judgement.Objective != 2 || !math.IsNaN(judgement.Metrics[0].Value) || !math.IsNaN(judgement.Metrics[1].Value) {
		t.Errorf("%v, %v", judgement, err)
	}
	d.Objective.Name = "worse"
	p = mustProblem(t, d)
	if _, err = p.Judge(configurationOf(t, p, nil), hardware.Device{}, score.StatsOf([]float64{2}), nil, nil); err == nil || !strings.Contains(err.Error(), "metric bad") {
		t.Errorf("as an objective: %v", err)
	}
	d.Metrics = append(d.Metrics, definition.Metric{Name: "endless", Expression: "1 / (time - 2)"})
	for objective, want := range map[string]string{"endless": "the objective endless is +Inf", "bad": "the objective bad is not known: metric bad: "} {
		d.Objective.Name = objective
		p = mustProblem(t, d)
		if _, err = p.Judge(configurationOf(t, p, nil), hardware.Device{}, score.StatsOf([]float64{2}), nil, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", objective, err, want)
		}
	}
}

func TestTimesThatNoLaunchTookAreRefused(t *testing.T) {
	d := saxpy()
	d.Metrics = []definition.Metric{{Name: "rate", Expression: "1 / time"}, {Name: "one", Expression: "1"}}
	nan, inf := math.NaN(), math.Inf(1)
	for _, objective := range []score.Objective{{Name: "time"}, {Name: "rate", Maximize: true}, {Name: "rate"}, {Name: "one"}, {Name: "time_min"}, {Name: "time", Maximize: true}} {
		d.Objective = objective
		p := mustProblem(t, d)
		for _, times := range [][]float64{nil, {0, 1}, {1, -1}, {1, nan, 1}, {nan}, {1, inf}, {-inf, 1}} {
			stats := score.StatsOf(times)
			if j, err := p.Judge(configurationOf(t, p, nil), hardware.Device{}, stats, nil, nil); err == nil {
				t.Errorf("%v of %v is %v", objective, times, j.Objective)
			}
		}
	}
}
