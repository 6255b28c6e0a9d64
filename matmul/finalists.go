package matmul

import "slices"

// Finalists are the best configurations of a kernel at one size.
type Finalists struct {
	N              int      // 0: not known, they count for all sizes
	Configurations []string // the best first
}

// Candidates are the configurations from which the best at size n is chosen: those of the
// nearest size at which the kernel was tuned on either side, each once.
func Candidates(tuned []Finalists, n int) []string {
	below, above := 0, 0
	for _, f := range tuned {
		if f.N > 0 && f.N <= n {
			below = max(below, f.N)
		}
		if f.N >= n && (above == 0 || f.N < above) {
			above = f.N
		}
	}
	var all []string
	for _, f := range tuned {
		if f.N != 0 && f.N != below && f.N != above {
			continue
		}
		for _, c := range f.Configurations {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}
