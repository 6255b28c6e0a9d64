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

var priorRankingStrategy = Description{
	Name:    "prior_ranking",
	Summary: "configurations in the order of the priors, a place of each in turn; those that no prior has are drawn uniformly afterwards",
	Priors:  true,
	make: func(s setting) proposer {
		order := byRanking(s.rankings)
		return blind(func() (int, bool) {
			for len(order) > 0 {
				i := order[0]
				if order = order[1:]; s.memory.claim(i) {
					return i, true
				}
			}
			return s.memory.draw()
		})
	},
}

// A blind function is a proposer that reads no observations.
type blind func() (int, bool)

func (next blind) next() (int, bool) { return next() }
