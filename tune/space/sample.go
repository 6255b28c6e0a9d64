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

// LatinHypercube is at most n different indices that spread over the values of every
// parameter: each parameter's list is cut into n parts, each part is meant for one
// configuration, by chance which (McKay et al., Technometrics 21(2), 1979), and the valid
// configuration nearest to what was meant is taken. Where that is taken already, another is
// drawn uniformly.
func (s *Space) LatinHypercube(n int, r *rand.Rand) []int {
	n = max(0, min(n, s.length))
	meant := make([][]float64, n)
	for i := range meant {
		meant[i] = make([]float64, len(s.home))
	}
	for p, q := range s.parameters.list {
		for i, part := range r.Perm(n) {
			meant[i][p] = (float64(part)+r.Float64())/float64(n)*float64(len(q.Values)) - 0.5
		}
	}
	taken := make(map[int]bool, n)
	sample := make([]int, 0, n)
	for _, m := range meant {
		i := s.Nearest(m)
		for taken[i] {
			i = r.IntN(s.length)
		}
		taken[i] = true
		sample = append(sample, i)
	}
	return sample
}
