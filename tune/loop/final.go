package loop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// The final measurement takes finalShare of the time of the search, but at least minFinalBudget milliseconds of kernel time, and as many
// rounds as [tune.LeastRounds] says that a difference needs, if maxFinalBudget allows so many. If the results have cost less than
// smallSearch milliseconds, it takes smallBudget milliseconds, even if that is too little to tell a difference. It takes at most
// maxFinalBudget milliseconds and maxFinalRounds rounds, and at least minFinalRounds. The number of rounds is chosen before the first one:
// if differences that appear ended the measurement, chance would cause more of them than the significance says.
const (
	finalShare     = 0.1
	minFinalBudget = 200
	smallSearch    = 3000
	smallBudget    = 100
	maxFinalBudget = 2000
	minFinalRounds = 3
	maxFinalRounds = 51
	// settleBudget is the time in milliseconds in which the device may follow changes of its settings.
	settleBudget = 6000
	// maxFront is the largest number of configurations of a front that the final measurement measures.
	maxFront = 50
)

// measureFinalists measures the best results and the baseline again, in turn, if the evaluator can. If several cards
// took part in the search, one of them measures all finalists.
func (r *run) measureFinalists(ctx context.Context) error {
	n := cmp.Or(r.options.Finalists, defaultFinalists)
	switch {
	case r.remeasurer == nil || n < 0:
		return nil
	case ctx.Err() != nil:
		r.outcome.Stop = tune.Interrupted // whatever else it would have been
		return nil
	}
	places := r.finalPlaces(n)
	allFinal := !slices.ContainsFunc(places, func(i int) bool { return !r.outcome.Results[i].IsFinalist() })
	if len(places) < 2 || allFinal {
		return nil // nothing is measured twice: the log may hold the final times of all
	}
	budget, most := r.finalBudget()
	configurations, rounds := r.rounds(places, most)
	_, worthwhile := r.rounds(places, budget)
	if least := tune.LeastRounds(len(places)); least <= rounds {
		worthwhile = max(worthwhile, least)
	}
	rounds = min(rounds, worthwhile)
	turns, card, err := tune.RemeasureOnOne(ctx, r.remeasurer, configurations, rounds)
	if ctx.Err() != nil {
		r.outcome.Stop = tune.Interrupted
		return nil
	}
	if err == nil && len(turns) != len(configurations) {
		err = fmt.Errorf("%d configurations were measured, not %d", len(turns), len(configurations))
	}
	if err != nil {
		return fmt.Errorf("measure the best again: %w", err)
	}
	hasTimes := func(result tune.Result) bool { return len(result.Final) > 0 }
	if !slices.ContainsFunc(turns, func(t tune.Turns) bool { return len(t.Times) > 0 }) && slices.ContainsFunc(r.outcome.Results, hasTimes) {
		return nil // all failed this time: the final times of an earlier run stay, as they do in the log
	}
	tune.ForgetFinals(r.outcome.Results) // of an earlier run: not measured in turn with these
	r.newest, r.unkept = nil, true
	for j, i := range places {
		result := &r.outcome.Results[i]
		result.Final, result.FinalFailure, result.FinalDevice = turns[j].Times, turns[j].Reason, card
	}
	return r.observeFinalists(ctx, places, card)
}

// finalPlaces returns the places of the n best results, of rivals, of the best of each card, and of the baseline.
func (r *run) finalPlaces(n int) []int {
	ranked := slices.DeleteFunc(tune.BySearch(r.problem.Objective(), r.outcome.Results), func(i int) bool {
		return r.outcome.Results[i].EarlyStopped // far slower than the best, for certain
	})
	if front := tune.SearchFront(r.problem.Objective(), r.outcome.Results); len(front) > n {
		n = min(len(front), maxFront)
	}
	places := r.withRivals(ranked, min(n, len(ranked)))
	return r.withBaseline(r.withBestOfCards(places, ranked))
}

// withRivals returns the first n of some places in the order of the search, and those after them that noise hides: they differ from the first
// by less than the launches of one of the two scatter. There are at most n, and the time of the final measurement is enough for them: for as
// many rounds as show a difference, and for their builds.
func (r *run) withRivals(ranked []int, n int) []int {
	o, results, building := r.problem.Objective(), r.outcome.Results, time.Duration(0)
	_, most := r.finalBudget()
	places := slices.Clip(ranked[:n])
	for _, i := range ranked[n:] {
		first, next := &results[ranked[0]], &results[i]
		ratio, known := o.Gain(first.Objective, next.Objective)
		if o.Several() || !known || ratio > 1+max(tune.Scatter(first.Times), tune.Scatter(next.Times)) {
			continue
		}
		building += next.Durations.Build
		_, rounds := r.rounds(append(places, i), most)
		if len(places) == 2*n || rounds < tune.LeastRounds(len(places)+1) || float64(building) > finalShare*float64(r.allCost()) {
			break
		}
		places = append(places, i)
	}
	return places
}

// withBaseline adds the place of the baseline, if it is rankable and not among the places.
func (r *run) withBaseline(places []int) []int {
	if c, ok := r.problem.Baseline(); ok {
		i := slices.IndexFunc(r.outcome.Results, func(result tune.Result) bool { return result.Configuration.Key() == c.Key() })
		if i >= 0 && r.outcome.Results[i].Rankable() && !slices.Contains(places, i) {
			places = append(slices.Clip(places), i)
		}
	}
	return places
}

// finalBudget returns the time of the final measurement in milliseconds of kernel time, and the most that rounds which tell a difference may
// take. The results of the log have cost time, too: how many workers shared it is not known. Those of this run have cost no more than it took.
func (r *run) finalBudget() (budget, most float64) {
	cost := r.allCost()
	if cost < smallSearch*time.Millisecond {
		return smallBudget, smallBudget
	}
	spent := cost - r.cost + min(r.cost, time.Since(r.started))
	return max(minFinalBudget, finalShare*float64(spent)/float64(time.Millisecond)), maxFinalBudget
}

// allCost returns the sum of what all results have cost.
func (r *run) allCost() (cost time.Duration) {
	for i := range r.outcome.Results {
		cost += r.outcome.Results[i].Durations.Total()
	}
	return cost
}

// rounds returns the configurations at some places, and the number of rounds that take about a budget of
// milliseconds.
func (r *run) rounds(places []int, budget float64) (configurations []space.Configuration, rounds int) {
	round := 0.0
	for _, i := range places {
		configurations = append(configurations, r.outcome.Results[i].Configuration)
		round += r.outcome.Results[i].Time()
	}
	rounds = int(max(minFinalRounds, min(maxFinalRounds, budget/round)))
	if changes := r.changes(configurations); changes > 1 {
		settling := float64(changes) * float64(definition.SettingWarmup) / float64(time.Millisecond)
		rounds = max(minFinalRounds, min(rounds, int(settleBudget/settling)))
	}
	return configurations, rounds
}

// changes returns the number of different settings of the device that configurations have.
func (r *run) changes(configurations []space.Configuration) int {
	different := map[string]bool{}
	for _, c := range configurations {
		if all, err := r.problem.Settings(c, r.outcome.Device); err == nil {
			different[fmt.Sprint(all)] = true
		}
	}
	return len(different)
}

// judgeFinals computes the metrics and the objective of final times that have none: those of this run.
func (r *run) judgeFinals() {
	for i := range r.outcome.Results {
		result := &r.outcome.Results[i]
		if len(result.Final) > 0 && result.AtFinal == nil {
			result.JudgeFinal(r.problem, r.outcome.Device)
			r.unkept = true
		}
	}
}

// keepFinals adds the final measurement to the log, unless the log holds all of it. The winner comes first, so that the log names it even
// if this process ends meanwhile.
func (r *run) keepFinals() error {
	if r.options.Log == nil || !r.unkept {
		return nil
	}
	for _, i := range tune.Rank(r.problem.Objective(), r.outcome.Results).Indices {
		result := r.outcome.Results[i]
		if !result.IsFinalist() {
			continue
		}
		if err := r.options.Log.AppendFinal(result); err != nil {
			return fmt.Errorf("keep the final times of %s: %w", result.Configuration, err)
		}
	}
	return nil
}

// withBestOfCards adds the best result of each card, at most as many as there are places: a configuration is not lost because
// a slow card measured it.
func (r *run) withBestOfCards(places []int, ranked []int) []int {
	seen, most := map[string]bool{}, 2*len(places)
	for _, i := range ranked {
		card := r.outcome.Results[i].Device
		if !seen[card] && !slices.Contains(places, i) && len(places) < most {
			places = append(slices.Clip(places), i)
		}
		seen[card] = true
	}
	return places
}
