package search

var bruteForceStrategy = Description{
	Name:    "brute_force",
	Summary: "every configuration, in the order of the space",
	Several: true,
	make:    bruteForce,
}

func bruteForce(s setting) proposer {
	i := 0
	return blind(func() (int, bool) {
		for i < s.memory.length && !s.memory.claim(i) {
			i++
		}
		return i, i < s.memory.length
	})
}

var randomSampleStrategy = Description{
	Name:    "random_sample",
	Summary: "configurations drawn uniformly without replacement",
	Source:  "Bergstra and Bengio, Journal of Machine Learning Research 13, 2012",
	Several: true,
	make:    func(s setting) proposer { return blind(s.memory.draw) },
}

// A blind function is a proposer that reads no observations.
type blind func() (int, bool)

func (next blind) next() (int, bool) { return next() }
