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

// Run simulates a plan and returns a curve for every strategy and recording, those of one
// strategy together. The curves depend on the plan alone, to the last bit: not on the number
// of cores. An error says which strategy broke its promises, and on what; a cancelled
// context is an error, too.
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
	for range min(workers, len(r.pairs)*r.parts) {
		wait.Go(r.work)
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.failed != nil {
		return nil, r.failed
	}
	curves := make([]Curve, len(r.pairs))
	for i := range r.pairs {
		curves[i] = r.pairs[i].curve
	}
	return curves, nil
}

// mostParts is how many parts the repeats of a pair are done in at most.
const mostParts = 64

// A run is the work of one Run. Workers take parts in order, so that of a plan of many pairs
// only a few are in memory at a time.
type run struct {
	plan  Plan
	pairs []pair
	parts int // of each pair
	next  atomic.Int64

	stopped  atomic.Bool // nobody waits for the result any more
	mutex    sync.Mutex
	failedAt int // the first part that failed, and why
	failed   error
}

// A pair is one strategy on one recording.
type pair struct {
	strategy  Strategy
	recording *Recording
	seeds     seeds

	mutex sync.Mutex
	done  []*moments // by part
	left  int        // parts
	curve Curve
}

func newRun(p Plan) *run {
	p.Batch = max(1, p.Batch)
	r := &run{plan: p, pairs: make([]pair, len(p.Strategies)*len(p.Recordings)), parts: min(p.Repeats, mostParts)}
	for i := range r.pairs {
		q := &r.pairs[i]
		q.strategy, q.recording = p.Strategies[i/len(p.Recordings)], p.Recordings[i%len(p.Recordings)]
		q.seeds = newSeeds(p.Seed, q.strategy.Name, q.recording)
		q.left = r.parts
	}
	return r
}

// work does parts until none is left, or one has failed.
func (r *run) work() {
	s := &searcher{batch: r.plan.Batch, stopped: &r.stopped, curve: make([]float64, r.plan.MaxEvaluations)}
	for {
		n := int(r.next.Add(1)) - 1
		if n >= len(r.pairs)*r.parts || r.hasFailed() {
			return
		}
		q, part := &r.pairs[n/r.parts], n%r.parts
		first, end := r.plan.Repeats*part/r.parts, r.plan.Repeats*(part+1)/r.parts
		m, err := q.repeat(s, first, end)
		if err != nil {
			r.fail(n, fmt.Errorf("%s on %s: %w", q.strategy.Name, q.recording.name, err))
			return
		}
		q.finish(part, r.parts, m)
		if r.plan.OnRepeats != nil {
			r.plan.OnRepeats(end - first)
		}
	}
}

// repeat does the searches from first up to end.
func (q *pair) repeat(s *searcher, first, end int) (*moments, error) {
	m := newMoments(len(s.curve))
	for i := first; i < end; i++ {
		o := search.Options{Seed: q.seeds.repeat(i), Budget: min(len(s.curve), q.recording.space.Len())}
		strategy, err := q.strategy.New(q.recording.space, o)
		if err == nil {
			err = s.run(strategy, q.recording)
			strategy.Close()
		}
		if err != nil {
			return nil, err
		}
		m.add(s.curve)
	}
	return m, nil
}

// finish keeps a part, and makes the curve when it was the last one.
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
		Strategy: q.strategy.Name, Record: q.recording.name, Repeats: all.count,
		Mean: all.mean, StandardError: all.standardErrors(),
	}
}

func (r *run) hasFailed() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.failed != nil
}

// fail notes the failure of the earliest part. Those before it were begun before it and are
// done to their end, so that it is the same one every time.
func (r *run) fail(part int, err error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if errors.Is(err, errStopped) {
		return
	}
	if r.failed == nil || part < r.failedAt {
		r.failed, r.failedAt = err, part
	}
}
