package simulate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/ndtune/ndtune/tune/search"
)

// Run simulates a plan and returns a curve for every strategy and recording, ordered by strategy.
// The curves depend on the plan alone, to the last bit, not on the number of cores. It is an
// error if a strategy breaks its contract, if the plan is invalid, or if ctx is cancelled.
func Run(ctx context.Context, p Plan) ([]Curve, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	r := newRun(p)
	forget := context.AfterFunc(ctx, func() { r.stopped.Store(true) })
	defer forget()
	workers := p.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var wait sync.WaitGroup
	for range min(workers, len(r.errors)) {
		wait.Go(func() { r.work(ctx) })
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, err := range r.errors {
		if err != nil {
			return nil, err
		}
	}
	curves := make([]Curve, len(r.pairs))
	for i := range r.pairs {
		curves[i] = r.pairs[i].curve
	}
	return curves, nil
}

// mostParts is the largest number of parts that the repeats of a pair are split into.
const mostParts = 64

// A run is the state of [Run]. Workers take parts in order, so that only a few pairs of a large
// plan are in memory at a time.
type run struct {
	plan  Plan
	pairs []pair
	parts int // of each pair
	next  atomic.Int64

	stopped atomic.Bool // the context is cancelled
	failed  atomic.Bool // there is an error

	// errors are those of the parts. The parts before one that has begun are always finished, so the
	// first error does not depend on timing.
	errors []error
}

// A pair is one strategy on one recording.
type pair struct {
	strategy  Strategy
	recording *Recording
	seeds     seeds

	mutex sync.Mutex
	done  []*moments // by part
	left  int        // parts that are not done
	curve Curve
}

func newRun(p Plan) *run {
	p.Batch = max(1, p.Batch)
	r := &run{plan: p, pairs: make([]pair, len(p.Strategies)*len(p.Recordings)), parts: min(p.Repeats, mostParts)}
	r.errors = make([]error, len(r.pairs)*r.parts)
	for i := range r.pairs {
		q := &r.pairs[i]
		q.strategy, q.recording = p.Strategies[i/len(p.Recordings)], p.Recordings[i%len(p.Recordings)]
		q.seeds = newSeeds(p.Seed, q.strategy.Name, q.recording)
		q.left = r.parts
	}
	return r
}

// work does parts until none is left or one has failed.
func (r *run) work(ctx context.Context) {
	s := &searcher{batch: r.plan.Batch, stopped: &r.stopped, curve: make([]float64, r.plan.MaxEvaluations)}
	for {
		n := int(r.next.Add(1)) - 1
		if n >= len(r.errors) || r.failed.Load() {
			return
		}
		q, part := &r.pairs[n/r.parts], n%r.parts
		first, end := r.plan.Repeats*part/r.parts, r.plan.Repeats*(part+1)/r.parts
		m, err := q.repeat(ctx, s, first, end)
		if err != nil {
			r.errors[n] = fmt.Errorf("%s on %s: %w", q.strategy.Name, q.recording.Name, err)
			r.failed.Store(true)
			return
		}
		q.finish(part, r.parts, m)
		if r.plan.OnRepeats != nil {
			r.plan.OnRepeats(end - first)
		}
	}
}

// repeat does the searches from first to end-1.
func (q *pair) repeat(ctx context.Context, s *searcher, first, end int) (*moments, error) {
	m := newMoments(len(s.curve))
	for i := first; i < end; i++ {
		o := search.Options{Seed: q.seeds.repeat(i), Budget: min(len(s.curve), q.recording.Space.Len()), Objectives: len(q.recording.Objective.All()), Priors: q.recording.Priors}
		strategy, err := q.strategy.New(q.recording.Space, o)
		if err == nil {
			err = s.run(ctx, strategy, q.recording)
			m.trust(search.Trusts(strategy))
			strategy.Close()
		}
		if err != nil {
			return nil, err
		}
		m.add(s.curve)
	}
	return m, nil
}

// finish stores a part, and makes the curve if it was the last one.
func (q *pair) finish(part, parts int, m *moments) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if q.done == nil {
		q.done = make([]*moments, parts)
	}
	q.done[part] = m
	if q.left--; q.left > 0 {
		return
	}
	all := q.done[0]
	for _, m := range q.done[1:] {
		all.merge(m)
	}
	q.done = nil
	q.curve = Curve{
		Strategy: q.strategy.Name, Record: q.recording.Name, Repeats: all.count,
		Mean: all.mean, StandardError: all.standardErrors(), Trust: all.meanTrust(),
	}
}

// errStopped ends a search after the context is cancelled.
var errStopped = errors.New("stopped")

// A searcher does one search after another. It is used by one goroutine at a time.
type searcher struct {
	batch   int
	stopped *atomic.Bool
	curve   []float64 // the quality after each evaluation of the last search
	told    []search.Observation
	seen    []uint32 // by index: the number of the last search that proposed it
	number  uint32   // of this search
}

// run lets a strategy search a recording until the budget is used up or the space is exhausted,
// from where the curve stays constant.
func (s *searcher) run(ctx context.Context, strategy search.Strategy, r *Recording) error {
	s.begin(r)
	progress, found, evaluated := r.progress(), 0.0, 0
	budget := min(len(s.curve), len(r.quality))
	for evaluated < budget {
		if s.stopped.Load() {
			return errStopped
		}
		n := min(s.batch, budget-evaluated)
		proposed, err := search.Ask(ctx, strategy, n)
		if err != nil {
			return err
		}
		if len(proposed) == 0 {
			break
		}
		if err := s.check(proposed, n, r); err != nil {
			return err
		}
		s.told = s.told[:0]
		for _, i := range proposed {
			found = progress(i)
			s.curve[evaluated] = found
			evaluated++
			s.told = append(s.told, r.observations[i])
		}
		strategy.Tell(s.told)
	}
	if evaluated == 0 {
		return errors.New("it proposes nothing")
	}
	for i := evaluated; i < len(s.curve); i++ {
		s.curve[i] = found
	}
	return nil
}

// begin forgets the proposals of earlier searches.
func (s *searcher) begin(r *Recording) {
	if len(s.seen) < len(r.quality) {
		s.seen = make([]uint32, len(r.quality))
	}
	s.number++
	if s.number == 0 { // it overflowed
		clear(s.seen)
		s.number = 1
	}
}

// check returns an error if a strategy breaks its contract.
func (s *searcher) check(proposed []int, n int, r *Recording) error {
	if len(proposed) > n {
		return fmt.Errorf("it proposes %d configurations where it is asked for at most %d", len(proposed), n)
	}
	for _, i := range proposed {
		if i < 0 || i >= len(r.quality) {
			return fmt.Errorf("it proposes the configuration %d of a space that has those from 0 to %d", i, len(r.quality)-1)
		}
		if s.seen[i] == s.number {
			return fmt.Errorf("it proposes the configuration %s twice", r.Space.At(i))
		}
		s.seen[i] = s.number
	}
	return nil
}
