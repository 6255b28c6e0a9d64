package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// A memory holds what a strategy knows of a space: the configurations that were proposed, and
// their observations. Its size depends on their number, not on the size of the space.
type memory struct {
	ctx      context.Context   // of the proposals that are being made
	length   int               // of the space
	claimed  map[int]bool      // proposed configurations
	known    map[int]float64   // objectives by index; +Inf for a failure
	points   map[int][]float64 // values of all objectives by index, where there are several; +Inf for a failure
	several  int               // number of objectives, if there are several; else 0
	observed []Observation     // in the order of their arrival
	best     int               // index of the best configuration; -1: none is known
	rest     *shuffle          // the order in which unseen configurations are drawn
}

func newMemory(length int, rng *rand.Rand) *memory {
	return &memory{
		ctx: context.Background(), length: length, claimed: map[int]bool{}, known: map[int]float64{}, points: map[int][]float64{}, best: -1,
		rest: &shuffle{rng: rng, moved: map[int]int{}, length: length},
	}
}

// claim marks a configuration as proposed. It returns false if it was proposed before.
func (m *memory) claim(i int) bool {
	if m.claimed[i] {
		return false
	}
	m.claimed[i] = true
	return true
}

// seen reports whether a configuration was proposed.
func (m *memory) seen(i int) bool { return m.claimed[i] }

// exhausted reports whether every configuration was proposed.
func (m *memory) exhausted() bool { return len(m.claimed) == m.length }

// due returns the number of proposed configurations without an observation.
func (m *memory) due() int { return len(m.claimed) - len(m.known) }

// draw claims a configuration, drawn uniformly from those that were not proposed. It returns
// false if there is none.
func (m *memory) draw() (int, bool) {
	i, ok := m.unseen()
	return i, ok && m.claim(i)
}

// unseen is like draw, but does not claim the configuration: the next call may return it again.
func (m *memory) unseen() (int, bool) {
	for !m.exhausted() {
		i := m.rest.first()
		if !m.seen(i) {
			return i, true
		}
		m.rest.drop()
	}
	return 0, false
}

// objective returns the objective of a configuration, if known: lower is better, +Inf is a
// failure.
func (m *memory) objective(i int) (float64, bool) {
	y, ok := m.known[i]
	return y, ok
}

// point returns the values of all objectives of an observed configuration, all +Inf for a failure.
func (m *memory) point(i int) []float64 {
	if p, several := m.points[i]; several {
		return p
	}
	return []float64{m.known[i]}
}

// note records an observation. It returns false if the configuration was observed before.
func (m *memory) note(o Observation) bool {
	if _, twice := m.known[o.Index]; twice {
		return false
	}
	y := o.Objective
	if !o.Valid || math.IsNaN(y) {
		y = math.Inf(1)
	}
	if m.several > 0 {
		p := append([]float64{y}, o.More...)
		if len(p) != m.several || slices.ContainsFunc(p, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 1) }) {
			p = slices.Repeat([]float64{math.Inf(1)}, m.several)
			y = p[0]
		}
		m.points[o.Index] = p
	}
	m.claimed[o.Index] = true
	m.known[o.Index] = y
	m.observed = append(m.observed, o)
	if m.best < 0 || y < m.known[m.best] {
		m.best = o.Index
	}
	return true
}

// A shuffle is a random permutation of the integers from 0 to length-1: a Fisher-Yates shuffle
// (Durstenfeld, CACM 7(7), 1964) that stores only the places that differ from the identity.
// Time and memory depend on the numbers drawn, not on the length.
type shuffle struct {
	rng    *rand.Rand
	moved  map[int]int
	done   int // how many numbers were dropped
	length int
	drawn  bool // the first number is drawn
}

// first returns the first number that is left.
func (s *shuffle) first() int {
	if !s.drawn {
		j := s.done + s.rng.IntN(s.length-s.done)
		s.moved[j], s.moved[s.done] = s.at(s.done), s.at(j)
		s.drawn = true
	}
	return s.at(s.done)
}

// drop removes the first number.
func (s *shuffle) drop() {
	delete(s.moved, s.done)
	s.done++
	s.drawn = false
}

func (s *shuffle) at(i int) int {
	if j, ok := s.moved[i]; ok {
		return j
	}
	return i
}
