package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/simulate"
)

// searches are repeated searches of a strategy on a recording.
type searches struct {
	strategy string
	on       *recording
	traces   []Trace
}

// searchAll lets each strategy search each recording within the time that its score needs, on all cores. The strategies are not told
// how many evaluations they have. Because the time that a strategy takes is measured, two calls may differ a little.
func searchAll(ctx context.Context, strategies []simulate.Strategy, scorings []*Scoring, repeats int, seed uint64) ([]searches, error) {
	var all []searches
	for _, strategy := range strategies {
		for _, s := range scorings {
			one := searches{strategy.Name, s.recording, make([]Trace, repeats)}
			errs := make([]error, repeats)
			var wait sync.WaitGroup
			running := make(chan struct{}, runtime.GOMAXPROCS(0))
			for i := range repeats {
				running <- struct{}{}
				wait.Go(func() {
					defer func() { <-running }()
					one.traces[i], errs[i] = searchOnce(ctx, strategy, s, rand.New(rand.NewPCG(seed, uint64(i))).Uint64())
				})
			}
			wait.Wait()
			if err := errors.Join(errs...); err != nil {
				return nil, fmt.Errorf("%s on %s: %w", strategy.Name, s.recording.Name, err)
			}
			all = append(all, one)
		}
	}
	return all, nil
}

// searchOnce lets a strategy search until the time is over or the space is exhausted.
func searchOnce(ctx context.Context, of simulate.Strategy, s *Scoring, seed uint64) (Trace, error) {
	r, now, begun := s.recording, 0.0, time.Now()
	strategy, err := of.New(r.Space, search.Options{Seed: seed, Objectives: 1})
	if err != nil {
		return nil, err
	}
	defer strategy.Close()
	var trace Trace
	for now <= s.Budget() && len(trace) < r.Space.Len() {
		proposed, err := search.Ask(ctx, strategy, 1)
		if err != nil {
			return nil, err
		}
		if len(proposed) == 0 {
			break
		}
		i := proposed[0]
		strategy.Tell(r.Observations[i : i+1])
		took := time.Since(begun).Seconds()
		begun = time.Now()
		trace = append(trace, Visit{Index: i, Search: took})
		now += took + r.costs[i]
	}
	if len(trace) == 0 {
		return nil, errors.New("it proposes nothing")
	}
	return trace, nil
}
