package check

import (
	"math/rand/v2"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// maxDrawn is how many configurations of a large space are candidates.
const maxDrawn = 4096

// Choose returns configurations of a space that together have each value of each parameter, and each pair of values of two parameters
// that occurs in the space. Of a space with more than [maxDrawn] configurations, it looks at a sample. The configurations given as first
// are chosen before all others. Then the one that covers most is chosen next; ties go to the smallest, by a function that returns the size
// of a configuration. Pairs is the number of pairs.
func Choose(s *space.Space, first []space.Configuration, sizeOf func(space.Configuration) int) (chosen []space.Configuration, pairs int) {
	indices := candidates(s)
	rows, sizes := make([][]int, len(indices)), make([]int, len(indices))
	for i, index := range indices {
		rows[i], sizes[i] = s.Row(index, nil), sizeOf(s.At(index))
	}
	type pair struct{ p, a, q, b int }
	open := map[pair]bool{}
	each := func(row []int, do func(pair)) {
		for p := range row {
			for q := range p + 1 { // p itself stands for the single value
				do(pair{p, row[p], q, row[q]})
			}
		}
	}
	for _, row := range rows {
		each(row, func(x pair) { open[x] = true })
	}
	pairs = len(open)
	cover := func(row []int) { each(row, func(x pair) { delete(open, x) }) }
	for _, c := range first {
		chosen = append(chosen, c)
		if i, found := s.Index(c); found {
			cover(s.Row(i, nil))
		}
	}
	for len(open) > 0 {
		best, most := -1, 0
		for i, row := range rows {
			n := 0
			each(row, func(x pair) {
				if open[x] {
					n++
				}
			})
			if n > most || n == most && n > 0 && sizes[i] < sizes[best] {
				best, most = i, n
			}
		}
		cover(rows[best])
		chosen = append(chosen, s.At(indices[best]))
	}
	return chosen, pairs
}

// candidates returns the indices of all configurations of a space, or of a sample of them.
func candidates(s *space.Space) []int {
	if s.Len() > maxDrawn {
		return s.Sample(maxDrawn, rand.New(rand.NewPCG(1, 2)))
	}
	all := make([]int, s.Len())
	for i := range all {
		all[i] = i
	}
	return all
}

// Best returns the best configurations of some results that are in a space, at most so many. The results may have other parameters, too.
func Best(s *space.Space, o score.Objective, results []tune.Result, most int) (best []space.Configuration) {
	for _, place := range tune.Rank(o, results).Indices {
		values, of := map[string]space.Value{}, results[place].Configuration
		for i, name := range of.Parameters().Names() {
			if _, own := s.Parameters().Index(name); own {
				values[name] = of.At(i)
			}
		}
		own, err := s.Parameters().ConfigureFirst(values)
		if err != nil {
			continue
		}
		if _, inside := s.Index(own); inside {
			best = append(best, own)
		}
		if len(best) == most {
			break
		}
	}
	return best
}
