package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/search/gaussian"
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
	// Agreement is the rank correlation of the prior with the observations of the configurations that it has, from -1 to 1.
	Agreement float64
	// Scales says that the model took its length scales from the prior.
	Scales bool
	// Judged says that the best configurations of the priors were compared with others, which are spread over the space, and Won that
	// each of them was better.
	Judged, Won bool
}

// Trusts returns how far a strategy with a model trusts its priors after the observations that it was told of, in their order.
// It returns nil if the strategy has no model or no priors.
func Trusts(s Strategy) []Trust {
	own, ok := s.(*session)
	if !ok {
		return nil
	}
	m, ok := own.proposer.(*modelSearch)
	if !ok {
		return nil
	}
	m.judgeTrial() // the last result may have come after the last proposal
	var trusts []Trust
	for _, r := range m.rankings {
		var there, here []float64
		for _, o := range m.memory.observed {
			if score, has := r.scores[o.Index]; has {
				there, here = append(there, score), append(here, m.memory.known[o.Index])
			}
		}
		trusts = append(trusts, Trust{Name: r.name, Agreement: rankCorrelation(there, here), Scales: r.scales != nil, Judged: m.priors.judged, Won: m.priors.won})
	}
	return trusts
}

// A ranking is the order of a prior's configurations, as scores: a normal distribution by rank with mean 0 and
// standard deviation 1, in which the worse half is compressed as in [targetsOf]. Failures rank last.
type ranking struct {
	name    string
	entries []PriorEntry    // the best first
	score   []float64       // by entry
	scores  map[int]float64 // of the configurations of the space that the prior has
	best    []int           // these configurations, the best first
	scales  []float64       // length scales that predict the prior; nil: none do
}

// newRanking returns the ranking of a prior. It is an error if the prior has nothing that is correct, or lacks a parameter.
func newRanking(s *space.Space, p Prior) (*ranking, error) {
	r := &ranking{name: p.Name, entries: slices.Clone(p.Entries), scores: map[int]float64{}}
	value := func(e PriorEntry) float64 {
		if !e.Valid || math.IsNaN(e.Objective) {
			return math.Inf(1)
		}
		return e.Objective
	}
	slices.SortStableFunc(r.entries, func(a, b PriorEntry) int { return cmp.Compare(value(a), value(b)) })
	if len(r.entries) == 0 || math.IsInf(value(r.entries[0]), 1) {
		return nil, fmt.Errorf("the prior %s has no correct configuration", p.Name)
	}
	for _, q := range s.Parameters().Names() {
		if _, ok := r.entries[0].Configuration.Get(q); !ok {
			return nil, fmt.Errorf("the prior %s has no parameter %s", p.Name, q)
		}
	}
	for _, rank := range ranksOf(each.Of(r.entries, value)) {
		z := math.Sqrt2 * math.Erfinv((2*rank+1)/float64(len(r.entries))-1)
		if z > 0 {
			z /= 2
		}
		r.score = append(r.score, z)
	}
	standardized(r.score)
	for k, e := range r.entries {
		i, ok := s.Index(e.Configuration)
		if !ok && k < nearestTo {
			i, ok = near(s, e.Configuration)
		}
		if _, twice := r.scores[i]; ok && !twice {
			r.scores[i] = r.score[k]
			r.best = append(r.best, i)
		}
	}
	return r, nil
}

// nearestTo is the number of a prior's best configurations that are replaced by the nearest ones of the space if it does not have them.
const nearestTo = 20

// near returns a valid configuration near one with other values. It returns false if a value has no place among those of the
// parameter.
func near(s *space.Space, c space.Configuration) (int, bool) {
	point := make([]float64, s.Parameters().Len())
	for p := range point {
		values := s.Parameters().At(p).Values
		v, _ := c.Get(s.Parameters().At(p).Name)
		axes := axesOf(values)
		if len(axes) == 0 {
			continue
		}
		x, least := described(axes, v), math.Inf(1)
		for k, own := range values {
			if d := apart(x, described(axes, own)); d < least {
				point[p], least = float64(k), d
			}
		}
		if math.IsInf(least, 1) {
			return 0, false
		}
	}
	return s.Nearest(point), true
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
	floats.ArgsortStable(slices.Clone(sample), order)
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
	// scalePoints is the largest number of a prior's entries to which length scales are fitted, and scaleLeast the smallest.
	scalePoints, scaleLeast = 200, 20
	// foretold is the rank correlation from which a model of one half of these entries is found to predict the other half.
	foretold = 0.5
	// priorSpread is the standard deviation of the logarithms of length scales about those of the priors.
	priorSpread = 0.7
)

// learnScales takes the length scales of the model from the priors: they say which parameters matter, and how much the objective changes
// from one value to the next, and do so even if the best configurations are others here. They are taken from a prior only if they predict
// it, because a prior without order would make the model believe that there is none.
func (m *modelSearch) learnScales(kernel gaussian.Kernel) {
	usual := m.features.usual()
	logarithms, count := make([]float64, len(usual)), 0.0
	for _, r := range m.rankings {
		if r.scales = r.fitScales(m.features, kernel, m.rng); r.scales != nil {
			count++
			for k, s := range r.scales {
				logarithms[k] += math.Log(s)
			}
		}
	}
	if count == 0 {
		return
	}
	for k, l := range logarithms {
		usual[k] = math.Exp(l / count)
	}
	m.models[0].Expect(usual, priorSpread)
}

// fitScales returns length scales that are fitted to some of the entries, or nil if those of one half do not predict the other.
func (r *ranking) fitScales(f *features, kernel gaussian.Kernel, rng *rand.Rand) []float64 {
	var x [][]float64
	var y []float64
	n := min(len(r.entries), f.within(scalePoints, fitFeatures))
	for k := range n {
		i := k * len(r.entries) / n
		if features, ok := f.describe(r.entries[i].Configuration); ok {
			x, y = append(x, features), append(y, r.score[i])
		}
	}
	if len(x) < scaleLeast {
		return nil
	}
	rng.Shuffle(len(x), func(i, j int) { x[i], x[j], y[i], y[j] = x[j], x[i], y[j], y[i] })
	half := len(x) / 2
	model := gaussian.New(kernel, f.usual())
	model.Fit(context.Background(), x[:half], y[:half])
	model.Condition(context.Background(), x[:half], x[half:])
	if predicted, _ := model.Means(y[:half]); rankCorrelation(predicted, y[half:]) < foretold {
		return nil
	}
	model.Fit(context.Background(), x, y)
	return model.Scales()
}

const (
	// priorTrials is the number of the priors' best configurations that are tried against as many that are spread over the space.
	priorTrials = 3
	// wonInitial is the number of configurations of the initial sample that follow if the priors win.
	wonInitial = 2
)

// A priorTrial compares the best configurations of the priors with configurations that are spread over the space, at the beginning
// of a search. If the priors win, the model takes over soon. If not, the rest of the initial sample follows, and a prior that misleads
// has cost priorTrials evaluations.
type priorTrial struct {
	best, spread []int // that were proposed
	judged, won  bool
}

// beginTrial adds the best configurations of the priors to the initial sample, in turn with it.
func (m *modelSearch) beginTrial() {
	var initial []int
	spread, best := m.initial, byRanking(m.rankings)
	for k := range min(priorTrials, len(best), len(spread)) {
		if !slices.Contains(spread, best[k]) && !slices.Contains(m.priors.best, best[k]) {
			m.priors.best, initial = append(m.priors.best, best[k]), append(initial, best[k])
		}
		m.priors.spread, initial = append(m.priors.spread, spread[k]), append(initial, spread[k])
	}
	m.initial = append(initial, spread[len(m.priors.spread):]...)
}

// judgeTrial shortens the initial sample if the trial is over and the priors have won it: each of their configurations is better than
// all those that are spread over the space.
func (m *modelSearch) judgeTrial() {
	if m.priors.judged || len(m.priors.best) < priorTrials {
		return
	}
	lost := false
	for _, i := range m.priors.best {
		for _, j := range m.priors.spread {
			own, observed := m.memory.objective(i)
			other, observedToo := m.memory.objective(j)
			if !observed || !observedToo {
				return
			}
			lost = lost || !(own < other)
		}
	}
	m.priors.judged, m.priors.won = true, !lost
	if m.priors.won {
		m.initial = m.initial[:min(len(m.initial), wonInitial)]
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

// String says what a prior was found to be worth.
func (t Trust) String() string {
	text := fmt.Sprintf("prior %s: rank correlation %.2f with the results of the search", t.Name, t.Agreement)
	if t.Scales {
		text += "; said how much each parameter matters"
	}
	switch {
	case t.Won:
		text += "; its best configurations were a good beginning"
	case t.Judged:
		text += "; its best configurations were no better than others"
	}
	return text
}
