package search

var randomSampleDefinition = definition{
	Description: Description{
		Name:    "random_sample",
		Summary: "configurations drawn uniformly, none of them twice",
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
