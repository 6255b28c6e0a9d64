package tune

import (
	"math"
	"strings"
	"testing"
)

func TestMetricsAndObjectives(t *testing.T) {
	d := saxpy()
	d.Metrics = []Metric{
		{"rate", "n / time"},
		{"per_item", "rate / (block_size_x * unroll)"},
		{"spread", "time_median - time_min"},
		{"n", "1"}, // the constant keeps its name in expressions
		{"twice n", "2 * n"},
	}
	for objective, want := range map[string]float64{
		"": 5, "time": 5, "time_min": 1, "time_median": 4, "rate": 200, "per_item": 200. / 64, "spread": 3, "n": 1, "twice n": 2000,
	} {
		d.Objective.Name = objective
		p := mustProblem(t, d)
		times := StatsOf([]float64{10, 4, 1})
		metrics, value, err := p.judge(configurationOf(t, p, map[string]any{"unroll": 2}), Device{}, times, times.Mean)
		if err != nil || value != want || len(metrics) != len(d.Metrics) {
			t.Errorf("objective %q is %v, %v (%v); want %v", objective, value, err, metrics, want)
		}
	}
}

func TestAMetricThatCannotBeComputedIsNaN(t *testing.T) {
	d := saxpy()
	d.Metrics = []Metric{{"bad", "n % (unroll - 1)"}, {"worse", "bad * 2"}}
	p := mustProblem(t, d)
	metrics, value, err := p.judge(configurationOf(t, p, nil), Device{}, StatsOf([]float64{2}), 2)
	if err != nil || value != 2 || !math.IsNaN(metrics[0].Value) || !math.IsNaN(metrics[1].Value) {
		t.Errorf("%v, %v, %v", metrics, value, err)
	}
	d.Objective.Name = "worse"
	p = mustProblem(t, d)
	if _, _, err = p.judge(configurationOf(t, p, nil), Device{}, StatsOf([]float64{2}), 2); err == nil || !strings.Contains(err.Error(), "metric bad") {
		t.Errorf("as an objective: %v", err)
	}
}

func TestTimesThatNoLaunchTookAreRefused(t *testing.T) {
	d := saxpy()
	d.Metrics = []Metric{{"rate", "1 / time"}, {"one", "1"}}
	nan, inf := math.NaN(), math.Inf(1)
	for _, objective := range []Objective{{"time", false}, {"rate", true}, {"rate", false}, {"one", false}, {"time_min", false}, {"time", true}} {
		d.Objective = objective
		p := mustProblem(t, d)
		for _, times := range [][]float64{nil, {0, 1}, {1, -1}, {1, nan, 1}, {nan}, {1, inf}, {-inf, 1}} {
			stats := StatsOf(times)
			if _, value, err := p.judge(configurationOf(t, p, nil), Device{}, stats, stats.Mean); err == nil {
				t.Errorf("%v of %v is %v", objective, times, value)
			}
		}
	}
}

func TestStatsOf(t *testing.T) {
	for _, c := range []struct {
		times []float64
		want  Stats
	}{
		{nil, Stats{}},
		{[]float64{3}, Stats{1, 3, 3, 3, 3, 0}},
		{[]float64{4, 1, 1}, Stats{3, 2, 1, 1, 4, math.Sqrt(3)}},
		{[]float64{1, 2, 4, 3}, Stats{4, 2.5, 2.5, 1, 4, math.Sqrt(5. / 3)}},
	} {
		if got := StatsOf(c.times); math.Abs(got.StandardDeviation-c.want.StandardDeviation) > 1e-12 {
			t.Errorf("%v: deviation %v", c.times, got.StandardDeviation)
		} else if got.StandardDeviation = c.want.StandardDeviation; got != c.want {
			t.Errorf("%v: %+v", c.times, got)
		}
	}
}

func TestSameKind(t *testing.T) {
	a := Device{Name: "A", Vendor: "V", Platform: "P", Driver: "1", Timer: TimerEvent, ComputeUnits: 2, PCI: "0000:01:00.0", Extensions: []string{"x"}}
	b := a
	b.Name, b.PCI, b.Extensions = " A ", "0000:02:00.0", nil
	if err := a.SameKind(b); err != nil {
		t.Errorf("two cards of one model: %v", err)
	}
	for name, change := range map[string]func(*Device){
		"device": func(d *Device) { d.Name = "B" }, "vendor": func(d *Device) { d.Vendor = "" }, "platform": func(d *Device) { d.Platform = "Q" },
		"driver": func(d *Device) { d.Driver = "2" }, "timer": func(d *Device) { d.Timer = TimerHost }, "compute units": func(d *Device) { d.ComputeUnits = 3 },
	} {
		b := a
		change(&b)
		if err := a.SameKind(b); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
