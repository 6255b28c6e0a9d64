package search

import (
	"math/rand/v2"

	"github.com/ndtune/ndtune/tune/space"
)

// randomSample draws configurations uniformly without replacement: the Fisher-Yates
// shuffle (Durstenfeld, CACM 7(7), 1964), kept as the few places that differ from the
// identity, so that a sample of a space of millions costs only what is drawn.
type randomSample struct {
	rng    *rand.Rand
	moved  map[int]int
	next   int
	length int
}

func newRandomSample(s *space.Space, seed uint64) Strategy {
	return &randomSample{rng: rand.New(rand.NewPCG(seed, 0)), moved: map[int]int{}, length: s.Len()}
}

func (r *randomSample) Ask(n int) []int {
	n = max(0, min(n, r.length-r.next))
	proposed := make([]int, n)
	for i := range proposed {
		j := r.next + r.rng.IntN(r.length-r.next)
		proposed[i] = r.at(j)
		r.moved[j] = r.at(r.next)
		delete(r.moved, r.next)
		r.next++
	}
	return proposed
}

func (r *randomSample) at(i int) int {
	if j, ok := r.moved[i]; ok {
		return j
	}
	return i
}

func (r *randomSample) Tell([]Observation) {}
