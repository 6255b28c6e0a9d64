package simulate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

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

// Run simulates a plan on all cores and returns a curve for every strategy and recording, ordered by strategy.
// The curves depend on the plan alone, to the last bit, not on the number of cores. It is an
// error if a strategy breaks its contract, if the plan is invalid, or if ctx is cancelled.
//
// Parts begin in order, so that only a few pairs of a large plan are in memory at a time.
func Run(ctx context.Context, p Plan) ([]Curve, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	pairs := make([]samples, len(p.Strategies)*len(p.Recordings))
	// errs are those of the parts. The parts before one that has begun are always finished, so the first error does not depend on timing.
	errs := make([]error, len(pairs)*p.parts())
	if p.Traces != nil {
		*p.Traces = make([][]int, len(pairs)*p.Repeats)
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
			var m *moments
			if m, errs[n] = p.run(ctx, &s, part); errs[n] != nil {
				failed.Store(true)
				return
			}
			pairs[part.pair].put(part.number, p.parts(), m)
		}
	}
	workers := cmp.Or(p.Workers, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for range min(workers, len(errs)) {
		wait.Go(work)
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	curves := make([]Curve, len(pairs))
	for i := range pairs {
		strategy, recording := p.pair(i)
		all := pairs[i].all
		curves[i] = Curve{
			Strategy: strategy.Name, Record: recording.Name, Repeats: all.count,
			Mean: all.mean, StandardError: all.standardErrors(), Trust: all.meanTrust(),
		}
	}
	return curves, nil
}

// run does the searches of a part.
func (p *Plan) run(ctx context.Context, s *searcher, part part) (*moments, error) {
	strategy, recording := part.strategy, part.recording
	seeds := newSeeds(p.Seed, strategy.Name, recording)
	m, curve := newMoments(p.MaxEvaluations), make([]float64, p.MaxEvaluations)
	for i := part.first; i < part.end; i++ {
		trusts, err := s.search(ctx, strategy, recording, min(p.MaxEvaluations, len(recording.quality)), max(1, p.Batch), seeds.repeat(i))
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", strategy.Name, recording.Name, err)
		}
		found := 0.0
		for k := range curve { // where the search has ended, the curve stays constant
			if k < len(s.trace) {
				found = max(found, recording.quality[s.trace[k]])
			}
			curve[k] = found
		}
		m.add(curve)
		m.trust(trusts)
		if p.Traces != nil {
			(*p.Traces)[part.pair*p.Repeats+i] = slices.Clone(s.trace)
		}
		if p.OnRepeats != nil {
			p.OnRepeats(1)
		}
	}
	return m, nil
}

// A searcher does one search after another. It is used by one goroutine at a time.
type searcher struct {
	trace  []int // of the last search: indices of configurations
	told   []search.Observation
	seen   []int // by index: the number of the last search that proposed it
	number int   // of this search
}

// search lets a strategy search a recording until it has made so many evaluations or the space is exhausted. It sets the trace, and returns
// what the strategy found the recording's priors to be worth at the end.
func (s *searcher) search(ctx context.Context, of Strategy, r *Recording, evaluations, batch int, seed uint64) ([]search.Trust, error) {
	s.begin(r)
	strategy, err := of.New(r.Space, search.Options{Seed: seed, Budget: evaluations, Objectives: len(r.Objective.All()), Priors: r.Priors})
	if err != nil {
		return nil, err
	}
	defer strategy.Close()
	for len(s.trace) < evaluations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(batch, evaluations-len(s.trace))
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
			s.told = append(s.told, r.Observations[i])
		}
		s.trace = append(s.trace, proposed...)
		strategy.Tell(s.told)
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
		s.seen = make([]int, len(r.quality))
	}
	s.number++
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

// EncodeTraces writes the traces of a plan that was simulated, a line of JSON for each: the configurations in the order of evaluation.
func EncodeTraces(w io.Writer, p Plan) error {
	out := json.NewEncoder(w)
	for i, trace := range *p.Traces {
		strategy, recording := p.pair(i / p.Repeats)
		err := out.Encode(struct {
			Strategy string                `json:"strategy"`
			Record   string                `json:"record"`
			Repeat   int                   `json:"repeat"`
			Trace    []space.Configuration `json:"trace"`
		}{strategy.Name, recording.Name, i % p.Repeats, each.Of(trace, recording.Space.At)})
		if err != nil {
			return err
		}
	}
	return nil
}
