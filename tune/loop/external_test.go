package loop

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// A program is a strategy that fails after some proposals, or hangs until it is cancelled.
type program struct {
	search.Strategy
	left int
	err  error // nil: it hangs
	told *int
}

func (p *program) Consult(ctx context.Context, n int) ([]int, error) {
	if p.left > 0 {
		p.left--
		return p.Ask(n), nil
	}
	if p.err == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, p.err
}

func (p *program) Tell(observations []search.Observation) {
	for _, o := range observations {
		if o.Status == string(tune.Correct) {
			*p.told++
		}
	}
	p.Strategy.Tell(observations)
}

func runProgram(t *testing.T, ctx context.Context, capacity int, err error, o Options) (*tune.Outcome, *memory, int, error) {
	t.Helper()
	told, log := 0, &memory{}
	o.Log = log
	o.Strategy = func(s *space.Space) (search.Strategy, error) {
		inner, failed := search.New("brute_force", s, search.Options{})
		return &program{Strategy: inner, left: 5, err: err, told: &told}, failed
	}
	f := &fake{capacity: capacity, answer: correct}
	outcome, failed := Run(ctx, line(t, 50), f, o)
	f.checkStopped(t)
	if f.count() != len(log.results) {
		t.Errorf("%d configurations were evaluated, and %d results are in the log", f.count(), len(log.results))
	}
	return outcome, log, told, failed
}

// TestAStrategyThatFailsLosesNothing: all that the evaluator holds is finished and kept.
func TestAStrategyThatFailsLosesNothing(t *testing.T) {
	broken := errors.New("the strategy command has ended")
	for _, capacity := range []int{1, 4} {
		o, log, _, err := runProgram(t, t.Context(), capacity, broken, Options{})
		if !errors.Is(err, broken) || len(o.Results) != len(log.results) || capacity == 1 && len(o.Results) != 5 || o.Best == nil || o.Stop != tune.StrategyFailed {
			t.Errorf("capacity %d: %v, %+v, %d in the log", capacity, err, o, len(log.results))
		}
	}
}

// TestAStrategyThatHangsEndsWithTheSearch is interrupted, or its time is up.
func TestAStrategyThatHangsEndsWithTheSearch(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	results := 0
	o, _, told, err := runProgram(t, ctx, 1, nil, Options{OnResult: func(tune.Result, bool) {
		if results++; results == 5 {
			cancel()
		}
	}})
	if err != nil || o.Stop != tune.Interrupted || len(o.Results) != 5 || told < 4 {
		t.Errorf("interrupted: %v, %+v, told %d", err, o, told)
	}
	o, log, _, err := runProgram(t, t.Context(), 1, nil, Options{TimeLimit: 100 * time.Millisecond})
	if err != nil || o.Stop != tune.TimeIsUp || len(log.results) != len(o.Results) {
		t.Errorf("time limit: %v, %+v, %d in the log", err, o, len(log.results))
	}
}
