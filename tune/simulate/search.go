package simulate

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ndtune/ndtune/tune/search"
)

// errStopped ends a search that is no longer wanted.
var errStopped = errors.New("stopped")

// A searcher does one search after another. It is used by one goroutine at a time.
type searcher struct {
	batch   int
	stopped *atomic.Bool
	curve   []float64 // the quality after each evaluation of the last search
	told    []search.Observation
	seen    []uint32 // by index, the number of the last search that proposed it
	number  uint32
}

// run lets a strategy search a recording, until the budget is spent or there is nothing more
// to propose. The curve then stays as it is.
func (s *searcher) run(strategy search.Strategy, r *Recording) error {
	s.begin(r)
	best, evaluated := 0.0, 0
	budget := min(len(s.curve), len(r.quality))
	for evaluated < budget {
		if s.stopped.Load() {
			return errStopped
		}
		n := min(s.batch, budget-evaluated)
		proposed := strategy.Ask(n)
		if len(proposed) == 0 {
			break
		}
		if err := s.check(proposed, n, r); err != nil {
			return err
		}
		s.told = s.told[:0]
		for _, i := range proposed {
			best = max(best, r.quality[i])
			s.curve[evaluated] = best
			evaluated++
			s.told = append(s.told, r.observations[i])
		}
		strategy.Tell(s.told)
	}
	if evaluated == 0 {
		return errors.New("it proposes nothing")
	}
	for i := evaluated; i < len(s.curve); i++ {
		s.curve[i] = best
	}
	return nil
}

// begin forgets what earlier searches have proposed.
func (s *searcher) begin(r *Recording) {
	if len(s.seen) < len(r.quality) {
		s.seen = make([]uint32, len(r.quality))
	}
	s.number++
	if s.number == 0 { // after four billion searches
		clear(s.seen)
		s.number = 1
	}
}

// check holds a strategy to what it promises.
func (s *searcher) check(proposed []int, n int, r *Recording) error {
	if len(proposed) > n {
		return fmt.Errorf("it proposes %d configurations where it is asked for at most %d", len(proposed), n)
	}
	for _, i := range proposed {
		if i < 0 || i >= len(r.quality) {
			return fmt.Errorf("it proposes the configuration %d of a space that has those from 0 to %d", i, len(r.quality)-1)
		}
		if s.seen[i] == s.number {
			return fmt.Errorf("it proposes the configuration %s twice", r.space.At(i))
		}
		s.seen[i] = s.number
	}
	return nil
}
