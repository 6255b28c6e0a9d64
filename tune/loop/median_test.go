package loop

import (
	"fmt"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// disturbed answers with seven launches of i + 1 ms, of which one of configuration 0 was disturbed.
func disturbed(c space.Configuration) tune.Result {
	t := float64(c.Int("i") + 1)
	r := tune.Result{Status: tune.Correct, Times: []float64{t, t, t, t, t, t, t}}
	if t == 1 {
		r.Times[3] = 100
	}
	return r
}

// TestOneDisturbedLaunchCostsNoPlace has a best configuration with one launch that took a hundred times as long as the others.
func TestOneDisturbedLaunchCostsNoPlace(t *testing.T) {
	d := lineDefinition(4)
	d.Metrics = []definition.Metric{{Name: "ops", Expression: "8 / time"}, {Name: "all", Expression: "time == 1 and time_median == 1 and time_mean == 106.0 / 7 and time_min == 1 ? 1 : 0"}}
	p := mustProblem(t, d)
	o := mustRun(t, p, &fake{answer: disturbed}, Options{Finalists: -1})
	if bestKey(o) != "0" || o.Best.Time() != 1 || o.Best.Objective != 1 || fmt.Sprint(o.Best.Metrics) != "[{ops 8} {all 1}]" || len(o.Best.Times) != 7 {
		t.Errorf("best %s: time %v, objective %v, metrics %v, %d launches", bestKey(o), o.Best.Time(), o.Best.Objective, o.Best.Metrics, len(o.Best.Times))
	}
	// A log of an older program has the mean as objective, and metrics at the mean.
	old := disturbed(o.Space.At(0))
	old.Configuration, old.Objective, old.Metrics = o.Space.At(0), 106./7, []score.MetricValue{{Name: "ops", Value: 8 * 7 / 106.}}
	o = mustRun(t, p, &fake{answer: disturbed}, Options{Finalists: -1, Log: &memory{previous: []tune.Result{old}}})
	if bestKey(o) != "0" || o.Resumed != 1 || o.Best.Objective != 1 || fmt.Sprint(o.Best.Metrics) != "[{ops 8} {all 1}]" {
		t.Errorf("resumed: best %s: objective %v, metrics %v", bestKey(o), o.Best.Objective, o.Best.Metrics)
	}
}

// scattered answers with five launches, of which all but the middle one are off by a share.
func scattered(share, milliseconds float64, build time.Duration) func(c space.Configuration) tune.Result {
	return func(c space.Configuration) tune.Result {
		t := milliseconds * (1 + float64(c.Int("i"))/1000)
		times := []float64{t * (1 - share), t * (1 - share), t, t * (1 + share), t * (1 + share)}
		return tune.Result{Status: tune.Correct, Times: times, Durations: tune.Durations{Build: build, Measure: 100 * time.Millisecond}}
	}
}

// TestNoiseMakesMoreFinalists has thirty configurations, each 0.1 % slower than the one before, whose launches scatter.
func TestNoiseMakesMoreFinalists(t *testing.T) {
	for _, c := range []struct {
		what          string
		scatter, time float64
		build         time.Duration
		finalists     int
	}{
		{"quiet", 0.005, 0.1, 0, 10},
		{"the twelfth and the thirteenth are within the noise, too", 0.0125, 0.1, 0, 13},
		{"twice as many at most", 0.2, 0.1, 0, 20},
		{"2 s allow 13 rounds of 15", 0.2, 10, 0, 15},
		{"2 s do not allow 11 rounds of ten", 0.2, 20, 0, 10},
		{"a tenth of 30 s of builds are three builds", 0.2, 0.1, time.Second, 13},
	} {
		e := &remeasuring{fake: fake{answer: scattered(c.scatter, c.time, c.build)}, again: reversed}
		mustRun(t, line(t, 30), e, Options{})
		if len(e.asked) != c.finalists || e.rounds < tune.LeastRounds(len(e.asked)) && c.finalists > 10 {
			t.Errorf("%s: %d finalists in %d rounds, want %d", c.what, len(e.asked), e.rounds, c.finalists)
		}
	}
}

// TestAFinalistThatFailsIsNamed has ten finalists, of which two fail in the final measurement.
func TestAFinalistThatFailsIsNamed(t *testing.T) {
	log := &memory{}
	e := &remeasuring{fake: fake{answer: correct}, again: func(c space.Configuration) []float64 {
		if i := c.Int("i"); i == 0 || i == 3 {
			return nil
		}
		return reversed(c)
	}}
	o := mustRun(t, line(t, 30), e, Options{Log: log})
	var failed []string
	for _, r := range log.finals {
		if len(r.Final) == 0 {
			failed = append(failed, r.Configuration.Key()+" "+r.FinalFailure)
		}
	}
	want := "[0 runtime: it ran no more 3 runtime: it ran no more]"
	if bestKey(o) != "9" || len(log.finals) != 10 || fmt.Sprint(failed) != want {
		t.Errorf("best %s; %d kept, of which failed %v", bestKey(o), len(log.finals), failed)
	}
	notices := "[i=0 was among the best, but failed in the final measurement: runtime: it ran no more i=3 was among the best, but failed in the final measurement: runtime: it ran no more]"
	if got := fmt.Sprint(tune.Notices(o.Results, o.Device)); got != notices {
		t.Errorf("%s", got)
	}
	mustRun(t, line(t, 30), e, Options{Log: log.reopened()})
	if e.calls != 1 {
		t.Error("a resumed run measures again though the log has the final measurement of all")
	}
	// All fail, and there is no earlier final measurement.
	e = &remeasuring{fake: fake{answer: correct}, again: func(space.Configuration) []float64 { return nil }}
	if o = mustRun(t, line(t, 3), e, Options{}); bestKey(o) != "0" || len(tune.Notices(o.Results, o.Device)) != 3 {
		t.Errorf("best %s, notices %q", bestKey(o), tune.Notices(o.Results, o.Device))
	}
}
