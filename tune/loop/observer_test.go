package loop

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// An observing fake keeps what Run tells it of the best, while it evaluates.
type observing struct {
	fake
	probing
	mutex    sync.Mutex
	observed []tune.Result
	known    int // how many bests it knew when it was asked for the first configuration
}

func (o *observing) Observe(best tune.Result) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.observed = append(o.observed, best)
}

func newObserving(answer func(space.Configuration) tune.Result) *observing {
	o := &observing{known: -1}
	o.answer = answer
	o.taken = func(n int) {
		o.mutex.Lock()
		defer o.mutex.Unlock()
		if n == 1 {
			o.known = len(o.observed)
		}
	}
	return o
}

// timed answers with a mean of so many milliseconds; 0 is one that cannot be ranked, and a
// negative one a failure.
func timed(times ...float64) func(space.Configuration) tune.Result {
	return func(c space.Configuration) tune.Result {
		t := times[c.Int("i")]
		if t < 0 {
			return tune.Result{Status: tune.Correctness, Reason: "wrong", Times: []float64{-t}}
		}
		return tune.Result{Status: tune.Correct, Times: []float64{t}}
	}
}

func TestTheEvaluatorLearnsOfEachNewBest(t *testing.T) {
	for name, c := range map[string]struct {
		objective score.Objective
		want      string
	}{
		"minimised": {tune.Objective{}, "1 3 6"},
		"maximised": {score.Objective{Name: "time_min", Maximize: true}, "1 2 7"},
	} {
		d := lineDefinition(8)
		d.Objective = c.objective
		e := newObserving(timed(-0.5, 5, 7, 4, 0, 4, 1, 9))
		mustRun(t, mustProblem(t, d), e, Options{})
		if got := keys(e.observed); got != c.want || e.known != 0 {
			t.Errorf("%s: told of %s, want %s; of %d before the first", name, got, c.want, e.known)
		}
		for _, r := range e.observed {
			if r.Objective != r.Times[0] {
				t.Errorf("%s: the objective of %s is %v", name, r.Configuration, r.Objective)
			}
		}
	}
}

func TestTheEvaluatorKnowsTheBestOfTheLogFirst(t *testing.T) {
	p, more := line(t, 6), line(t, 8)
	times := []float64{5, 6, 3, 4, 2, 7, 1, math.NaN()}
	whole := &memory{}
	mustRun(t, more, &fake{answer: timed(times...)}, Options{Log: whole, MaxEvaluations: 4})
	log := whole.reopened()
	// The last one is not in the space of p, and is better than all that is.
	better := tune.Result{Configuration: mustSpace(t, more).At(7), Status: tune.Correct, Times: []float64{0.1}, Objective: 0.1}
	log.previous = append([]tune.Result{better}, log.previous...)

	e := newObserving(timed(times...))
	o := mustRun(t, p, e, Options{Log: log})
	if got, want := keys(e.observed), "0 2 4"; got != want || e.known != 2 || o.Resumed != 4 {
		t.Errorf("told of %s, want %s; of %d before the first, want 2; %d resumed", got, want, e.known, o.Resumed)
	}
}

func TestNothingIsToldOfAnUnusableLog(t *testing.T) {
	p := line(t, 2)
	at := mustSpace(t, p)
	log := &memory{previous: []tune.Result{
		{Configuration: at.At(0), Status: tune.Correct, Times: []float64{1}, Objective: math.NaN()},
		{Configuration: at.At(1), Status: tune.Runtime, Reason: "lost"},
	}}
	e := newObserving(timed(1, 1))
	mustRun(t, p, e, Options{Log: log})
	if len(e.observed) > 0 {
		t.Error("told of", keys(e.observed))
	}
}

func TestObservingWhileEvaluating(t *testing.T) {
	times := make([]float64, 200)
	for i := range times {
		times[i] = float64(1 + (i*7919)%len(times)) // all different
	}
	e := newObserving(timed(times...))
	e.capacity = 8
	o := mustRun(t, line(t, len(times)), e, Options{})
	best := math.Inf(1)
	want := ""
	for _, r := range o.Results {
		if r.Objective < best {
			best = r.Objective
			want += fmt.Sprint(r.Configuration.Key(), ";")
		}
	}
	got := ""
	for _, r := range e.observed {
		got += fmt.Sprint(r.Configuration.Key(), ";")
	}
	if got != want {
		t.Errorf("told of %s, want %s", got, want)
	}
}
