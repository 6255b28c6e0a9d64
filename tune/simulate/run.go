package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ndtune/ndtune/tune/search"
)

// A limit ends a search.
type limit struct {
	evaluations int     // of different configurations
	seconds     float64 // of the strategy and the evaluations; +Inf: none
}

// A collector takes the traces of a part of the repeats of a pair, in order, and is told when these are all. It is used by one goroutine
// at a time. A trace is valid until add returns.
type collector struct {
	add  func(Trace, []search.Trust)
	done func()
}

// A part has some of the repeats of a pair: those from first to before end.
type part struct {
	pair       int // see [Plan.pair]
	number     int // among the parts of the pair, from 0
	first, end int
	strategy   Strategy
	recording  *Recording
}

// mostParts is the largest number of parts that the repeats of a pair are split into.
const mostParts = 64

// parts returns the number of parts that the repeats of each pair are split into.
func (p *Plan) parts() int { return min(p.Repeats, mostParts) }

// part returns a part by its number among those of all pairs.
func (p *Plan) part(n int) part {
	one := part{pair: n / p.parts(), number: n % p.parts()}
	one.first = p.Repeats * one.number / p.parts()
	one.end = p.Repeats * (one.number + 1) / p.parts()
	one.strategy, one.recording = p.pair(one.pair)
	return one
}

// pair returns the strategy and the recording of pair i, ordered by strategy.
func (p *Plan) pair(i int) (Strategy, *Recording) {
	return p.Strategies[i/len(p.Recordings)], p.Recordings[i%len(p.Recordings)]
}

// run lets each strategy search each recording, as often as the plan says and within the limit on the recording, on all cores. Each part
// of the repeats of a pair has a collector, which collect makes. Parts begin in order, so that only a few pairs of a large plan are in
// memory at a time.
func (p *Plan) run(ctx context.Context, limitOn func(*Recording) limit, collect func(part) collector) error {
	if err := p.check(); err != nil {
		return err
	}
	// errs are those of the parts. The parts before one that has begun are always finished, so the first error does not depend on timing.
	errs := make([]error, len(p.Strategies)*len(p.Recordings)*p.parts())
	if p.Traces != nil {
		*p.Traces = make([]Trace, len(p.Strategies)*len(p.Recordings)*p.Repeats)
	}
	var next atomic.Int64
	var failed atomic.Bool
	work := func() {
		var s searcher
		for {
			n := int(next.Add(1)) - 1
			if n >= len(errs) || failed.Load() {
				return
			}
			part := p.part(n)
			errs[n] = p.runPart(ctx, &s, part, limitOn(part.recording), collect(part))
			if errs[n] != nil {
				failed.Store(true)
				return
			}
		}
	}
	workers := cmp.Or(p.Workers, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for range min(workers, len(errs)) {
		wait.Go(work)
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// runPart does the searches of a part.
func (p *Plan) runPart(ctx context.Context, s *searcher, part part, within limit, c collector) error {
	strategy, recording := part.strategy, part.recording
	seeds := newSeeds(p.Seed, strategy.Name, recording)
	for i := part.first; i < part.end; i++ {
		trusts, err := s.search(ctx, strategy, recording, within, max(1, p.Batch), seeds.repeat(i))
		if err != nil {
			return fmt.Errorf("%s on %s: %w", strategy.Name, recording.Name, err)
		}
		c.add(s.trace, trusts)
		if p.Traces != nil {
			(*p.Traces)[part.pair*p.Repeats+i] = slices.Clone(s.trace)
		}
		if p.OnRepeats != nil {
			p.OnRepeats(1)
		}
	}
	c.done()
	return nil
}

// A searcher does one search after another. It is used by one goroutine at a time.
type searcher struct {
	trace  Trace // of the last search
	told   []search.Observation
	seen   []uint32 // by index: the number of the last search that proposed it
	number uint32   // of this search
}

// search lets a strategy search a recording until the limit is reached or the space is exhausted. It sets the trace, and returns what the
// strategy found the recording's priors to be worth at the end.
func (s *searcher) search(ctx context.Context, of Strategy, r *Recording, within limit, batch int, seed uint64) ([]search.Trust, error) {
	s.begin(r)
	o := search.Options{Seed: seed, Objectives: len(r.Objective.All()), Priors: r.Priors}
	isTimed := !math.IsInf(within.seconds, 1)
	if !isTimed {
		o.Budget = within.evaluations
	}
	begun := time.Now()
	strategy, err := of.New(r.Space, o)
	if err != nil {
		return nil, err
	}
	defer strategy.Close()
	for now := 0.0; now <= within.seconds && len(s.trace) < within.evaluations; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(batch, within.evaluations-len(s.trace))
		proposed, err := search.Ask(ctx, strategy, n)
		if err != nil {
			return nil, err
		}
		if len(proposed) == 0 {
			break
		}
		if err := s.check(proposed, n, r); err != nil {
			return nil, err
		}
		s.told = s.told[:0]
		for _, i := range proposed {
			s.told = append(s.told, r.observations[i])
			s.trace = append(s.trace, Visit{Index: i})
			now += r.costs[i]
		}
		strategy.Tell(s.told)
		if isTimed {
			took := time.Since(begun).Seconds()
			s.trace[len(s.trace)-len(proposed)].Search = took
			now += took
			begun = time.Now()
		}
	}
	if len(s.trace) == 0 {
		return nil, errors.New("it proposes nothing")
	}
	return search.Trusts(strategy), nil
}

// begin forgets the proposals of earlier searches.
func (s *searcher) begin(r *Recording) {
	s.trace = s.trace[:0]
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
