package search

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/search/gaussian"
	"github.com/ndtune/ndtune/tune/space"
)

const (
	// modelPool is the largest number of candidates: all configurations of a space that has no
	// more, else a random sample and the neighbours of the best.
	modelPool = 10_000
	// modelPoints is the largest number of observations that the model is conditioned on: if
	// there are more, half of them are the best ones, the others a random sample.
	modelPoints = 400
	// fitPoints is the largest number of observations that the length scales are fitted to.
	fitPoints = 200
	// A fit takes a time that grows with the square of points times features, so that many features mean fewer points: of more than
	// half as many features as this, the length scales stay. So it is with candidates.
	fitFeatures, poolFeatures = 8_000, 1_000_000
	// bestCentres is the number of best configurations whose neighbours become candidates.
	bestCentres = 10
	// leastValid is the smallest probability of being valid that the model assumes.
	leastValid = 0.01
)

// A modelSearch proposes the configuration that is worth most by a Gaussian process model of the
// objective (Jones et al., «Efficient global optimization of expensive black-box functions»,
// Journal of Global Optimization 13, 1998). The model believes its own prediction of
// a configuration without an observation (Ginsbourger et al., «Kriging is well-suited to
// parallelize optimization», 2010), the one of this moment, not that of the proposal (Desautels, Krause and Burdick, «Parallelizing
// exploration-exploitation tradeoffs in Gaussian process bandit optimization», JMLR 15, 2014). It learns from failures which
// configurations may fail.
//
// With several objectives, each has a model of its own, and a configuration is worth the hypervolume by which it is
// expected to improve the front: see [improvement].
type modelSearch struct {
	setting
	features *features
	models   []*gaussian.Process // by objective
	acquire  acquisition         // of a single objective
	local    int                 // of a single objective: every local-th proposal is a neighbour of the best; 0: none is
	from     int                 // the proposal from which local applies

	priors    priorTrial
	initial   []int       // proposed before the model is asked
	further   []int       // proposed after them while hardly anything is observed: many evaluators may ask at once
	pool      []int       // the candidates, by their place in the model
	placeOf   map[int]int // the inverse of pool
	points    []int       // the configurations that the models are conditioned on: those without an observation last, in order of their proposals
	fitAt     int         // number of observations at which the models are fitted again
	proposals int
}

// A prediction is what a model predicts of the candidates, given the targets of the points.
type prediction struct {
	targets   []float64 // by point, observed or believed
	constant  float64   // that the function varies about
	rest      []float64 // the targets without the constant; NaN without an observation
	means     []float64 // by place in the pool
	deviation float64   // of the function
	left      []float64 // by place in the pool: the remaining variance, relative to that of the function
}

// deviationAt returns the standard deviation of the prediction for a candidate.
func (p *prediction) deviationAt(place int) float64 {
	return p.deviation * math.Sqrt(max(p.left[place], 0))
}

// newModelSearch returns a model search that begins with initial configurations, which are spread over the space.
func newModelSearch(s setting, kernel gaussian.Kernel, initial int, a acquisition) *modelSearch {
	m := &modelSearch{setting: s, features: newFeatures(s.space), acquire: a}
	for range s.objectives {
		m.models = append(m.models, gaussian.New(kernel, m.features.usual()))
	}
	spread := m.features.spread(s.space.Sample(spreadOf, s.rng), max(initial, spreadMost))
	m.initial, m.further = spread[:min(initial, len(spread))], spread[min(initial, len(spread)):]
	if len(s.rankings) > 0 {
		m.learnScales(kernel)
		m.beginTrial()
	}
	return m
}

// next claims one configuration.
func (m *modelSearch) next() (int, bool) {
	for m.judgeTrial(); len(m.initial) > 0; {
		i := m.initial[0]
		m.initial = m.initial[1:]
		if m.memory.claim(i) {
			return i, true
		}
	}
	if len(m.memory.observed) < 2 { // too few to condition a model on
		for _, i := range m.further {
			if m.memory.claim(i) {
				return i, true
			}
		}
		return m.memory.draw()
	}
	if m.pool == nil || len(m.memory.observed) >= m.fitAt {
		m.fit()
	}
	predictions := m.predict()
	m.proposals++
	i := -1
	if m.local > 0 && m.proposals >= m.from && m.proposals%m.local == 0 {
		i = m.nearBest(predictions[0])
	}
	if i < 0 {
		i = m.mostPromising(predictions)
	}
	ok := i >= 0 && m.memory.claim(i)
	if !ok {
		i, ok = m.memory.draw()
	}
	if ok {
		m.add(i)
	}
	return i, ok
}

// predict returns the prediction for each objective.
func (m *modelSearch) predict() []*prediction {
	predictions := make([]*prediction, len(m.models))
	for k, model := range m.models {
		p := &prediction{rest: m.targets(k), left: model.Left()}
		p.constant = model.Constant(p.rest)
		floats.AddConst(-p.constant, p.rest)
		p.targets = model.Complete(p.rest)
		floats.AddConst(p.constant, p.targets)
		if p.means, p.deviation = model.Means(p.rest); p.deviation == 0 {
			p.deviation = 1 // all targets are equal so far
		}
		floats.AddConst(p.constant, p.means)
		predictions[k] = p
	}
	return predictions
}

// predictor returns a function that returns the predicted target of a configuration in an objective.
func (m *modelSearch) predictor(k int, p *prediction) func(i int) float64 {
	weights := sync.OnceValue(func() []float64 { return m.models[k].Weights(p.rest) })
	return func(i int) float64 {
		if place, ok := m.placeOf[i]; ok {
			return p.means[place]
		}
		return p.constant + m.models[k].Mean(m.features.at(i), weights())
	}
}

// add conditions the models on a configuration.
func (m *modelSearch) add(i int) {
	m.points = append(m.points, i)
	x := m.features.at(i)
	for _, model := range m.models {
		model.Add(x)
	}
}

func (m *modelSearch) observe(o Observation) {
	if m.pool != nil && !slices.Contains(m.points, o.Index) { // else fit reads the memory
		m.add(o.Index)
	}
}

// targets returns the target of each point in an objective, NaN without an observation.
func (m *modelSearch) targets(objective int) []float64 {
	known := make([]float64, 0, len(m.points))
	for _, i := range m.points {
		if _, ok := m.memory.objective(i); ok {
			known = append(known, m.memory.point(i)[objective])
		}
	}
	learnt := m.targetsOf(known)
	targets := make([]float64, len(m.points))
	for k, i := range m.points {
		if _, ok := m.memory.objective(i); ok {
			targets[k], learnt = learnt[0], learnt[1:]
		} else {
			targets[k] = math.NaN()
		}
	}
	return targets
}

// targetsOf transforms objectives into targets for a model.
func (m *modelSearch) targetsOf(objectives []float64) []float64 {
	if len(m.models) > 1 {
		return standardized(Logarithms(objectives))
	}
	return targetsOf(objectives)
}

// fit fits the model to the observations and renews the candidates.
func (m *modelSearch) fit() {
	n := len(m.memory.observed)
	m.fitAt = n + max(5, n/4)
	points := m.choosePoints(modelPoints)
	fitted := points
	if limit := m.features.within(fitPoints, fitFeatures); len(points) > limit {
		fitted = m.choosePoints(limit)
	}
	x := m.describe(fitted)
	for objective, model := range m.models {
		model.Fit(m.memory.ctx, x, m.targetsOf(each.Of(fitted, func(i int) float64 { return m.memory.point(i)[objective] })))
	}
	m.points = points
	for _, i := range m.memory.claims {
		if _, ok := m.memory.objective(i); !ok {
			m.points = append(m.points, i)
		}
	}
	m.choosePool()
	conditions, candidates := m.describe(m.points), m.describe(m.pool)
	for _, model := range m.models {
		model.Condition(m.memory.ctx, conditions, candidates)
	}
}

// choosePoints returns the observed configurations, at most limit: half of these are the best
// ones, the others a random sample.
func (m *modelSearch) choosePoints(limit int) []int {
	known := m.ranked()
	if len(known) <= limit {
		return known
	}
	rest := known[limit/2:]
	m.rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return known[:limit]
}

// ranked returns the observed configurations, the best first: with several objectives, by their [standings].
func (m *modelSearch) ranked() []int {
	known := each.Of(m.memory.observed, func(o Observation) int { return o.Index })
	if len(m.models) > 1 {
		of := map[int]standing{}
		for k, s := range standings(each.Of(known, m.memory.point)) {
			of[known[k]] = s
		}
		slices.SortStableFunc(known, func(a, b int) int { return of[a].compare(of[b]) })
		return known
	}
	slices.SortStableFunc(known, func(a, b int) int {
		return cmp.Compare(m.memory.known[a], m.memory.known[b])
	})
	return known
}

// choosePool chooses the candidates, in a large space anew for each fit.
func (m *modelSearch) choosePool() {
	most := m.features.within(modelPool, poolFeatures)
	if m.pool != nil && m.space.Len() <= most {
		return
	}
	m.pool, m.placeOf = nil, map[int]int{}
	add := func(i int) {
		if _, twice := m.placeOf[i]; !twice {
			m.placeOf[i] = len(m.pool)
			m.pool = append(m.pool, i)
		}
	}
	if m.space.Len() <= most {
		for i := range m.space.Len() {
			add(i)
		}
		return
	}
	best := m.ranked()
	for _, i := range best[:min(bestCentres, len(best))] {
		for _, near := range m.space.Neighbours(i, space.Hamming) {
			if len(m.pool) < most/2 && !m.memory.seen(near) {
				add(near)
			}
		}
	}
	for _, r := range m.rankings {
		for _, i := range r.best[:min(len(r.best), most/4/len(m.rankings))] {
			if !m.memory.seen(i) {
				add(i)
			}
		}
	}
	for _, i := range m.space.Sample(most-len(m.pool), m.rng) {
		if !m.memory.seen(i) {
			add(i)
		}
	}
}

// describe returns the features of configurations.
func (m *modelSearch) describe(configurations []int) [][]float64 {
	return each.Of(configurations, m.features.at)
}

// nearBest returns the neighbour of the best configuration with the lowest predicted mean, or -1
// if all were proposed.
func (m *modelSearch) nearBest(p *prediction) int {
	best := m.memory.best
	if best < 0 || math.IsInf(m.memory.known[best], 1) {
		return -1
	}
	found, least := -1, math.Inf(1)
	predict := m.predictor(0, p)
	for _, i := range m.space.Neighbours(best, space.Hamming) {
		if m.memory.seen(i) {
			continue
		}
		if mean := predict(i); mean < least {
			found, least = i, mean
		}
	}
	return found
}

// mostPromising returns the candidate that is worth most, or -1 if all were proposed.
func (m *modelSearch) mostPromising(predictions []*prediction) int {
	worthOf := m.worth(predictions)
	invalid := m.invalid()
	found, most := -1, math.Inf(-1)
	for place, i := range m.pool {
		if m.memory.seen(i) {
			continue
		}
		worth := worthOf(place)
		if invalid != nil && worth > 0 {
			worth *= max(leastValid, min(1, 1-invalid[place]))
		}
		if worth > most {
			found, most = i, worth
		}
	}
	return found
}

// worth returns a function that returns the worth of a candidate.
func (m *modelSearch) worth(predictions []*prediction) func(place int) float64 {
	if len(predictions) == 1 {
		p := predictions[0]
		best := slices.Min(p.targets)
		return func(place int) float64 { return m.acquire(p.means[place], p.deviationAt(place), best) }
	}
	improvement := m.improvement(predictions)
	means, deviations := make([]float64, len(predictions)), make([]float64, len(predictions))
	return func(place int) float64 {
		for k, p := range predictions {
			means[k], deviations[k] = p.means[place], p.deviationAt(place)
		}
		return improvement.expected(means, deviations)
	}
}

// invalid estimates the probability that each candidate fails, by its similarity to those that
// failed. It returns nil if none did.
func (m *modelSearch) invalid() []float64 {
	any := false
	failed := make([]float64, len(m.points))
	for k, i := range m.points {
		if y, ok := m.memory.objective(i); !ok {
			failed[k] = math.NaN()
		} else if math.IsInf(y, 1) {
			failed[k], any = 1, true
		}
	}
	if !any {
		return nil
	}
	likely, _ := m.models[0].Means(failed)
	return likely
}

// targetsOf transforms objectives into targets for a model, of mean 0 and standard deviation 1. It
// takes their [Logarithms], and halves the distance from the median of those that are worse, because
// it does not matter how bad they are.
func targetsOf(objectives []float64) []float64 {
	targets := Logarithms(objectives)
	if len(targets) == 0 {
		return targets
	}
	sorted := slices.Sorted(slices.Values(targets))
	median := sorted[len(sorted)/2]
	for i, t := range targets {
		if t > median {
			targets[i] = median + (t-median)/2
		}
	}
	return standardized(targets)
}

// standardized shifts and scales targets to mean 0 and standard deviation 1.
func standardized(targets []float64) []float64 {
	mean, deviation := stat.PopMeanStdDev(targets, nil)
	floats.AddConst(-mean, targets)
	if deviation > 0 {
		floats.Scale(1/deviation, targets)
	}
	return targets
}
