package search

import "github.com/ndtune/ndtune/tune/space"

// bruteForce proposes every configuration in the order of the space.
type bruteForce struct{ next, length int }

func newBruteForce(s *space.Space, _ uint64) Strategy { return &bruteForce{length: s.Len()} }

func (b *bruteForce) Ask(n int) []int {
	n = max(0, min(n, b.length-b.next))
	proposed := make([]int, n)
	for i := range proposed {
		proposed[i] = b.next + i
	}
	b.next += n
	return proposed
}

func (b *bruteForce) Tell([]Observation) {}
