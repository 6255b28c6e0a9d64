package search

var bruteForceDefinition = definition{
	Description: Description{
		Name:    "brute_force",
		Summary: "every configuration, in the order of the space",
	},
	make: func(s setting) proposer { return &bruteForce{memory: s.memory} },
}

// bruteForce proposes every configuration in the order of the space.
type bruteForce struct {
	memory *memory
	next   int
}

func (b *bruteForce) propose(n int) []int {
	var proposed []int
	for ; len(proposed) < n && b.next < b.memory.length; b.next++ {
		if b.memory.claim(b.next) {
			proposed = append(proposed, b.next)
		}
	}
	return proposed
}

func (b *bruteForce) observe(Observation) {}
func (b *bruteForce) close()              {}

var randomSampleDefinition = definition{
	Description: Description{
		Name:    "random_sample",
		Summary: "configurations drawn uniformly without replacement",
		Source:  "Bergstra and Bengio, Journal of Machine Learning Research 13, 2012",
	},
	make: func(s setting) proposer { return randomSample{s.memory} },
}

// randomSample draws configurations uniformly without replacement.
type randomSample struct{ memory *memory }

func (r randomSample) propose(n int) []int {
	var proposed []int
	for len(proposed) < n {
		i, ok := r.memory.draw()
		if !ok {
			break
		}
		proposed = append(proposed, i)
	}
	return proposed
}

func (randomSample) observe(Observation) {}
func (randomSample) close()              {}
