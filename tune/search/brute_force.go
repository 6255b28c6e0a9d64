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
