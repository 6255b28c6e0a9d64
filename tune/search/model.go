package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/ndtune/ndtune/tune/search/gaussian"
	"github.com/ndtune/ndtune/tune/space"
)

const (
	// modelPool is how many configurations a model looks at: all of a space that has no
	// more, else a sample, with the neighbours of the best.
	modelPool = 10_000
	// modelPoints is how many observations a model learns from. Of more, it takes the best
	// half and a sample of the others.
	modelPoints = 400
	// fitPoints is how many of these its length scales are fitted to.
	fitPoints = 200
	// bestCentres is how many of the best have their neighbours looked at in a large space.
	bestCentres = 10
	// leastValid bounds how unlikely a configuration is thought to be valid.
	leastValid = 0.01
)

// A modelSearch proposes what a Gaussian process expects to improve on the best most
// (Jones et al., «Efficient global optimization of expensive black-box functions», Journal of
// Global Optimization 13, 1998). What was proposed and is not known yet counts as what the
// model expects of it (Ginsbourger et al., «Kriging is well-suited to parallelize
// optimization», 2010). Failed configurations teach which others fail.
type modelSearch struct {
	setting
	features *features
	process  *gaussian.Process
	acquire  acquisition
	local    int // every so many proposals one is a neighbour of the best; 0: none is
	from     int // from this proposal on

	initial   []int // to be proposed before the model is asked
	pool      []int // the candidates, by their place in the model
	placeOf   map[int]int
	points    []int           // what the model is conditioned on
	believed  map[int]float64 // targets of those that are not known yet
	fitAt     int             // observations at which the model is fitted again
	proposals int
}

// An acquisition is how much a candidate is worth: the mean and the deviation that the model
// expects of it, and the best target so far.
type acquisition func(mean, deviation, best float64) float64

// expectedImprovement is by how much a candidate is expected to be better than the best.
func expectedImprovement(mean, deviation, best float64) float64 {
	if deviation <= 0 {
		return 0
	}
	u := (best - mean) / deviation
	return deviation * (u*normal(u) + density(u))
}

// probabilityOfImprovement is how likely a candidate is to be better than the best.
func probabilityOfImprovement(mean, deviation, best float64) float64 {
	if deviation <= 0 {
		return 0
	}
	return normal((best - mean) / deviation)
}

func normal(u float64) float64  { return math.Erfc(-u/math.Sqrt2) / 2 }
func density(u float64) float64 { return math.Exp(-u*u/2) / math.Sqrt(2*math.Pi) }

// newModelSearch begins with a sample of a size that spreads over the space.
func newModelSearch(s setting, kernel gaussian.Kernel, initial int, a acquisition) *modelSearch {
	f := newFeatures(s.space)
	return &modelSearch{
		setting: s, features: f, process: gaussian.New(kernel, f.count), acquire: a,
		initial: s.space.LatinHypercube(initial, s.rng), believed: map[int]float64{},
	}
}

func (m *modelSearch) close() {}

func (m *modelSearch) propose(n int) []int {
	var proposed []int
	for len(proposed) < n {
		i, ok := m.next()
		if !ok {
			break
		}
		proposed = append(proposed, i)
	}
	return proposed
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
		return m.memory.draw() // the evaluator takes more than the model knows of
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
	if place, ok := m.placeOf[i]; ok {
		m.believed[i] = means[place]
	} else {
		m.believed[i] = m.process.Mean(m.features.at(i), m.process.Weights(targets))
	}
	m.add(i)
	return i, true
}

// add conditions the model on a configuration.
func (m *modelSearch) add(i int) {
	m.points = append(m.points, i)
	m.process.Add(m.features.at(i))
}

func (m *modelSearch) observe(o Observation) {
	if m.pool == nil {
		return // fit takes what is known
	}
	if _, expected := m.believed[o.Index]; expected {
		delete(m.believed, o.Index)
		return
	}
	m.add(o.Index)
}

// targets are what the model's points are known or believed to be.
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

// fit fits the model anew, to what is known, and renews the candidates.
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
	// Those that are due are believed to be what the last model thought.
	for i := range m.believed {
		points = append(points, i)
	}
	slices.Sort(points[len(points)-len(m.believed):]) // the order of a map is none
	m.points = points
	m.choosePool()
	m.process.Condition(m.describe(m.points), m.describe(m.pool))
}

// choosePoints are the known configurations, or the best half of so many, and a sample of the
// others.
func (m *modelSearch) choosePoints(limit int) []int {
	if n := len(m.memory.observed); n <= limit {
		return m.best(n)
	}
	known := m.best(len(m.memory.observed))
	rest := known[limit/2:]
	m.rng.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	return known[:limit]
}

// best are the n best of the known configurations, the best first.
func (m *modelSearch) best(n int) []int {
	var known []int
	for _, o := range m.memory.observed {
		known = append(known, o.Index)
	}
	slices.SortStableFunc(known, func(a, b int) int {
		return cmp.Compare(m.memory.known[a], m.memory.known[b])
	})
	return known[:min(n, len(known))]
}

// choosePool renews the candidates of a large space.
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
	for _, i := range m.best(bestCentres) {
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

func (m *modelSearch) describe(configurations []int) [][]float64 {
	x := make([][]float64, len(configurations))
	for k, i := range configurations {
		x[k] = m.features.at(i)
	}
	return x
}

// nearBest is the neighbour of the best that the model expects most of; -1 where all were
// proposed.
func (m *modelSearch) nearBest(targets, means []float64) int {
	best := m.memory.best
	if best < 0 || math.IsInf(m.memory.known[best], 1) {
		return -1
	}
	found, least := -1, math.Inf(1)
	var weights []float64
	for _, i := range m.space.Neighbours(best, space.Hamming) {
		if m.memory.seen(i) {
			continue
		}
		var mean float64
		if place, ok := m.placeOf[i]; ok {
			mean = means[place]
		} else {
			if weights == nil {
				weights = m.process.Weights(targets)
			}
			mean = m.process.Mean(m.features.at(i), weights)
		}
		if mean < least {
			found, least = i, mean
		}
	}
	return found
}

// mostPromising is the candidate that is worth most; -1 where all were proposed.
func (m *modelSearch) mostPromising(targets, means []float64, deviation float64) int {
	best := slices.Min(targets)
	if deviation == 0 {
		deviation = 1 // all are alike so far
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

// invalid is how likely each candidate is to fail, by how much it is like those that did; nil
// where none did.
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
