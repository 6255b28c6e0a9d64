package tune

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
)

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
func Finalists(o score.Objective, results []Result) []Finalist {
	k := Rank(o, results)
	finalists := make([]Finalist, k.Finalists)
	for i, place := range k.Indices[:k.Finalists] {
		r := &results[place]
		finalists[i] = Finalist{Result: r, Scatter: Scatter(r.Final)}
		if i > 0 {
			finalists[i].Standing = standing(r.Final, finalists[0].Final, k.Finalists)
		}
	}
	return finalists
}

// Scatter returns the median absolute deviation of times, as a share of their median.
func Scatter(times []float64) float64 {
	median := score.StatsOf(times).Median
	return score.StatsOf(each.Of(times, func(t float64) float64 { return math.Abs(t - median) })).Median / median
}

func pairs(finalists int) int { return finalists * (finalists - 1) / 2 }

// LeastRounds returns the number of rounds that prove a difference between some finalists if all rounds agree.
func LeastRounds(finalists int) int {
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
	if len(times) < LeastRounds(finalists) {
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

// IsFinalist reports whether the final measurement measured the result, or failed to.
func (r *Result) IsFinalist() bool { return len(r.Final) > 0 || r.FinalFailure != "" }

// ForgetFinals removes the final measurement from results.
func ForgetFinals(results []Result) {
	for i := range results {
		r := &results[i]
		r.Final, r.FinalFailure, r.AtFinal, r.FinalDevice, r.FinalReadings = nil, "", nil, "", nil
	}
}

// Overtakes reports whether a result that came after a final measurement is better by the search than its winner, which may be nil. Then
// the search has gone on and was interrupted: that final measurement does not name the best any more.
func (r *Result) Overtakes(o score.Objective, winner *Result) bool {
	return winner != nil && len(winner.Final) > 0 && r.Rankable() && (o.Several() || o.Better(r.Objective, winner.Objective))
}

// JudgeFinal computes the metrics and the objective at the final time. If an expression fails, FinalFailure says why, and the final time
// decides nothing.
func (r *Result) JudgeFinal(p *problem.Problem, d hardware.Device) {
	judgement, err := p.Judge(r.Configuration, d, score.StatsOf(r.Final), r.Parts, r.LastReadings())
	if err != nil {
		judgement.Objective, r.FinalFailure = math.NaN(), err.Error()
	}
	r.AtFinal = &judgement
}
