package search

import (
	"cmp"
	"math"
	"slices"
	"sync"

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
	// bestCentres is the number of best configurations whose neighbours become candidates.
	bestCentres = 10
	// leastValid is the smallest probability of being valid that the model assumes.
	leastValid = 0.01
)

// A modelSearch proposes the configuration that is worth most by a Gaussian process model of the
// objective (Jones et al., «Efficient global optimization of expensive black-box functions»,
// Journal of Global Optimization 13, 1998). The model takes its own prediction as the target of
// a configuration without an observation (Ginsbourger et al., «Kriging is well-suited to
// parallelize optimization», 2010). It learns from failures which configurations may fail.
type modelSearch struct {
	setting
	features *features
	process  *gaussian.Process
	acquire  acquisition
	local    int // every local-th proposal is a neighbour of the best; 0: none is
	from     int // the proposal from which local applies

	initial   []int           // proposed before the model is asked
	pool      []int           // the candidates, by their place in the model
	placeOf   map[int]int     // the inverse of pool
	points    []int           // the configurations that the model is conditioned on
	believed  map[int]float64 // predicted targets of points without an observation
	fitAt     int             // number of observations at which the model is fitted again
	proposals int
}

// newModelSearch returns a model search that begins with a Latin hypercube sample of initial
// configurations.
func newModelSearch(s setting, kernel gaussian.Kernel, initial int, a acquisition) *modelSearch {
	f := newFeatures(s.space)
	return &modelSearch{
		setting: s, features: f, process: gaussian.New(kernel, f.count), acquire: a,
		initial: s.space.LatinHypercube(initial, s.rng), believed: map[int]float64{},
	}
}

// next claims one configuration.
func (m *modelSearch) next() (int, bool) {
	for len(m.initial) > 0 {
		i := m.initial[0]
		if m.initial = m.initial[1:]; m.memory.claim(i) {
			return i, true
		}
	}
	if len(m.memory.observed) < 2 {
		return m.memory.draw() // too few to condition a model on
	}
	if m.pool == nil || len(m.memory.observed) >= m.fitAt {
		m.fit()
	}
	targets := m.targets()
	means, deviation := m.process.Means(targets)
	m.proposals++
	i := -1
	if m.local > 0 && m.proposals >= m.from && m.proposals%m.local == 0 {
		i = m.nearBest(targets, means)
	}
	if i < 0 {
		i = m.mostPromising(targets, means, deviation)
	}
	if i < 0 || !m.memory.claim(i) {
		return m.memory.draw()
	}
	m.believed[i] = m.predictor(targets, means)(i)
	m.add(i)
	return i, true
}

// predictor returns a function that returns the predicted target of a configuration. The means are
// the predictions for the candidates.
func (m *modelSearch) predictor(targets, means []float64) func(i int) float64 {
	weights := sync.OnceValue(func() []float64 { return m.process.Weights(targets) })
	return func(i int) float64 {
		if place, ok := m.placeOf[i]; ok {
			return means[place]
		}
		return m.process.Mean(m.features.at(i), weights())
	}
}

// add conditions the model on a configuration.
func (m *modelSearch) add(i int) {
	m.points = append(m.points, i)
	m.process.Add(m.features.at(i))
}

func (m *modelSearch) observe(o Observation) {
	if m.pool == nil {
		return // fit reads the memory
	}
	if _, expected := m.believed[o.Index]; expected {
		delete(m.believed, o.Index)
		return
	}
	m.add(o.Index)
}

// targets returns the target of each point, observed or believed.
func (m *modelSearch) targets() []float64 {
	known := make([]float64, 0, len(m.points))
	for _, i := range m.points {
		if y, ok := m.memory.objective(i); ok {
			known = append(known, y)
		}
	}
	learnt := targetsOf(known)
	targets := make([]float64, len(m.points))
	for k, i := range m.points {
		if _, ok := m.memory.objective(i); ok {
			targets[k], learnt = learnt[0], learnt[1:]
		} else {
			targets[k] = m.believed[i]
		}
	}
	return targets
}

// fit fits the model to the observations and renews the candidates.
func (m *modelSearch) fit() {
	n := len(m.memory.observed)
	m.fitAt = n + max(5, n/4)
	points := m.choosePoints(modelPoints)
	fitted := points
	if len(points) > fitPoints {
		fitted = m.choosePoints(fitPoints)
	}
	x, y := m.describe(fitted), make([]float64, len(fitted))
	for k, i := range fitted {
		y[k], _ = m.memory.objective(i)
	}
	m.process.Fit(x, targetsOf(y))
	// Configurations without an observation keep the prediction of the last model.
	for i := range m.believed {
		points = append(points, i)
	}
	slices.Sort(points[len(points)-len(m.believed):]) // a map has no order
	m.points = points
	m.choosePool()
	m.process.Condition(m.describe(m.points), m.describe(m.pool))
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

// ranked returns the observed configurations, the best first.
func (m *modelSearch) ranked() []int {
	var known []int
	for _, o := range m.memory.observed {
		known = append(known, o.Index)
	}
	slices.SortStableFunc(known, func(a, b int) int {
		return cmp.Compare(m.memory.known[a], m.memory.known[b])
	})
	return known
}

// choosePool chooses the candidates, in a large space anew for each fit.
func (m *modelSearch) choosePool() {
	if m.pool != nil && m.space.Len() <= modelPool {
		return
	}
	m.pool, m.placeOf = nil, map[int]int{}
	add := func(i int) {
		if _, twice := m.placeOf[i]; !twice {
			m.placeOf[i] = len(m.pool)
			m.pool = append(m.pool, i)
		}
	}
	if m.space.Len() <= modelPool {
		for i := range m.space.Len() {
			add(i)
		}
		return
	}
	best := m.ranked()
	for _, i := range best[:min(bestCentres, len(best))] {
		for _, near := range m.space.Neighbours(i, space.Hamming) {
			if len(m.pool) < modelPool/2 && !m.memory.seen(near) {
				add(near)
			}
		}
	}
	for _, i := range m.space.Sample(modelPool-len(m.pool), m.rng) {
		if !m.memory.seen(i) {
			add(i)
		}
	}
}

// describe returns the features of configurations.
func (m *modelSearch) describe(configurations []int) [][]float64 {
	x := make([][]float64, len(configurations))
	for k, i := range configurations {
		x[k] = m.features.at(i)
	}
	return x
}

// nearBest returns the neighbour of the best configuration with the lowest predicted mean, or -1
// if all were proposed.
func (m *modelSearch) nearBest(targets, means []float64) int {
	best := m.memory.best
	if best < 0 || math.IsInf(m.memory.known[best], 1) {
		return -1
	}
	found, least := -1, math.Inf(1)
	predict := m.predictor(targets, means)
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
func (m *modelSearch) mostPromising(targets, means []float64, deviation float64) int {
	best := slices.Min(targets)
	if deviation == 0 {
		deviation = 1 // all targets are equal so far
	}
	invalid := m.invalid()
	left := m.process.Left()
	found, most := -1, math.Inf(-1)
	for place, i := range m.pool {
		if m.memory.seen(i) {
			continue
		}
		worth := m.acquire(means[place], deviation*math.Sqrt(max(left[place], 0)), best)
		if invalid != nil && worth > 0 {
			worth *= max(leastValid, min(1, 1-invalid[place]))
		}
		if worth > most {
			found, most = i, worth
		}
	}
	return found
}

// invalid estimates the probability that each candidate fails, by its similarity to those that
// failed. It returns nil if none did.
func (m *modelSearch) invalid() []float64 {
	any := false
	failed := make([]float64, len(m.points))
	for k, i := range m.points {
		if y, ok := m.memory.objective(i); ok && math.IsInf(y, 1) {
			failed[k], any = 1, true
		}
	}
	if !any {
		return nil
	}
	likely, _ := m.process.Means(failed)
	return likely
}

// targetsOf transforms objectives into targets for a model, of mean 0 and standard deviation 1. It
// takes logarithms if all objectives have one sign, because times differ by orders of magnitude.
// It halves the distance from the median of those that are worse, because it does not matter how
// bad they are. A failure, +Inf, counts as the worst valid objective.
func targetsOf(objectives []float64) []float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, y := range objectives {
		if !math.IsInf(y, 1) {
			least, most = min(least, y), max(most, y)
		}
	}
	targets := make([]float64, len(objectives))
	if math.IsInf(least, 1) {
		return targets // all failed
	}
	transform := func(y float64) float64 { return y }
	switch {
	case least > 0:
		transform = math.Log
	case most < 0:
		transform = func(y float64) float64 { return -math.Log(-y) }
	}
	for i, y := range objectives {
		targets[i] = transform(min(y, most))
	}
	sorted := slices.Sorted(slices.Values(targets))
	median := sorted[len(sorted)/2]
	mean := 0.0
	for i, t := range targets {
		if t > median {
			targets[i] = median + (t-median)/2
		}
		mean += targets[i] / float64(len(targets))
	}
	variance := 0.0
	for i := range targets {
		targets[i] -= mean
		variance += targets[i] * targets[i] / float64(len(targets))
	}
	if variance > 0 {
		for i := range targets {
			targets[i] /= math.Sqrt(variance)
		}
	}
	return targets
}
