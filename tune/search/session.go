package search

// A session is the strategy that users of the package hold: a proposer and what is common to
// all of them.
type session struct {
	memory   *memory
	start    []int // not proposed yet
	proposer proposer
	closed   bool
}

func (s *session) Ask(n int) []int {
	if s.closed || n <= 0 {
		return nil
	}
	var proposed []int
	for len(s.start) > 0 && len(proposed) < n {
		if s.memory.claim(s.start[0]) {
			proposed = append(proposed, s.start[0])
		}
		s.start = s.start[1:]
	}
	if n -= len(proposed); n > 0 && !s.memory.exhausted() {
		proposed = append(proposed, s.proposer.propose(n)...)
	}
	if len(proposed) == 0 && s.memory.due() == 0 {
		if i, ok := s.memory.draw(); ok {
			proposed = append(proposed, i)
		}
	}
	return proposed
}

func (s *session) Tell(observations []Observation) {
	if s.closed {
		return
	}
	for _, o := range observations {
		if s.memory.note(o) {
			s.proposer.observe(o)
		}
	}
}

func (s *session) Close() {
	if !s.closed {
		s.closed = true
		s.proposer.close()
	}
}

// Learns reports whether what a strategy proposes depends on what it is told. A strategy of
// another package is taken to learn.
func Learns(s Strategy) bool {
	own, ok := s.(*session)
	if !ok {
		return true
	}
	switch own.proposer.(type) {
	case *bruteForce, randomSample:
		return false
	}
	return true
}
