package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

// The final measurement takes finalShare of the time that the results have cost, but at least minFinalBudget milliseconds of kernel
// time, and as many rounds as [Finalists] needs to tell a difference. It takes at most maxFinalBudget milliseconds and maxFinalRounds
// rounds, and at least minFinalRounds. The number of rounds is chosen before the first one: if differences that appear ended the
// measurement, chance would cause more of them than the significance says.
const (
	finalShare     = 0.1
	minFinalBudget = 200
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
	remeasurer, ok := r.evaluator.(Remeasurer)
	n := cmp.Or(r.options.Finalists, defaultFinalists)
	switch {
	case !ok || n < 0:
		return nil
	case ctx.Err() != nil:
		r.outcome.Stop = Interrupted // whatever else it would have been
		return nil
	}
	places := r.finalPlaces(n)
	allFinal := !slices.ContainsFunc(places, func(i int) bool { return !r.outcome.Results[i].isFinalist() })
	if len(places) < 2 || allFinal {
		return nil // nothing is measured twice: the log may hold the final times of all
	}
	configurations, rounds := r.rounds(places, maxFinalBudget)
	_, worthwhile := r.rounds(places, r.finalBudget())
	rounds = min(rounds, max(worthwhile, leastRounds(len(places))))
	var turns []Turns
	var card string
	var err error
	if several, ok := remeasurer.(Cards); ok {
		turns, card, err = RemeasureOnOne(ctx, several, configurations, rounds)
	} else {
		turns, err = remeasurer.Remeasure(ctx, configurations, rounds)
	}
	if ctx.Err() != nil {
		r.outcome.Stop = Interrupted
		return nil
	}
	if err == nil && len(turns) != len(configurations) {
		err = fmt.Errorf("%d configurations were measured, not %d", len(turns), len(configurations))
	}
	if err != nil {
		return fmt.Errorf("measure the best again: %w", err)
	}
	hasTimes := func(result Result) bool { return len(result.Final) > 0 }
	if !slices.ContainsFunc(turns, func(t Turns) bool { return len(t.Times) > 0 }) && slices.ContainsFunc(r.outcome.Results, hasTimes) {
		return nil // all failed this time: the final times of an earlier run stay, as they do in the log
	}
	ForgetFinals(r.outcome.Results) // of an earlier run: not measured in turn with these
	r.newest, r.unkept = nil, true
	for j, i := range places {
		result := &r.outcome.Results[i]
		result.Final, result.FinalFailure, result.FinalDevice = turns[j].Times, turns[j].Reason, card
	}
	return r.observeFinalists(ctx, places, card)
}

// isFinalist reports whether the final measurement measured the result, or failed to.
func (r *Result) isFinalist() bool { return len(r.Final) > 0 || r.FinalFailure != "" }

// finalPlaces returns the places of the n best results, of rivals, of the best of each card, and of the baseline.
func (r *run) finalPlaces(n int) []int {
	ranked := slices.DeleteFunc(bySearch(r.problem.Objective(), r.outcome.Results), func(i int) bool {
		return r.outcome.Results[i].EarlyStopped // far slower than the best, for certain
	})
	if front := r.searchedFront(); len(front) > n {
		n = min(len(front), maxFront)
	}
	places := r.withRivals(ranked, min(n, len(ranked)))
	return r.withBaseline(r.withBestOfCards(places, ranked))
}

// withRivals returns the first n of some places in the order of the search, and those after them that noise hides: they differ from the first
// by less than the launches of one of the two scatter. There are at most n, and the time of the final measurement is enough for them: for as
// many rounds as show a difference, and for their builds.
func (r *run) withRivals(ranked []int, n int) []int {
	o, results, building := r.problem.Objective(), r.outcome.Results, 0.0
	places := slices.Clip(ranked[:n])
	for _, i := range ranked[n:] {
		first, next := &results[ranked[0]], &results[i]
		ratio, known := o.Gain(first.Objective, next.Objective)
		if o.Several() || !known || ratio > 1+max(scatter(first.Times), scatter(next.Times)) {
			continue
		}
		building += float64(next.Durations.Build) / float64(time.Millisecond)
		_, rounds := r.rounds(append(places, i), maxFinalBudget)
		if len(places) == 2*n || rounds < leastRounds(len(places)+1) || building > r.finalBudget() {
			break
		}
		places = append(places, i)
	}
	return places
}

// withBaseline adds the place of the baseline, if it is rankable and not among the places.
func (r *run) withBaseline(places []int) []int {
	if c, ok := r.problem.Baseline(); ok {
		i := slices.IndexFunc(r.outcome.Results, func(result Result) bool { return result.Configuration.Key() == c.Key() })
		if i >= 0 && r.outcome.Results[i].Rankable() && !slices.Contains(places, i) {
			places = append(slices.Clip(places), i)
		}
	}
	return places
}

// finalBudget returns the time of the final measurement in milliseconds of kernel time. The results of the log have cost time, too.
func (r *run) finalBudget() float64 {
	cost := time.Duration(0)
	for i := range r.outcome.Results {
		cost += r.outcome.Results[i].Durations.Total()
	}
	return max(minFinalBudget, finalShare*float64(cost)/float64(time.Millisecond))
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
		settling := float64(changes) * float64(task.SettingWarmup) / float64(time.Millisecond)
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

// searchedFront returns the front by the measurements of the search.
func (r *run) searchedFront() []int {
	o := r.problem.Objective()
	if !o.Several() {
		return nil
	}
	return frontOf(r.outcome.Results, func(result *Result) []float64 { return result.searched(o) })
}

// judgeFinals computes the metrics and the objective of final times that have none: those of this run.
func (r *run) judgeFinals() {
	for i := range r.outcome.Results {
		result := &r.outcome.Results[i]
		if len(result.Final) > 0 && result.AtFinal == nil {
			result.AtFinal = judgeFinal(r.problem, result, r.outcome.Device)
			r.unkept = true
		}
	}
}

// ForgetFinals removes the final measurement from results.
func ForgetFinals(results []Result) {
	for i := range results {
		r := &results[i]
		r.Final, r.FinalFailure, r.AtFinal, r.FinalDevice, r.FinalReadings = nil, "", nil, "", nil
	}
}

// Overtakes reports whether a result that came after a final measurement is better by the search than its winner, which may be nil. Then
// the search has gone on and was interrupted: that final measurement does not name the best any more.
func (r *Result) Overtakes(o judge.Objective, winner *Result) bool {
	return winner != nil && len(winner.Final) > 0 && r.Rankable() && (o.Several() || o.Better(r.Objective, winner.Objective))
}

// keepFinals adds the final measurement to the log, unless the log holds all of it. The winner comes first, so that the log names it even
// if this process ends meanwhile.
func (r *run) keepFinals() error {
	if r.options.Log == nil || !r.unkept {
		return nil
	}
	for _, i := range Rank(r.problem.Objective(), r.outcome.Results).Indices {
		result := r.outcome.Results[i]
		if !result.isFinalist() {
			continue
		}
		if err := r.options.Log.AppendFinal(result); err != nil {
			return fmt.Errorf("keep the final times of %s: %w", result.Configuration, err)
		}
	}
	return nil
}

// judgeFinal computes the metrics and the objective of a result at its final time.
func judgeFinal(p *problem.Problem, result *Result, d hardware.Device) *judge.Judgement {
	judgement, err := p.Judge(result.Configuration, d, judge.StatsOf(result.Final), result.Parts, result.LastReadings())
	if err != nil {
		judgement.Objective, result.FinalFailure = math.NaN(), err.Error() // such a time decides nothing
	}
	return &judgement
}

// A Finalist is a result that the final measurement ranks.
type Finalist struct {
	*Result
	Scatter  float64 // median absolute deviation of the final times, as a share of their median
	Standing Standing
}

// A Standing says whether the final times of a finalist differ from those of the winner.
type Standing string

// The standings. The winner, and a finalist whose launches were not those of the winner's rounds, have none.
const (
	Different         Standing = "different"
	Indistinguishable Standing = "indistinguishable" // noise explains the difference
	TooFewRounds      Standing = "too few rounds"    // no times in so few rounds would prove a difference
)

// significance is the probability of calling any finalist different if all are equally fast.
const significance = 0.05

// Finalists returns the finalists of a run in the order of their [Ranking].
func Finalists(o judge.Objective, results []Result) []Finalist {
	k := Rank(o, results)
	finalists := make([]Finalist, k.Finalists)
	for i, place := range k.Indices[:k.Finalists] {
		r := &results[place]
		finalists[i] = Finalist{Result: r, Scatter: scatter(r.Final)}
		if i > 0 {
			finalists[i].Standing = standing(r.Final, finalists[0].Final, k.Finalists)
		}
	}
	return finalists
}

// scatter returns the median absolute deviation of times, as a share of their median.
func scatter(times []float64) float64 {
	median := judge.StatsOf(times).Median
	return judge.StatsOf(each.Of(times, func(t float64) float64 { return math.Abs(t - median) })).Median / median
}

func pairs(finalists int) int { return finalists * (finalists - 1) / 2 }

// leastRounds returns the number of rounds that prove a difference between some finalists if all rounds agree.
func leastRounds(finalists int) int {
	return int(math.Ceil(math.Log2(2 * float64(pairs(finalists)) / significance)))
}

// standing compares the times of a finalist with those of the winner, round by round, by the two-sided
// sign test (Dixon and Mood, The statistical sign test, JASA 41, 1946). Each round launches both, so that
// drifts of the device's speed cancel out, and the test assumes nothing of the distribution of the times.
//
// The winner is chosen by the same times, so that the comparison could have been that of any two finalists.
// Therefore the bound is divided by the number of all pairs (Dunn, Multiple comparisons among means, JASA
// 56, 1961).
func standing(times, winner []float64, finalists int) Standing {
	if len(times) != len(winner) {
		return ""
	}
	if len(times) < leastRounds(finalists) {
		return TooFewRounds
	}
	bound := significance / float64(pairs(finalists))
	faster, slower := 0, 0
	for i, t := range times {
		switch {
		case t < winner[i]:
			faster++
		case t > winner[i]:
			slower++
		}
	}
	sign := distuv.Binomial{N: float64(faster + slower), P: 0.5}
	if faster+slower == 0 || 2*sign.CDF(float64(min(faster, slower))) > bound {
		return Indistinguishable
	}
	return Different
}
