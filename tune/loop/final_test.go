package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// A remeasuring fake gives final times by the configuration alone.
type remeasuring struct {
	fake
	again  func(c space.Configuration) []float64
	err    error
	during func() // called while measuring again
	asked  []string
	rounds int
	calls  int
}

func (r *remeasuring) Cards(context.Context) ([]string, error) { return []string{""}, nil }

func (r *remeasuring) Remeasure(ctx context.Context, _ string, configurations []space.Configuration, rounds int, _ bool) ([]tune.Turns, error) {
	r.calls++
	r.rounds, r.asked = rounds, nil
	var times []tune.Turns
	for _, c := range configurations {
		r.asked = append(r.asked, c.Key())
		turns := tune.Turns{Times: r.again(c)}
		if len(turns.Times) == 0 {
			turns.Reason = "runtime: it ran no more"
		}
		times = append(times, turns)
	}
	if r.during != nil {
		r.during()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return times, r.err
}

// reversed gives the configurations a final time in the reverse order of their first.
func reversed(c space.Configuration) []float64 {
	t := 100 - float64(c.Int("i"))
	return []float64{t, t - 0.5, 1000} // its median is t
}

func TestTheWinnerComesFromTheFinalMeasurement(t *testing.T) {
	for _, c := range []struct {
		finalists int
		asked     string
		best      string
	}{
		{0, "[0 1 2 3 4 5 6 7 8 9]", "9"}, {3, "[0 1 2]", "2"}, {1, "[]", "0"}, {-1, "[]", "0"},
		{40, "[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29]", "29"},
	} {
		log := &memory{}
		e := &remeasuring{fake: fake{answer: correct}, again: reversed}
		o := mustRun(t, line(t, 30), e, Options{Finalists: c.finalists, Log: log})
		if got := fmt.Sprint(e.asked); got != c.asked || bestKey(o) != c.best {
			t.Errorf("%d finalists: measured %s again, best %s", c.finalists, got, bestKey(o))
		}
		if len(log.finals) != len(e.asked) {
			t.Errorf("%d finalists: %d kept", c.finalists, len(log.finals))
		}
		for _, r := range o.Results {
			if want := e.rounds > 0 && r.Configuration.Int("i") < len(e.asked); want != (r.FinalTime() > 0) {
				t.Errorf("%d finalists: %s has the final time %v", c.finalists, r.Configuration, r.FinalTime())
			}
		}
	}
}

func TestTheFinalMeasurementIncludesTheBaseline(t *testing.T) {
	d := lineDefinition(30)
	d.Baseline = map[string]space.Value{"i": 20}
	e := &remeasuring{fake: fake{answer: correct}, again: reversed}
	o := mustRun(t, mustProblem(t, d), e, Options{Finalists: 3})
	if fmt.Sprint(e.asked) != "[0 1 2 20]" {
		t.Errorf("measured %v again", e.asked)
	}
	// The final time of 20 is 80 and the best.
	first := tune.ResultOf(o.Results, map[string]space.Value{"i": 0})
	if gain, ok := o.Best.GainOver(score.Objective{Name: "time"}, first); !ok || bestKey(o) != "20" || gain != 1.25 {
		t.Errorf("%s is %v times better than the first", bestKey(o), gain)
	}
}

func TestTheFinalIsWonByTheObjective(t *testing.T) {
	d := lineDefinition(5)
	d.Metrics, d.Objective = []definition.Metric{{Name: "work", Expression: "i * i / time"}}, score.Objective{Name: "work", Maximize: true}
	p := mustProblem(t, d)
	e := &remeasuring{fake: fake{answer: correct}, again: func(c space.Configuration) []float64 {
		return []float64{[]float64{1, 1, 1, 1, 100}[c.Int("i")]}
	}}
	o := mustRun(t, p, e, Options{})
	if fmt.Sprint(e.asked) != "[4 3 2 1 0]" || bestKey(o) != "3" {
		t.Errorf("measured %v again, best %s", e.asked, bestKey(o))
	}
	if f := o.Best.Figures(); !f.Final || f.Time != 1 || f.Objective != 9 || f.Metrics[0].Value != 9 {
		t.Errorf("the figures are %+v", f)
	}
}

// TestRoundsFollowTheTimes has two finalists, which need 6 rounds to differ, or ten, which need 11. A log has their results, or workers have
// shared the cost, so that the search has taken no time.
func TestRoundsFollowTheTimes(t *testing.T) {
	for _, c := range []struct {
		finalists  int
		time, cost float64 // of a launch and of a result, in milliseconds
		rounds     int
		shared     int // rounds
	}{
		{2, 1e-300, 0, 51, 51}, {2, 1, 0, 50, 50}, {2, 5, 0, 10, 10}, {2, 50, 0, 3, 3}, {2, 500, 0, 3, 3}, {2, 1e300, 0, 3, 3}, // small searches
		{2, 5, 1499, 10, 10}, {2, 5, 1500, 30, 20}, {2, 5, 1e6, 51, 20}, {2, 50, 2000, 6, 6}, {2, 50, 8000, 16, 6}, {2, 50, 1e6, 20, 6},
		{10, 1, 0, 10, 10}, {10, 5, 0, 3, 3}, {10, 5, 300, 11, 11}, {10, 5, 2000, 40, 11}, {10, 50, 0, 3, 3}, {10, 50, 300, 3, 3}, {10, 50, 1e6, 4, 3},
	} {
		e := &remeasuring{again: reversed, fake: fake{answer: func(space.Configuration) tune.Result {
			return tune.Result{Status: tune.Correct, Times: []float64{c.time}, Durations: tune.Durations{Build: time.Duration(c.cost * float64(time.Millisecond))}}
		}}}
		log := &memory{}
		mustRun(t, line(t, c.finalists), e, Options{Log: log})
		shared := e.rounds
		mustRun(t, line(t, c.finalists), e, Options{Log: &memory{previous: log.results}})
		if e.rounds != c.rounds || shared != c.shared {
			t.Errorf("%d finalists of %v ms that cost %v ms each: %d rounds, want %d; shared %d, want %d", c.finalists, c.time, c.cost, e.rounds, c.rounds, shared, c.shared)
		}
	}
}

func TestAFinalistThatFailsOrHasNoUsableTimeCannotWin(t *testing.T) {
	for name, times := range map[string][]float64{
		"failed": nil, "zeros": {0, 0, 0}, "NaN": {math.NaN(), 1}, "infinite": {1, 1, math.Inf(1)}, "negative": {1, -1},
	} {
		log := &memory{}
		e := &remeasuring{fake: fake{answer: correct}, again: func(c space.Configuration) []float64 {
			if c.Int("i") == 4 {
				return times
			}
			return reversed(c)
		}}
		o := mustRun(t, line(t, 5), e, Options{Log: log})
		if bestKey(o) != "3" {
			t.Errorf("%s: best %s", name, bestKey(o))
		}
		if failed := tune.ResultOf(o.Results, map[string]space.Value{"i": 4}).FinalFailure; len(log.finals) != 5 || failed == "" {
			t.Errorf("%s: %d finals kept, one failed: %s", name, len(log.finals), failed)
		}
	}
	e := &remeasuring{fake: fake{answer: correct}, again: func(space.Configuration) []float64 { return nil }}
	if o := mustRun(t, line(t, 5), e, Options{}); bestKey(o) != "0" {
		t.Errorf("all failed: best %s", bestKey(o))
	}
}

func TestOnlyCorrectResultsAreFinalists(t *testing.T) {
	e := &remeasuring{again: reversed, fake: fake{answer: func(c space.Configuration) tune.Result {
		if c.Int("i")%2 == 0 {
			return tune.Result{Status: tune.Correctness, Times: []float64{0.001}}
		}
		return correct(c)
	}}}
	mustRun(t, line(t, 8), e, Options{})
	if fmt.Sprint(e.asked) != "[1 3 5 7]" {
		t.Errorf("measured %v again", e.asked)
	}
	e = &remeasuring{again: reversed, fake: fake{answer: always(tune.Runtime, "no")}}
	if o := mustRun(t, line(t, 8), e, Options{}); o.Best != nil || e.calls != 0 {
		t.Errorf("best %s, %d final measurements", bestKey(o), e.calls)
	}
}

func TestFinalTimesOfTheLogAreNotMeasuredAgain(t *testing.T) {
	p := line(t, 30)
	log := &memory{}
	e := &remeasuring{fake: fake{answer: correct}, again: reversed}
	first := mustRun(t, p, e, Options{Log: log, MaxEvaluations: 12})

	e = &remeasuring{fake: fake{answer: correct}, again: reversed}
	o := mustRun(t, p, e, Options{Log: log.reopened(), MaxEvaluations: 12})
	if e.calls != 0 || e.count() != 0 || bestKey(o) != bestKey(first) {
		t.Errorf("%d final measurements, %d evaluations, best %s and %s", e.calls, e.count(), bestKey(o), bestKey(first))
	}

	// A larger budget brings a new finalist: then all are measured together.
	fast := func(c space.Configuration) tune.Result {
		if c.Int("i") == 20 {
			return tune.Result{Status: tune.Correct, Times: []float64{0.5}}
		}
		return correct(c)
	}
	e = &remeasuring{fake: fake{answer: fast}, again: reversed}
	o = mustRun(t, p, e, Options{Log: log.reopened()})
	if fmt.Sprint(e.asked) != "[20 0 1 2 3 4 5 6 7 8]" || bestKey(o) != "20" {
		t.Errorf("measured %v again, best %s", e.asked, bestKey(o))
	}
	if o.Results[9].Final != nil {
		t.Error("a final time of the earlier run is left")
	}

	// A signal before that: the earlier finalists do not win against the new one.
	for _, fine := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		e = &remeasuring{fake: fake{answer: fast}, again: reversed}
		if fine { // it is no better
			e.answer = correct
		}
		o, err := Run(ctx, p, e, Options{Log: log.reopened(), OnResult: func(r tune.Result, _ bool) {
			if r.Configuration.Int("i") == 20 {
				cancel()
			}
		}})
		want := map[bool]string{false: "20", true: bestKey(first)}[fine]
		if err != nil || o.Stop != tune.Interrupted || e.calls != 0 || bestKey(o) != want {
			t.Errorf("interrupted: %v, stop %s, best %s, want %s", err, o.Stop, bestKey(o), want)
		}
	}
}

// TestCancellingBeforeTheFinalMeasurement: a run without its final measurement was interrupted, even if the search had come to its end.
func TestCancellingBeforeTheFinalMeasurement(t *testing.T) {
	p, log := line(t, 12), &memory{}
	mustRun(t, p, &remeasuring{fake: fake{answer: correct}}, Options{Log: log, Finalists: -1})
	ctx, cancel := context.WithCancel(context.Background())
	e := &remeasuring{fake: fake{answer: correct}, again: reversed}
	// Patience is over at once: the results of the log come after the search.
	o, err := Run(ctx, p, e, Options{Log: log.reopened(), Patience: 3, OnResult: func(tune.Result, bool) { cancel() }})
	if err != nil || o.Stop != tune.Interrupted || e.calls != 0 || len(o.Results) != 12 {
		t.Errorf("%v, stop %s, %d final measurements of %d results", err, o.Stop, e.calls, len(o.Results))
	}
}

func TestCancellingTheFinalMeasurementKeepsTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	e := &remeasuring{fake: fake{answer: correct}, again: reversed, during: cancel}
	o, err := Run(ctx, line(t, 5), e, Options{Log: &memory{}})
	if err != nil || o.Stop != tune.Interrupted || bestKey(o) != "0" || len(o.Results) != 5 {
		t.Errorf("%v, stop %s, best %s", err, o.Stop, bestKey(o))
	}
}

func TestAFinalMeasurementThatFailsIsAnErrorWithTheResults(t *testing.T) {
	lost := errors.New("the device is lost")
	for name, c := range map[string]struct {
		e    *remeasuring
		log  *memory
		want string
	}{
		"measurement": {&remeasuring{fake: fake{answer: correct}, again: reversed, err: lost}, &memory{}, "measure the best again: the device is lost"},
		"log":         {&remeasuring{fake: fake{answer: correct}, again: reversed}, &memory{failFinal: true}, "keep the final times of i=4: no space left"}, // the winner's,
	} {
		o, err := Run(context.Background(), line(t, 5), c.e, Options{Log: c.log})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(o.Results) != 5 || o.Best == nil {
			t.Errorf("%s: %v, %d results", name, err, len(o.Results))
		}
	}
}

// short is a remeasurer that forgets one.
type short struct{ *remeasuring }

func (s short) Remeasure(ctx context.Context, card string, c []space.Configuration, rounds int, observe bool) ([]tune.Turns, error) {
	return s.remeasuring.Remeasure(ctx, card, c[1:], rounds, observe)
}

func TestAFinalMeasurementOfTooFewIsAnError(t *testing.T) {
	_, err := Run(context.Background(), line(t, 5), short{&remeasuring{fake: fake{answer: correct}, again: reversed}}, Options{})
	if err == nil || !strings.Contains(err.Error(), "4 configurations were measured, not 5") {
		t.Error(err)
	}
}
