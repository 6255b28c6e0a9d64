package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/tune/space"
)

// A Prior is what is known of the same problem elsewhere: on another device, for another size, of an older source. Strategies
// learn from the order of its configurations only, because times on one device say little about those on another one.
type Prior struct {
	Name    string
	Entries []PriorEntry
}

// A PriorEntry is a configuration of a prior. It has a value for every parameter of the space; the values need not be among
// those of the space.
type PriorEntry struct {
	Configuration space.Configuration
	Objective     float64 // to be minimised; meaningless unless Valid
	Valid         bool
}

// A Trust is how far a strategy found that a prior holds.
type Trust struct {
	Name string
	// Agreement is the rank correlation of the prior with the observations, from -1 to 1.
	Agreement float64
	// Dropped says that the agreement is too small for the prior to have a weight in the model.
	Dropped bool
}

// Trusts returns how far the model of a strategy trusts its priors after the observations that it was told of, in their order.
// It returns nil if the strategy has no model or no priors.
func Trusts(s Strategy) []Trust {
	own, ok := s.(*session)
	if !ok {
		return nil
	}
	m, ok := own.proposer.(*modelSearch)
	if !ok || len(m.rankings) == 0 || m.agreement == nil {
		return nil
	}
	trusts := make([]Trust, len(m.rankings))
	for k, r := range m.rankings {
		trusts[k] = Trust{Name: r.name, Agreement: m.agreement[k], Dropped: m.expected[k]*float64(len(trusts)) < leastTrust}
	}
	return trusts
}

// A ranking gives the configurations of a space their scores by the order in a prior: a normal distribution by rank with mean 0 and
// standard deviation 1, in which the worse half is compressed as in [targetsOf]. Failures rank last.
type ranking struct {
	name   string
	space  *space.Space
	scores map[int]float64 // by index
	best   []int           // the configurations of the space that the prior has, the best first

	// For configurations that the prior does not have.
	places     [][]float64 // of some of the prior's entries
	placeScore []float64
	ranges     []float64 // of the coordinates; 0: those of texts
}

const (
	// interpolated is the largest number of a prior's entries from which the scores of other configurations are interpolated,
	// and nearestEntries the number of those that are nearest to one.
	interpolated   = 500
	nearestEntries = 4
)

// newRanking returns the ranking of a prior. It is an error if the prior has nothing that is correct, or lacks a parameter.
func newRanking(s *space.Space, p Prior) (*ranking, error) {
	r := &ranking{name: p.Name, space: s, scores: map[int]float64{}}
	entries := slices.Clone(p.Entries)
	value := func(e PriorEntry) float64 {
		if !e.Valid || math.IsNaN(e.Objective) {
			return math.Inf(1)
		}
		return e.Objective
	}
	slices.SortStableFunc(entries, func(a, b PriorEntry) int { return cmp.Compare(value(a), value(b)) })
	if len(entries) == 0 || math.IsInf(value(entries[0]), 1) {
		return nil, fmt.Errorf("the prior %s has no correct configuration", p.Name)
	}
	for _, q := range s.Parameters().Names() {
		if _, ok := entries[0].Configuration.Get(q); !ok {
			return nil, fmt.Errorf("the prior %s has no parameter %s", p.Name, q)
		}
	}
	scores := make([]float64, len(entries))
	for i := 0; i < len(entries); {
		end := i + 1
		for end < len(entries) && value(entries[end]) == value(entries[i]) {
			end++
		}
		z := math.Sqrt2 * math.Erfinv(float64(i+end)/float64(len(entries))-1)
		if z > 0 {
			z /= 2
		}
		for ; i < end; i++ {
			scores[i] = z
		}
	}
	standardized(scores)
	for i, e := range entries {
		if index, ok := s.Index(e.Configuration); ok {
			if _, twice := r.scores[index]; !twice {
				r.scores[index] = scores[i]
				r.best = append(r.best, index)
			}
		}
	}
	if len(r.scores) < s.Len() {
		r.place(entries, scores)
	}
	return r, nil
}

// place prepares the interpolation between a part of the entries, evenly spaced in their order.
func (r *ranking) place(entries []PriorEntry, scores []float64) {
	p := r.space.Parameters()
	for i := range p.Len() {
		lo, hi := math.Inf(1), math.Inf(-1)
		numbers, ok := numbersOf(p.At(i).Values)
		for _, x := range numbers {
			lo, hi = min(lo, logarithm(x)), max(hi, logarithm(x))
		}
		if !ok || !(hi > lo) {
			lo, hi = 0, 0
		}
		r.ranges = append(r.ranges, hi-lo)
	}
	n := min(len(entries), interpolated)
	for k := range n {
		i := k * len(entries) / n
		r.places = append(r.places, r.placeOf(entries[i].Configuration))
		r.placeScore = append(r.placeScore, scores[i])
	}
}

// logarithm is a logarithm of numbers of any sign.
func logarithm(x float64) float64 { return math.Copysign(math.Log2(1+math.Abs(x)), x) }

// placeOf returns coordinates of a configuration: a text has the place in the parameter's list, -1 if it is not in it.
func (r *ranking) placeOf(c space.Configuration) []float64 {
	p := r.space.Parameters()
	place := make([]float64, p.Len())
	for i := range place {
		v, _ := c.Get(p.At(i).Name)
		if numbers, ok := numbersOf([]space.Value{v}); ok && r.ranges[i] > 0 {
			place[i] = logarithm(numbers[0]) / r.ranges[i]
		} else {
			place[i] = float64(slices.Index(p.At(i).Values, v))
		}
	}
	return place
}

// score returns the score of a configuration: that of the prior, or one from the nearest entries of the prior.
func (r *ranking) score(i int) float64 {
	if s, ok := r.scores[i]; ok {
		return s
	}
	place := r.placeOf(r.space.At(i))
	var nearest [nearestEntries]struct{ distance, score float64 }
	for k := range nearest {
		nearest[k].distance = math.Inf(1)
	}
	for k, other := range r.places {
		d := 0.0
		for q, x := range place {
			switch {
			case r.ranges[q] > 0:
				d += square(x - other[q])
			case x != other[q]:
				d++
			}
		}
		for n := range nearest {
			if d < nearest[n].distance {
				copy(nearest[n+1:], nearest[n:])
				nearest[n].distance, nearest[n].score = d, r.placeScore[k]
				break
			}
		}
	}
	sum, weights := 0.0, 0.0
	for _, e := range nearest {
		w := 1 / (e.distance + 1e-6)
		sum, weights = sum+w*e.score, weights+w
	}
	r.scores[i] = sum / weights
	return r.scores[i]
}

func square(x float64) float64 { return x * x }

// trendAt returns what the priors predict of a configuration, apart from the intercept of the trend.
func (m *modelSearch) trendAt(i int) float64 {
	if m.trend == nil {
		return 0
	}
	y := m.trend[0]
	for k, r := range m.rankings {
		if w := m.trend[k+1]; w > 0 {
			y += w * r.score(i)
		}
	}
	return y
}

// learnTrend learns from targets how far the priors hold, and returns the rest of the targets.
func (m *modelSearch) learnTrend(targets []float64) []float64 {
	if len(m.rankings) == 0 {
		return targets
	}
	basis := make([][]float64, len(m.rankings))
	for k, r := range m.rankings {
		basis[k] = make([]float64, len(m.points))
		for n, i := range m.points {
			basis[k][n] = r.score(i)
		}
	}
	m.agreement = make([]float64, len(m.rankings))
	m.expected = make([]float64, len(m.rankings))
	for k, scores := range basis {
		var own, found []float64
		for n, i := range m.points {
			if _, observed := m.memory.objective(i); observed {
				own, found = append(own, scores[n]), append(found, targets[n])
			}
		}
		m.agreement[k] = rankCorrelation(own, found)
		n := float64(len(own))
		m.expected[k] = max(0, (n*m.agreement[k]+trustPoints*expectedTrust)/(n+trustPoints)) / float64(len(basis))
	}
	n := float64(len(m.memory.observed))
	m.trend = m.models[0].Trend(targets, basis, m.expected, trustSpread, trustHalved/(trustHalved+n))
	return m.withoutTrend(m.points, targets)
}

// expectTrend sets the trend that is expected before anything is learnt from targets, whose mean at the configurations is 0.
func (m *modelSearch) expectTrend(configurations []int) {
	m.trend = slices.Repeat([]float64{expectedTrust / float64(len(m.rankings))}, len(m.rankings)+1)
	m.trend[0] = 0
	mean := 0.0
	for _, i := range configurations {
		mean += m.trendAt(i) / float64(len(configurations))
	}
	m.trend[0] = -mean
}

// rankCorrelation returns Spearman's rank correlation of two samples, 0 if one is constant.
func rankCorrelation(a, b []float64) float64 {
	c := stat.Correlation(ranksOf(a), ranksOf(b), nil)
	if math.IsNaN(c) {
		return 0
	}
	return c
}

// ranksOf returns the ranks of a sample, the mean rank for equal values.
func ranksOf(sample []float64) []float64 {
	order := make([]int, len(sample))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(sample[i], sample[j]) })
	ranks := make([]float64, len(sample))
	for i := 0; i < len(order); {
		end := i + 1
		for end < len(order) && sample[order[end]] == sample[order[i]] {
			end++
		}
		for _, k := range order[i:end] {
			ranks[k] = float64(i+end-1) / 2
		}
		i = end
	}
	return ranks
}

const (
	// A prior is assumed to have the weight expectedTrust before any observation. This counts as much as trustPoints
	// observations, with whose order it agrees by this rank correlation. The likelihood of the targets can change the weight that the
	// rank correlation suggests by about trustSpread. Several priors share the weight.
	expectedTrust, trustPoints = 0.7, 5
	trustSpread                = 0.3

	// After n observations, no weight is above trustHalved / (trustHalved + n): a prior that holds for most configurations may still
	// mislead about the best ones, which the search would then never try (as in Hvarfner et al., «πBO: Augmenting acquisition
	// functions with user beliefs for Bayesian optimization», ICLR 2022).
	trustHalved = 10

	// leastTrust is the expected weight of an only prior below which it is dropped.
	leastTrust = 0.1
)

// withoutTrend returns the targets of configurations without what the priors predict.
func (m *modelSearch) withoutTrend(configurations []int, targets []float64) []float64 {
	rest := make([]float64, len(targets))
	for n, i := range configurations {
		rest[n] = targets[n] - m.trendAt(i)
	}
	return rest
}

// priorTrials is the number of the priors' best configurations that are tried against as many that are spread over the space.
const priorTrials = 3

// A trial compares the best configurations of the priors with configurations that are spread over the space, at the beginning
// of a search. If the priors win, the model takes over. If not, the rest of the initial sample follows, and a prior that misleads has
// cost priorTrials evaluations.
type trial struct {
	best, spread []int // that were proposed
	judged       bool
}

// begin adds the best configurations of the priors to the initial sample, in turn with it.
func (m *modelSearch) begin(spread []int) []int {
	if len(m.rankings) == 0 {
		return spread
	}
	var initial []int
	best := byRanking(m.rankings)
	for k := range min(priorTrials, len(best), len(spread)) {
		if !slices.Contains(spread, best[k]) && !slices.Contains(m.trial.best, best[k]) {
			m.trial.best, initial = append(m.trial.best, best[k]), append(initial, best[k])
		}
		m.trial.spread, initial = append(m.trial.spread, spread[k]), append(initial, spread[k])
	}
	return append(initial, spread[len(m.trial.spread):]...)
}

// judgeTrial ends the initial sample if the trial is over and the priors have won it: each of their configurations is better than
// all those that are spread over the space.
func (m *modelSearch) judgeTrial() {
	if m.trial.judged || len(m.trial.best) < priorTrials {
		return
	}
	lost := 0
	for _, i := range m.trial.best {
		for _, j := range m.trial.spread {
			own, observed := m.memory.objective(i)
			other, observedToo := m.memory.objective(j)
			if !observed || !observedToo {
				return
			}
			if !(own < other) {
				lost++
			}
		}
	}
	m.trial.judged = true
	if lost == 0 {
		m.initial = nil
	}
}

// byRanking returns the configurations that rankings have, the best first, one of each ranking in turn. It may name a
// configuration several times.
func byRanking(rankings []*ranking) []int {
	var order []int
	for place, left := 0, true; left; place++ {
		left = false
		for _, r := range rankings {
			if place < len(r.best) {
				order, left = append(order, r.best[place]), true
			}
		}
	}
	return order
}
