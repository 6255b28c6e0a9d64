package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/interp"
	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/tune/simulate"
)

// A Scoring computes the performance score of searches on a recording, by the methodology of Willemsen, Schoonhoven,
// Filipovič, Tørring, van Nieuwpoort and van Werkhoven («A methodology for comparing auto-tuning optimization
// algorithms», Future Generation Computer Systems 159, 2024), as the package autotuning_methodology 1.1 does:
// P(t) = (F(t) - S(t)) / (best - S(t)), where F is the value that the searches have found after the time t, and S the value
// that random sampling is expected to find. The score is the mean of P over equidistant times: 0 is as good as random
// sampling, 1 finds the best configuration at once, and less than 0 is worse than random sampling.
//
// The clock counts the recorded compilation, verification, timed launches and framework of each configuration when it is
// evaluated first, and the time that the strategy itself takes.
type Scoring struct {
	Start, End                       float64 // the scored times, in seconds
	StartEvaluations, EndEvaluations int     // of random sampling, until it has found the values that define the times

	recording *recording
	values    []float64 // of the correct configurations, the best first; minimised
	ranks     []int     // by index: the index of the value in values; -1 for a failure
	times     []float64 // equidistant
	baseline  []float64 // S, at the times
}

const (
	// The scored time begins when random sampling is expected to be this share of the way from the median to the best, and
	// ends at the other one.
	startShare, endShare = 0.01, 0.95
	// scoreTimes is the number of equidistant times.
	scoreTimes = 1000
	// scoreMargin is the share of the scored time for which searches go on after its end.
	scoreMargin = 0.1
	// baggedCurves is the number of curves whose mean is scored. The package has as many as there are searches: its scores
	// differ from call to call.
	baggedCurves = 1000
	// bootstraps is the number of samples of searches that a standard error is computed from, and bootstrapCurves the number of
	// curves for each.
	bootstraps, bootstrapCurves = 50, 25
)

// NewScoring prepares a recording for scores. It is an error if its correct values are all equal, or if it
// holds no times.
func NewScoring(n *recording) (*Scoring, error) {
	s := &Scoring{recording: n, ranks: make([]int, len(n.Observations))}
	for _, o := range n.Observations {
		if o.Valid {
			s.values = append(s.values, o.Objective)
		}
	}
	slices.Sort(s.values)
	for i, o := range n.Observations {
		if s.ranks[i] = -1; o.Valid {
			s.ranks[i] = sort.SearchFloat64s(s.values, o.Objective)
		}
	}
	costs := slices.Sorted(slices.Values(n.costs))
	typical := median(costs)
	if !(typical > 0) {
		return nil, errors.New("it does not say how long its evaluations took, which a score needs")
	}
	if err := s.limit(typical); err != nil {
		return nil, err
	}
	s.times = floats.Span(make([]float64, scoreTimes), s.Start, s.End)
	return s, s.sample()
}

// limit computes the scored time, for the median time of an evaluation.
func (s *Scoring) limit(typical float64) error {
	var err error
	if s.StartEvaluations, err = s.evaluationsTo(startShare); err != nil {
		return err
	}
	if s.EndEvaluations, err = s.evaluationsTo(endShare); err != nil {
		return err
	}
	if s.EndEvaluations-s.StartEvaluations < 2 { // too short to be scored
		if s.StartEvaluations == 0 {
			s.EndEvaluations += 2
		} else {
			s.EndEvaluations++
			s.StartEvaluations--
		}
	}
	s.Start, s.End = float64(s.StartEvaluations)*typical, float64(s.EndEvaluations)*typical
	return nil
}

// evaluationsTo returns the number of evaluations after which random sampling is expected to have found a value that is a
// share of the way from the median to the best.
func (s *Scoring) evaluationsTo(share float64) (int, error) {
	n, best := len(s.values), s.values[0]
	target := best + (median(s.values)-best)*(1-share)
	within := sort.Search(n, func(k int) bool { return s.values[k] > target }) // values that reach the target
	i := n - within                                                            // the first of them, counted from the worst
	if s.values[within-1] == best {
		if i == 0 {
			return 0, errors.New("all its correct values are equal: there is nothing to find")
		}
		i--
	}
	return int(math.Ceil(float64(i) / float64(n+1-i))), nil
}

// sample computes the values that random sampling is expected to find: after k of N evaluations, the value whose rank from the
// worst is k(N+1)/(k+1), interpolated by a monotonic cubic.
func (s *Scoring) sample() error {
	each := s.recording.meanCost()
	n := len(s.values)
	found := func(k float64) float64 {
		i := min(n-1, int(math.RoundToEven(k*float64(n+1)/(k+1))))
		return s.values[n-1-i]
	}
	var counts, values []float64
	last := 0.0
	for _, t := range s.times {
		k := math.RoundToEven(max(t/each, 1))
		if k > last {
			counts, values, last = append(counts, k), append(values, found(k)), k
		}
	}
	s.baseline = make([]float64, len(s.times))
	if len(counts) < 3 {
		for i, t := range s.times {
			s.baseline[i] = found(math.RoundToEven(max(t/each, 1)))
		}
	} else {
		var curve interp.FritschButland
		if err := curve.Fit(counts, values); err != nil {
			return fmt.Errorf("interpolate the values of random sampling: %w", err)
		}
		for i, k := range floats.Span(make([]float64, len(s.times)), counts[0], last) {
			s.baseline[i] = curve.Predict(k)
		}
	}
	if slices.Contains(s.baseline, s.values[0]) {
		return errors.New("random sampling finds the best value within the scored time: the record is too small for a score")
	}
	return nil
}

// meanCost returns the mean time of an evaluation that finds a value: to that of a correct configuration, the methodology
// adds that of a failure by the share of the failures.
func (n *recording) meanCost() float64 {
	var valid, failed float64
	for i, o := range n.Observations {
		if o.Valid {
			valid += n.costs[i]
		} else {
			failed += n.costs[i]
		}
	}
	return valid/float64(n.Correct) + failed/float64(len(n.Observations))
}

// Budget returns the time that a search has, in seconds: it ends a little after the scored time.
func (s *Scoring) Budget() float64 { return s.End * (1 + scoreMargin) }

// A Score is the performance score of a strategy on a recording.
type Score struct {
	Strategy, Record string
	Repeats          int
	Mean             float64
	StandardError    float64 // NaN if there is only one repeat

	// Evaluations is the mean number of configurations that a search evaluated, and Search the mean time that the strategy
	// itself took for a search, in seconds.
	Evaluations, Search float64
}

// Score returns the score of searches. The standard error is that of bootstrap samples of the searches. It is an error if none
// of the searches has found a correct configuration in the scored time.
func (s *Scoring) Score(strategy string, traces []Trace) (Score, error) {
	score := Score{Strategy: strategy, Record: s.recording.Name, Repeats: len(traces), StandardError: math.NaN()}
	for _, t := range traces {
		evaluations, search := t.total()
		score.Evaluations += float64(evaluations) / float64(len(traces))
		score.Search += search / float64(len(traces))
	}
	f := s.newFinds(traces)
	score.Mean = f.score(slices.Repeat([]int{1}, len(f.ends)), baggedCurves)
	if math.IsNaN(score.Mean) {
		return score, fmt.Errorf("no search found a correct configuration in the scored time, from %.3gs to %.3gs", f.Start, f.End)
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(traces))))
	sample := make([]float64, 0, bootstraps)
	for range bootstraps {
		weights := make([]int, len(traces))
		for range traces {
			weights[rng.IntN(len(traces))]++
		}
		if p := f.score(weights, bootstrapCurves); !math.IsNaN(p) {
			sample = append(sample, p)
		}
	}
	if len(traces) > 1 {
		score.StandardError = stat.StdDev(sample, nil)
	}
	return score, nil
}

// finds are the best values of repeated searches over time.
type finds struct {
	*Scoring
	list []find    // by time
	ends []float64 // by search: when it proposed its last configuration; NaN if it found no correct one
}

// A find is the rank of the best configuration that a search has found until a time.
type find struct {
	time   float64
	rank   float64
	search int
}

// newFinds returns the finds of searches within the scored time and a margin on both sides.
func (s *Scoring) newFinds(traces []Trace) *finds {
	f := &finds{Scoring: s, ends: make([]float64, len(traces))}
	steps := map[int]bool{} // at which a search had found a correct configuration
	for search, trace := range traces {
		best, f0 := math.Inf(1), math.NaN()
		trace.clock(s.recording, func(step int, now float64, index int) {
			if r := s.ranks[index]; r >= 0 {
				best = min(best, float64(r))
			}
			if !math.IsInf(best, 1) {
				f.list = append(f.list, find{now, best, search})
				steps[step], f0 = true, now
			}
		})
		f.ends[search] = f0
	}
	margin := 0.1 + 0.25/float64(len(steps))
	f.list = slices.DeleteFunc(f.list, func(x find) bool { return x.time < s.Start*(1-margin) || x.time > s.End*(1+margin) })
	slices.SortStableFunc(f.list, func(a, b find) int { return cmp.Compare(a.time, b.time) })
	return f
}

// score returns the score of the searches, each counted as often as its weight says, from a mean of so many curves. As in the
// package, a curve is the isotonic regression of a random sample of the finds, whose share is the inverse of the square root of
// the number of searches (Breiman, «Bagging predictors», Machine Learning 24, 1996). It returns NaN if there are no finds.
func (f *finds) score(weights []int, curves int) float64 {
	var drawn []int // finds, each as often as its search counts
	searches := 0
	for i, x := range f.list {
		drawn = append(drawn, slices.Repeat([]int{i}, weights[x.search])...)
	}
	for _, w := range weights {
		searches += w
	}
	if len(drawn) == 0 {
		return math.NaN()
	}
	size := max(1, int(float64(len(drawn))/math.Sqrt(float64(max(searches, 3)))))
	rng := rand.New(rand.NewPCG(2, uint64(len(drawn))))
	ranks, counts := make([]float64, len(f.times)), make([]int, len(f.list))
	for range curves {
		clear(counts)
		for range size {
			counts[drawn[rng.IntN(len(drawn))]]++
		}
		floats.AddScaled(ranks, 1/float64(curves), f.ranksAt(f.isotonic(counts)))
	}
	return f.scoreOf(ranks, weights)
}

// scoreOf returns the score of ranks at the times.
func (f *finds) scoreOf(ranks []float64, weights []int) float64 {
	total, end := 0.0, f.stop(weights)
	for i := range ranks {
		if i > 0 && f.times[i-1] > end {
			ranks[i] = ranks[i-1] // too few searches go on
		}
		rank := min(max(int(math.RoundToEven(ranks[i])), 0), len(f.values)-1)
		total += (f.values[rank] - f.baseline[i]) / (f.values[0] - f.baseline[i])
	}
	return total / float64(len(ranks))
}

// ranksAt returns the ranks of a curve at the times.
func (f *finds) ranksAt(curve []find) []float64 {
	ranks, at := make([]float64, len(f.times)), 0
	for i, t := range f.times {
		for at < len(curve)-1 && curve[at+1].time <= t {
			at++
		}
		ranks[i] = curve[at].rank
		if next := at + 1; t > curve[at].time && next < len(curve) {
			ranks[i] += (curve[next].rank - ranks[i]) * (t - curve[at].time) / (curve[next].time - curve[at].time)
		}
	}
	return ranks
}

// stop returns the time after which too few searches go on: the first end after the median end.
func (f *finds) stop(weights []int) float64 {
	var ends []float64
	for search, w := range weights {
		if !math.IsNaN(f.ends[search]) {
			ends = append(ends, slices.Repeat([]float64{f.ends[search]}, w)...)
		}
	}
	slices.Sort(ends)
	middle := median(ends)
	for _, e := range ends {
		if e > middle {
			return e
		}
	}
	return f.End
}

// isotonic returns the ranks over time that fall, or stay, and have the least squared distance from the finds, each counted
// so often, by the pool-adjacent-violators algorithm (Barlow, Bartholomew, Bremner and Brunk, «Statistical inference under
// order restrictions», 1972). Between its points, the curve is linear.
func (f *finds) isotonic(counts []int) []find {
	type block struct {
		rank, weight float64
		first, last  float64 // times
	}
	var blocks []block
	for i := 0; i < len(f.list); {
		b := block{first: f.list[i].time, last: f.list[i].time}
		for ; i < len(f.list) && f.list[i].time == b.last; i++ { // of the same time
			w := float64(counts[i])
			b.rank, b.weight = b.rank+f.list[i].rank*w, b.weight+w
		}
		if b.weight == 0 {
			continue
		}
		b.rank /= b.weight
		for n := len(blocks); n > 0 && blocks[n-1].rank <= b.rank; n = len(blocks) {
			before := blocks[n-1]
			b.rank = (before.rank*before.weight + b.rank*b.weight) / (before.weight + b.weight)
			b.weight, b.first = before.weight+b.weight, before.first
			blocks = blocks[:n-1]
		}
		blocks = append(blocks, b)
	}
	var curve []find
	for _, b := range blocks {
		curve = append(curve, find{time: b.first, rank: b.rank})
		if b.last > b.first {
			curve = append(curve, find{time: b.last, rank: b.rank})
		}
	}
	return curve
}

// median returns the median of sorted values, NaN if there are none.
func median(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// AverageScores returns the mean of each strategy's scores over the records, in the order of the strategies' first scores. Each
// record has the same weight.
func AverageScores(scores []Score) []Score {
	var averages []Score
	count := map[string]int{}
	for _, s := range scores {
		count[s.Strategy]++
	}
	for _, s := range scores {
		k := slices.IndexFunc(averages, func(a Score) bool { return a.Strategy == s.Strategy })
		if k < 0 {
			k = len(averages)
			averages = append(averages, Score{Strategy: s.Strategy, Record: simulate.AllRecords, Repeats: s.Repeats})
		}
		a, n := &averages[k], float64(count[s.Strategy])
		a.Repeats = min(a.Repeats, s.Repeats)
		a.Mean += s.Mean / n
		a.StandardError = math.Hypot(a.StandardError, s.StandardError/n)
		a.Evaluations += s.Evaluations / n
		a.Search += s.Search / n
	}
	return averages
}
