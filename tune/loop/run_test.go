package loop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

func mustRun(t testing.TB, p *problem.Problem, e tune.Evaluator, o Options) *tune.Outcome {
	t.Helper()
	outcome, err := Run(context.Background(), p, e, o)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func TestRunEvaluatesTheSpaceInOrder(t *testing.T) {
	f := &fake{answer: correct}
	var announced []tune.Result
	o := mustRun(t, line(t, 30), f, Options{OnResult: func(r tune.Result, resumed bool) {
		if resumed {
			t.Error("resumed without a log")
		}
		announced = append(announced, r)
	}})
	f.checkStopped(t)
	if keys(o.Results) != numbers(30) || keys(announced) != numbers(30) || o.Stop != tune.Exhausted || bestKey(o) != "0" {
		t.Errorf("%s, announced %s, stop %s, best %s", keys(o.Results), keys(announced), o.Stop, bestKey(o))
	}
	for _, r := range o.Results {
		if r.Timestamp.IsZero() || r.Objective != r.Time() {
			t.Errorf("%s: timestamp %v, objective %v", r.Configuration, r.Timestamp, r.Objective)
		}
	}
}

func TestRunOfAProblemWithoutParameters(t *testing.T) {
	d := lineDefinition(1)
	d.Parameters = nil
	o := mustRun(t, mustProblem(t, d), &fake{answer: correct}, Options{})
	if len(o.Results) != 1 || o.Best == nil || o.Stop != tune.Exhausted {
		t.Errorf("%+v", o)
	}
}

// TestRunKeepsTheEvaluatorFull has an evaluator that answers only while it is full: it would
// wait forever if the loop drained it between batches.
func TestRunKeepsTheEvaluatorFull(t *testing.T) {
	const capacity, n = 4, 40
	answered := 0
	o := mustRun(t, line(t, n), evaluatorFunc{capacity, func(_ context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
		var held []space.Configuration
		for c := range in {
			held = append(held, c)
			if len(held) == capacity || answered+len(held) == n {
				last := held[len(held)-1] // the first one waits until the end
				r := correct(last)
				r.Configuration = last
				held = held[:len(held)-1]
				answered++
				out <- r
			}
			for answered+len(held) == n && len(held) > 0 {
				r := correct(held[0])
				r.Configuration = held[0]
				held = held[1:]
				answered++
				out <- r
			}
		}
		return nil
	}}, Options{})
	if len(o.Results) != n || bestKey(o) != "0" {
		t.Errorf("%d results, best %s", len(o.Results), bestKey(o))
	}
}

// An evaluatorFunc is an evaluator that is only its loop.
type evaluatorFunc struct {
	capacity int
	evaluate func(context.Context, <-chan space.Configuration, chan<- tune.Result) error
}

func (e evaluatorFunc) Device() hardware.Device { return hardware.Device{} }
func (e evaluatorFunc) Capacity() int           { return e.capacity }
func (e evaluatorFunc) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	return e.evaluate(ctx, in, out)
}

func TestCancelKeepsWhatWasMeasured(t *testing.T) {
	for _, lingers := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		log := &memory{}
		f := &fake{answer: correct, capacity: 4, lingers: lingers, taken: func(n int) {
			if n == 20 {
				cancel()
			}
		}}
		o, err := Run(ctx, line(t, 100), f, Options{Log: log})
		f.checkStopped(t)
		if err != nil || o.Stop != tune.Interrupted || o.Best == nil {
			t.Fatalf("%v, stop %s, best %s", err, o.Stop, bestKey(o))
		}
		if keys(log.results) != keys(o.Results) || f.count() != 20 {
			t.Errorf("kept %s, logged %s, evaluated %d", keys(o.Results), keys(log.results), f.count())
		}
		if lingers && len(o.Results) != 20 || len(o.Results) < 16 {
			t.Errorf("lingers %v: %d results", lingers, len(o.Results))
		}
	}
}

func TestARunThatIsCancelledBeforeItBegins(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := &fake{answer: correct}
	o, err := Run(ctx, line(t, 10), f, Options{})
	f.checkStopped(t)
	if err != nil || o.Stop != tune.Interrupted || f.count() != 0 || o.Best != nil {
		t.Errorf("%v, stop %s, %d evaluated", err, o.Stop, f.count())
	}
}

func TestAnEvaluatorThatFailsEndsTheRunWithItsResults(t *testing.T) {
	f := &fake{answer: correct, capacity: 3, failAfter: 5}
	o, err := Run(context.Background(), line(t, 100), f, Options{})
	f.checkStopped(t)
	if !errors.Is(err, errDeviceLost) || len(o.Results) != 5 || o.Best == nil {
		t.Errorf("%v, %d results, best %s", err, len(o.Results), bestKey(o))
	}
}

func TestAnEvaluatorThatBreaksItsContractEndsTheRun(t *testing.T) {
	answer := func(out chan<- tune.Result, c space.Configuration) {
		r := correct(c)
		r.Configuration = c
		out <- r
	}
	other := mustSpace(t, line(t, 20)).At(19)
	for name, c := range map[string]struct {
		evaluate func(context.Context, <-chan space.Configuration, chan<- tune.Result) error
		want     string
		results  int
	}{
		"ends early": {func(_ context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
			answer(out, <-in)
			return nil
		}, "ended before the search did", 1},
		"owes an answer": {func(_ context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
			answer(out, <-in)
			<-in
			return nil
		}, "1 configurations unanswered", 1},
		"answers twice": {func(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
			c := <-in
			answer(out, c)
			answer(out, c)
			<-ctx.Done()
			return ctx.Err()
		}, "i=0, for which it was not asked", 1},
		"answers what it was not asked": {func(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
			answer(out, <-in)
			answer(out, other)
			<-ctx.Done()
			return ctx.Err()
		}, "i=19, for which it was not asked", 1},
	} {
		o, err := Run(context.Background(), line(t, 10), evaluatorFunc{1, c.evaluate}, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(o.Results) != c.results {
			t.Errorf("%s: %v, %d results", name, err, len(o.Results))
		}
	}
}

func TestAnEvaluatorWithoutCapacityHoldsOne(t *testing.T) {
	o := mustRun(t, line(t, 5), evaluatorFunc{0, (&fake{answer: correct}).Evaluate}, Options{})
	if len(o.Results) != 5 {
		t.Errorf("%d results", len(o.Results))
	}
}

func TestALogThatFailsEndsTheRunWithItsResults(t *testing.T) {
	f := &fake{answer: correct, capacity: 3, lingers: true}
	o, err := Run(context.Background(), line(t, 100), f, Options{Log: &memory{failAppend: 6}})
	f.checkStopped(t)
	if err == nil || !strings.Contains(err.Error(), "keep the result of i=") || !strings.Contains(err.Error(), "no space left") {
		t.Fatal(err)
	}
	if len(o.Results) < 6 || bestKey(o) != "0" {
		t.Errorf("%d results, best %s", len(o.Results), bestKey(o))
	}
}

func TestNothingInTheLogIsEvaluatedAgain(t *testing.T) {
	log := &memory{}
	f := &fake{answer: correct}
	p := line(t, 20)
	mustRun(t, p, f, Options{Log: log, MaxEvaluations: 8, Finalists: -1})
	log = log.reopened()
	var order []string
	o := mustRun(t, p, f, Options{Log: log, MaxEvaluations: 12, Finalists: -1, OnResult: func(r tune.Result, resumed bool) {
		order = append(order, fmt.Sprintf("%s:%v", r.Configuration.Key(), resumed))
	}})
	f.checkStopped(t)
	if o.Resumed != 8 || keys(o.Results) != numbers(12) || keys(log.results) != "8 9 10 11" || o.Stop != tune.Budget {
		t.Errorf("resumed %d, %s, logged %s, stop %s", o.Resumed, keys(o.Results), keys(log.results), o.Stop)
	}
	if order[7] != "7:true" || order[8] != "8:false" {
		t.Errorf("announced %v", order)
	}
	// All of it is in the log now: the evaluator has nothing to do.
	o = mustRun(t, p, f, Options{Log: log.reopened(), MaxEvaluations: 12, Finalists: -1})
	f.checkStopped(t)
	if o.Resumed != 12 || f.count() != 12 {
		t.Errorf("resumed %d, evaluated %d", o.Resumed, f.count())
	}
}

func TestResultsOfTheLogThatAreNotInTheSpaceAreLeftOut(t *testing.T) {
	log := &memory{}
	mustRun(t, line(t, 20), &fake{answer: correct}, Options{Log: log, Finalists: -1})
	d := lineDefinition(20)
	d.Restrictions = []space.Restriction{{Expression: "i >= 15"}}
	f := &fake{answer: correct}
	o := mustRun(t, mustProblem(t, d), f, Options{Log: log.reopened()})
	if o.Resumed != 5 || f.count() != 0 || bestKey(o) != "15" {
		t.Errorf("resumed %d, evaluated %d, best %s", o.Resumed, f.count(), bestKey(o))
	}
}

func TestUnusableTimesNeverWin(t *testing.T) {
	times := [][]float64{{5}, {0}, {math.NaN()}, {math.Inf(1)}, nil, {3, 0}, {2}, {-1}}
	for _, objective := range []score.Objective{{}, {Name: "time_min", Maximize: false}, {Name: "rate", Maximize: true}, {Name: "rate", Maximize: false}} {
		d := lineDefinition(len(times))
		d.Metrics, d.Objective = []definition.Metric{{Name: "rate", Expression: "1 / time"}}, objective
		o := mustRun(t, mustProblem(t, d), &fake{answer: func(c space.Configuration) tune.Result {
			return tune.Result{Status: tune.Correct, Times: times[c.Int("i")]}
		}}, Options{})
		want := "6"
		if objective.Name == "rate" && !objective.Maximize {
			want = "0"
		}
		if bestKey(o) != want {
			t.Errorf("%+v: best %s", objective, bestKey(o))
		}
		for i, r := range o.Results {
			if usable := i == 0 || i == 6; usable != (r.Status == tune.Correct) || usable != (r.Reason == "") {
				t.Errorf("times %v: %s %q", times[i], r.Status, r.Reason)
			}
		}
	}
}

// TestAResumedResultWithoutAnObjectiveCannotWin has a log that kept a NaN.
func TestAResumedResultWithoutAnObjectiveCannotWin(t *testing.T) {
	p := line(t, 3)
	log := &memory{}
	mustRun(t, p, &fake{answer: correct}, Options{Log: log})
	log.results[0].Objective = math.NaN()
	if o := mustRun(t, p, &fake{}, Options{Log: log.reopened()}); bestKey(o) != "1" {
		t.Errorf("best %s", bestKey(o))
	}
}

func TestStrategiesMinimise(t *testing.T) {
	d := lineDefinition(3)
	d.Metrics, d.Objective = []definition.Metric{{Name: "rate", Expression: "1 / time"}}, score.Objective{Name: "rate", Maximize: true}
	var told []search.Observation
	mustRun(t, mustProblem(t, d), &fake{answer: func(c space.Configuration) tune.Result {
		if c.Int("i") == 1 {
			return tune.Result{Status: tune.Timeout}
		}
		return correct(c)
	}}, Options{Strategy: func(s *space.Space) (search.Strategy, error) {
		inner, err := search.New("brute_force", s, search.Options{})
		return listening{inner, &told}, err
	}})
	want := []search.Observation{{Index: 0, Objective: -1, Valid: true, Status: "correct"}, {Index: 1, Status: "timeout"}, {Index: 2, Objective: -1. / 3, Valid: true, Status: "correct"}}
	if len(told) == 3 {
		told[1].Objective = 0 // without meaning
	}
	if !reflect.DeepEqual(told, want) {
		t.Errorf("told %+v", told)
	}
}

// listening keeps what a strategy is told.
type listening struct {
	search.Strategy
	told *[]search.Observation
}

func (l listening) Tell(o []search.Observation) {
	*l.told = append(*l.told, o...)
	l.Strategy.Tell(o)
}

func TestRunThatCannotBegin(t *testing.T) {
	d := lineDefinition(3)
	d.Restrictions = []space.Restriction{{Expression: "device.compute_units > i"}}
	var empty *space.EmptyError
	if o, err := Run(context.Background(), mustProblem(t, d), &fake{}, Options{}); o != nil || !errors.As(err, &empty) {
		t.Errorf("an empty space: %v, %v", o, err)
	}
	refused := errors.New("no such strategy")
	if o, err := Run(context.Background(), line(t, 3), &fake{}, Options{Strategy: func(*space.Space) (search.Strategy, error) {
		return nil, refused
	}}); o != nil || !errors.Is(err, refused) {
		t.Errorf("a strategy that cannot be made: %v, %v", o, err)
	}
}

func TestRunIsDeterministic(t *testing.T) {
	run := func() string {
		o := mustRun(t, line(t, 60), &fake{answer: correct}, Options{MaxEvaluations: 25, Strategy: func(s *space.Space) (search.Strategy, error) {
			return search.New("random_sample", s, search.Options{Seed: 7})
		}})
		return keys(o.Results) + " " + bestKey(o)
	}
	if a, b := run(), run(); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}

func TestTheStrategysTimeIsCounted(t *testing.T) {
	o := mustRun(t, line(t, 10), &fake{answer: correct}, Options{})
	all := time.Duration(0)
	for _, r := range o.Results {
		all += r.Durations.Search
	}
	if all <= 0 || all > o.Elapsed {
		t.Errorf("searched %v of %v", all, o.Elapsed)
	}
}
