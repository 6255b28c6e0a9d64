package search

import (
	"math"
	"math/rand/v2"
)

// A memory is what a strategy knows of a space: what was proposed, and what became of it. It
// takes as much room as that, however large the space is.
type memory struct {
	length   int // of the space
	claimed  map[int]bool
	known    map[int]float64 // by index; +Inf where the configuration failed
	observed []Observation   // in the order in which they came
	best     int             // index of the best configuration; -1: none is known
	rest     *shuffle        // where unseen configurations are drawn from
}

func newMemory(length int, rng *rand.Rand) *memory {
	return &memory{length: length, claimed: map[int]bool{}, known: map[int]float64{}, best: -1, rest: newShuffle(length, rng)}
}

// claim marks a configuration as proposed; false where it was before.
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

// due is how many configurations were proposed and not observed yet.
func (m *memory) due() int { return len(m.claimed) - len(m.known) }

// draw claims a configuration, uniformly from all that were not proposed; false where there
// is none.
func (m *memory) draw() (int, bool) {
	for !m.exhausted() {
		if i, ok := m.rest.next(); ok && m.claim(i) {
			return i, true
		}
	}
	return 0, false
}

// unseen is draw without the claim: the next draw may give the same.
func (m *memory) unseen() (int, bool) {
	for !m.exhausted() {
		if i, ok := m.rest.peek(); !ok || !m.seen(i) {
			return i, ok
		}
		m.rest.next()
	}
	return 0, false
}

// objective is what is known of a configuration: lower is better, +Inf is a failure.
func (m *memory) objective(i int) (float64, bool) {
	y, ok := m.known[i]
	return y, ok
}

// note keeps an observation; false where it was known before.
func (m *memory) note(o Observation) bool {
	if _, twice := m.known[o.Index]; twice {
		return false
	}
	y := o.Objective
	if !o.Valid || math.IsNaN(y) {
		y = math.Inf(1)
	}
	m.claimed[o.Index] = true
	m.known[o.Index] = y
	m.observed = append(m.observed, o)
	if m.best < 0 || y < m.known[m.best] {
		m.best = o.Index
	}
	return true
}
