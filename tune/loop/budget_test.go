package loop

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

func TestBudgetCountsFailuresAndIsNeverExceeded(t *testing.T) {
	for _, capacity := range []int{1, 3, 100} {
		f := &fake{capacity: capacity, rng: rand.New(rand.NewPCG(1, 1)), answer: func(c space.Configuration) tune.Result {
			if c.Int("i")%2 == 0 {
				return tune.Result{Status: tune.Compile, Reason: "even"}
			}
			return correct(c)
		}}
		asked := 0
		o := mustRun(t, line(t, 50), f, Options{MaxEvaluations: 7, Strategy: func(s *space.Space) (search.Strategy, error) {
			inner, err := search.New("brute_force", s, search.Options{})
			return counting{inner, &asked}, err
		}})
		f.checkStopped(t)
		if len(o.Results) != 7 || f.count() != 7 || asked != 7 || o.Stop != tune.Budget || bestKey(o) != "1" {
			t.Errorf("capacity %d: %d results, %d evaluated, %d asked for, stop %s, best %s", capacity, len(o.Results), f.count(), asked, o.Stop, bestKey(o))
		}
	}
}

// counting counts the proposals of a strategy.
type counting struct {
	search.Strategy
	asked *int
}

func (c counting) Ask(n int) []int {
	proposed := c.Strategy.Ask(n)
	*c.asked += len(proposed)
	return proposed
}

func TestABudgetOfTheWholeSpaceExhaustsIt(t *testing.T) {
	if o := mustRun(t, line(t, 5), &fake{answer: correct}, Options{MaxEvaluations: 5}); o.Stop != tune.Exhausted || len(o.Results) != 5 {
		t.Errorf("%d results, stop %s", len(o.Results), o.Stop)
	}
}

// TestTimeLimit has an evaluator that answers its only configuration once the limit has
// ended the run.
func TestTimeLimit(t *testing.T) {
	o := mustRun(t, line(t, 5), evaluatorFunc{1, func(_ context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
		var results []tune.Result
		for c := range in {
			r := correct(c)
			r.Configuration = c
			results = append(results, r)
		}
		for _, r := range results {
			out <- r
		}
		return nil
	}}, Options{TimeLimit: time.Millisecond})
	if o.Stop != tune.TimeIsUp || len(o.Results) > 1 {
		t.Errorf("%d results, stop %s", len(o.Results), o.Stop)
	}
}

// A dropping fake is told to forget the configurations that wait.
type dropping struct {
	evaluatorFunc
	dropped chan struct{}
}

func (d dropping) DropWaiting() { close(d.dropped) }

func TestNothingThatWaitsBeginsAfterTheTimeLimit(t *testing.T) {
	d := dropping{dropped: make(chan struct{})}
	begun := 0
	d.evaluatorFunc = evaluatorFunc{3, func(_ context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
		var taken []space.Configuration
		for c := range in {
			taken = append(taken, c)
		}
		select {
		case <-d.dropped:
		default:
			t.Error("the evaluator was not told")
		}
		if begun = min(1, len(taken)); begun > 0 { // the limit may be over before
			r := correct(taken[0])
			r.Configuration = taken[0]
			out <- r
		}
		return nil
	}}
	if o := mustRun(t, line(t, 5), d, Options{TimeLimit: time.Millisecond}); o.Stop != tune.TimeIsUp || len(o.Results) != begun {
		t.Errorf("%d results, stop %s", len(o.Results), o.Stop)
	}
}

// TestWhatTheLogHoldsCountsThoughNotProposedAgain resumes a brute force run with random
// sampling: the budget covers both, and no result is left out.
func TestWhatTheLogHoldsCountsThoughNotProposedAgain(t *testing.T) {
	log := &memory{}
	first := &fake{answer: correct}
	mustRun(t, line(t, 20), first, Options{Log: log, MaxEvaluations: 6, Finalists: -1})
	random := func(s *space.Space) (search.Strategy, error) {
		return search.New("random_sample", s, search.Options{Seed: 5})
	}
	second := &fake{answer: correct}
	o := mustRun(t, line(t, 20), second, Options{Log: log.reopened(), MaxEvaluations: 10, Strategy: random, Finalists: -1})
	if second.count() != 4 || len(o.Results) != 10 || o.Resumed != 6 || o.Stop != tune.Budget {
		t.Errorf("%d evaluated, %d results, %d resumed, %s", second.count(), len(o.Results), o.Resumed, o.Stop)
	}
	seen := map[string]bool{}
	for _, r := range o.Results {
		if seen[r.Configuration.Key()] {
			t.Errorf("%s stands twice", r.Configuration)
		}
		seen[r.Configuration.Key()] = true
	}
}

// TestRefusedConfigurationsAreFree: the evaluator does not get configurations that the device's limits
// exclude. They are results, but do not count in the budget.
func TestRefusedConfigurationsAreFree(t *testing.T) {
	for _, c := range []struct {
		budget, limit      int
		evaluated, refused int
		stop               tune.StopReason
	}{
		{0, 3, 60, 40, tune.Exhausted},
		{10, 3, 10, 6, tune.Budget}, // 0 1 2 5 6 7 10 11 12 15; the strategy is not asked any more
		{100, 3, 60, 40, tune.Exhausted},
		{10, 5, 10, 0, tune.Budget},
		{10, 0, 10, 0, tune.Budget}, // unknown
		{2, -1, 0, 42, tune.Budget}, // all are refused: their number is bounded
	} {
		d := lineDefinition(100)
		d.BlockSize[0] = "1 + i % 5"
		device := hardware.Device{MaxWorkGroupSize: c.limit}
		if c.limit < 0 {
			device.MaxWorkGroupSize = 1
			d.BlockSize[0] = "2 + i"
		}
		log := &memory{}
		f := &fake{device: device, answer: correct}
		o := mustRun(t, mustProblem(t, d), f, Options{MaxEvaluations: c.budget, Log: log})
		refused := 0
		for _, r := range o.Results {
			if r.Refused {
				refused++
				if r.Status != tune.Constraints || !strings.Contains(r.Reason, "> device limit") {
					t.Errorf("%+v: %s, %s", c, r.Status, r.Reason)
				}
			}
		}
		if f.count() != c.evaluated || refused != c.refused || o.Stop != c.stop || len(log.results) != len(o.Results) {
			t.Errorf("%+v: %d evaluated, %d refused, stop %s, %d of %d in the log", c, f.count(), refused, o.Stop, len(log.results), len(o.Results))
		}
		// A larger budget resumes the log, of which the refused are free, too.
		if c.stop == tune.Budget && c.evaluated > 0 {
			f := &fake{device: device, answer: correct}
			o := mustRun(t, mustProblem(t, d), f, Options{MaxEvaluations: c.budget + 3, Log: log.reopened()})
			if f.count() != 3 || o.Resumed != len(log.results) {
				t.Errorf("%+v: %d evaluated after %d resumed", c, f.count(), o.Resumed)
			}
		}
	}
}

// TestPatience: the search ends after so many evaluations without an improvement of 1 %, whether the
// log of an interrupted run holds some of them or all.
func TestPatience(t *testing.T) {
	answer := func(c space.Configuration) tune.Result { // 100, 50, 49.99, 49.98, …
		time := 100.0
		if i := c.Int("i"); i > 0 {
			time = 50 - 0.01*float64(i-1)
		}
		return tune.Result{Status: tune.Correct, Times: []float64{time}}
	}
	const patience = 4 // the second result is the last worthwhile one
	for _, interrupted := range []int{0, 1, 5, 10, 12} {
		log := &memory{}
		if interrupted > 0 {
			mustRun(t, line(t, 20), &fake{answer: answer}, Options{Log: log, MaxEvaluations: interrupted, Finalists: -1})
		}
		f := &fake{answer: answer}
		o := mustRun(t, line(t, 20), f, Options{Log: log.reopened(), Patience: patience, Finalists: -1})
		if len(o.Results) != max(6, interrupted) || o.Stop != tune.Settled || f.count() != len(o.Results)-o.Resumed {
			t.Errorf("interrupted after %d: %d results, %d evaluated, %s", interrupted, len(o.Results), f.count(), o.Stop)
		}
	}
	worse := &fake{answer: func(space.Configuration) tune.Result { return tune.Result{Status: tune.Compile, Reason: "no"} }}
	if o := mustRun(t, line(t, 20), worse, Options{Patience: 3, Finalists: -1}); o.Stop != tune.Settled || len(o.Results) != 3 {
		t.Errorf("all fail: %d results, %s", len(o.Results), o.Stop)
	}
}
