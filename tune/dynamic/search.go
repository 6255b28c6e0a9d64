package dynamic

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

// A searching is a search ([tune.Run]) in a goroutine of its own, with the steps of the application as its evaluator:
// it hands one configuration after the other to them, and waits for the result.
type searching struct {
	identity hardware.Device
	trials   chan space.Configuration
	results  chan tune.Result
	best     atomic.Pointer[tune.Result] // so far; nil: none is correct
	stop     context.CancelFunc

	over    chan struct{} // closed at the end; before, the fields below are not to be read
	outcome *tune.Outcome
	err     error // of the search, or of the wisdom file
}

// begin begins the search.
func (k *Kernel) begin() error {
	var neighbours []space.Configuration
	if k.entry != nil {
		var err error
		if neighbours, err = k.entry.Neighbours(); err != nil {
			return err
		}
	}
	run := k.options.Wisdom.Search(k.problem, neighbours)
	if run.MaxEvaluations == 0 && run.TimeLimit == 0 && run.Patience == 0 {
		run.Patience = DefaultPatience
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &searching{
		identity: k.identity, trials: make(chan space.Configuration), results: make(chan tune.Result),
		stop: stop, over: make(chan struct{}),
	}
	k.search = s
	go func() {
		defer close(s.over)
		if s.outcome, s.err = tune.Run(ctx, k.problem, s, run); s.err != nil || k.entry == nil {
			return
		}
		if r, err := wisdom.RecordOf(ctx, k.problem, s.outcome); err == nil { // else there is nothing to keep
			_, s.err = k.entry.Keep(ctx, r)
		}
	}()
	return nil
}

// stopSearch ends the search and waits for it.
func (k *Kernel) stopSearch() {
	if k.search != nil {
		k.search.stop()
		<-k.search.over
	}
}

// Device implements tune.Evaluator.
func (s *searching) Device() hardware.Device { return s.identity }

// Capacity implements tune.Evaluator: there is one step at a time.
func (s *searching) Capacity() int { return 1 }

// Observe implements tune.Observer.
func (s *searching) Observe(best tune.Result) { s.best.Store(&best) }

// Evaluate implements tune.Evaluator.
func (s *searching) Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- tune.Result) error {
	return tune.EvaluateEach(ctx, in, out, func(c space.Configuration) (tune.Result, error) {
		select {
		case <-ctx.Done():
			return tune.Result{}, ctx.Err()
		case s.trials <- c:
		}
		select {
		case <-ctx.Done():
			return tune.Result{}, ctx.Err()
		case result := <-s.results:
			return result, nil
		}
	})
}

// tell hands the result of a configuration to the search, unless that was stopped meanwhile.
func (s *searching) tell(result tune.Result) {
	select {
	case s.results <- result:
	case <-s.over:
	}
}

func (s *searching) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// bestSoFar returns the best configuration, or nil.
func (s *searching) bestSoFar() *space.Configuration {
	best := s.best.Load()
	if s.isOver() && s.outcome != nil && s.outcome.Best != nil {
		best = s.outcome.Best
	}
	if best == nil {
		return nil
	}
	return &best.Configuration
}

// isFarWorse reports whether a configuration that takes some milliseconds is worse than the best by a factor.
func (s *searching) isFarWorse(p *problem.Problem, c space.Configuration, ms, factor float64) bool {
	best := s.best.Load()
	if best == nil || !(factor > 1) || math.IsInf(factor, 1) {
		return false
	}
	objective, err := p.ObjectiveAt(c, s.identity, []float64{ms})
	return err == nil && p.Objective().Worse(objective, best.Objective, factor)
}

// hopeless returns the error of a search that has found nothing.
func (s *searching) hopeless(ctx context.Context, p *problem.Problem) error {
	if s.err != nil || s.outcome == nil {
		return fmt.Errorf("tune %s: %w", p.KernelName(), s.err)
	}
	_, err := wisdom.RecordOf(ctx, p, s.outcome)
	return err
}
