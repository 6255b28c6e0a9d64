package tune

import (
	"context"
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/tune/space"
)

// The final measurement runs for about finalBudget milliseconds of kernel time, in at
// least minFinalRounds and at most maxFinalRounds rounds.
const (
	finalBudget    = 2000
	minFinalRounds = 3
	maxFinalRounds = 51
)

// measureFinalists measures the best results again, interleaved, where the evaluator can.
func (r *run) measureFinalists(ctx context.Context) error {
	remeasurer, ok := r.evaluator.(Remeasurer)
	n := r.options.Finalists
	if n == 0 {
		n = defaultFinalists
	}
	if !ok || n < 0 || ctx.Err() != nil {
		return nil
	}
	places := slices.DeleteFunc(r.problem.ranked(r.outcome.Results), func(i int) bool {
		return r.outcome.Results[i].EarlyStopped // far slower than the best, for certain
	})
	places = places[:min(n, len(places))]
	if len(places) < 2 || r.alreadyFinal(places) {
		return nil
	}
	var configurations []space.Configuration
	round := 0.0
	for _, i := range places {
		configurations = append(configurations, r.outcome.Results[i].Configuration)
		round += r.outcome.Results[i].Time()
	}
	rounds := int(max(minFinalRounds, min(maxFinalRounds, finalBudget/round)))
	times, err := remeasurer.Remeasure(ctx, configurations, rounds)
	if ctx.Err() != nil {
		r.outcome.Stop = Interrupted
		return nil
	}
	if err == nil && len(times) != len(configurations) {
		err = fmt.Errorf("%d configurations were measured, not %d", len(times), len(configurations))
	}
	if err != nil {
		return fmt.Errorf("measure the best again: %w", err)
	}
	for i := range r.outcome.Results {
		r.outcome.Results[i].Final = nil // of an earlier run: not interleaved with these
	}
	for j, i := range places {
		result := &r.outcome.Results[i]
		result.Final = times[j]
		if r.options.Log != nil && len(times[j]) > 0 {
			if err := r.options.Log.AppendFinal(*result); err != nil {
				return fmt.Errorf("keep the final times of %s: %w", result.Configuration, err)
			}
		}
	}
	return nil
}

// alreadyFinal reports whether all these results come from a log that holds their final
// times: nothing is measured twice.
func (r *run) alreadyFinal(places []int) bool {
	return !slices.ContainsFunc(places, func(i int) bool { return len(r.outcome.Results[i].Final) == 0 })
}

// ranked are the places of all correct results, best first; equal ones in order.
func (p *Problem) ranked(results []Result) []int {
	var places []int
	for i, result := range results {
		if result.Status == Correct && finite(result.Objective) {
			places = append(places, i)
		}
	}
	objective := p.Objective()
	slices.SortStableFunc(places, func(i, j int) int {
		a, b := results[i].Objective, results[j].Objective
		switch {
		case objective.better(a, b):
			return -1
		case objective.better(b, a):
			return 1
		}
		return 0
	})
	return places
}

// Best is the best correct of the results of one run on a device: by the objective at the
// median of the final measurement where there was one, else by the objective. It is nil
// where none is correct.
func (p *Problem) Best(results []Result, d Device) *Result {
	ranked := p.ranked(results)
	if len(ranked) == 0 {
		return nil
	}
	objective := p.Objective()
	winner, best := -1, 0.0
	for _, i := range ranked {
		if len(results[i].Final) == 0 {
			continue
		}
		_, value, err := p.JudgeFinal(&results[i], d)
		if err == nil && (winner < 0 || objective.better(value, best)) {
			winner, best = i, value
		}
	}
	if winner < 0 {
		winner = ranked[0]
	}
	return &results[winner]
}

// JudgeFinal computes the metrics and the objective of a result at its final time.
func (p *Problem) JudgeFinal(result *Result, d Device) ([]MetricValue, float64, error) {
	stats := StatsOf(result.Final)
	return p.judge(result.Configuration, d, stats, stats.Median)
}
