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
	minFinalRounds = 7
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
	places := r.ranked()
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

// ranked are the places of all correct results, best first; equal ones in order of arrival.
func (r *run) ranked() []int {
	var places []int
	for i, result := range r.outcome.Results {
		if result.Status == Correct && finite(result.Objective) {
			places = append(places, i)
		}
	}
	objective := r.problem.Objective()
	slices.SortStableFunc(places, func(i, j int) int {
		a, b := r.outcome.Results[i].Objective, r.outcome.Results[j].Objective
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

// best is the best correct result: by the objective at the median of the final
// measurement where there was one, else by the objective.
func (r *run) best() *Result {
	ranked := r.ranked()
	if len(ranked) == 0 {
		return nil
	}
	objective := r.problem.Objective()
	winner, best := -1, 0.0
	for _, i := range ranked {
		result := &r.outcome.Results[i]
		if len(result.Final) == 0 {
			continue
		}
		_, value, err := r.problem.JudgeFinal(result, r.outcome.Device)
		if err == nil && (winner < 0 || objective.better(value, best)) {
			winner, best = i, value
		}
	}
	if winner < 0 {
		winner = ranked[0]
	}
	return &r.outcome.Results[winner]
}

// JudgeFinal computes the metrics and the objective of a result at its final time.
func (p *Problem) JudgeFinal(result *Result, d Device) ([]MetricValue, float64, error) {
	stats := StatsOf(result.Final)
	return p.judge(result.Configuration, d, stats, stats.Median)
}
