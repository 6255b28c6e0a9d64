package space

import "math/rand/v2"

// Sample is n different indices, uniformly drawn; all of them where there are fewer.
// (Floyd's algorithm: Bentley and Floyd, CACM 30(9), 1987; then shuffled.)
func (s *Space) Sample(n int, r *rand.Rand) []int {
	n = max(0, min(n, s.length))
	drawn := make(map[int]bool, n)
	sample := make([]int, 0, n)
	for j := s.length - n; j < s.length; j++ {
		i := r.IntN(j + 1)
		if drawn[i] {
			i = j
		}
		drawn[i] = true
		sample = append(sample, i)
	}
	r.Shuffle(n, func(i, j int) { sample[i], sample[j] = sample[j], sample[i] })
	return sample
}
