package search

import "math/rand/v2"

// A shuffle is a random order of the numbers below a length: the Fisher-Yates shuffle
// (Durstenfeld, CACM 7(7), 1964), kept as the few places that differ from the identity, so
// that the beginning of an order of millions costs only what is drawn.
type shuffle struct {
	rng    *rand.Rand
	moved  map[int]int
	done   int // how many were drawn
	length int
	ahead  bool // what comes next is settled
}

func newShuffle(length int, rng *rand.Rand) *shuffle {
	return &shuffle{rng: rng, moved: map[int]int{}, length: length}
}

// peek is the next number; false at the end.
func (s *shuffle) peek() (int, bool) {
	if s.done == s.length {
		return 0, false
	}
	if !s.ahead {
		j := s.done + s.rng.IntN(s.length-s.done)
		here, there := s.at(s.done), s.at(j)
		s.moved[j], s.moved[s.done] = here, there
		s.ahead = true
	}
	return s.at(s.done), true
}

// next draws the next number; false at the end.
func (s *shuffle) next() (int, bool) {
	i, ok := s.peek()
	if ok {
		delete(s.moved, s.done)
		s.done++
		s.ahead = false
	}
	return i, ok
}

func (s *shuffle) at(i int) int {
	if j, ok := s.moved[i]; ok {
		return j
	}
	return i
}
