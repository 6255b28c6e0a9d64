package search

import (
	"iter"

	"github.com/ndtune/ndtune/tune/space"
)

// mostStrict bounds the strictly adjacent neighbours that are looked at: there are 3 to the
// power of the parameters.
const mostStrict = 3 * 3 * 3 * 3 * 3 * 3

// around are the neighbours of a configuration in random order.
func (l *lattice) around(i int, n space.Neighbourhood) iter.Seq[int] {
	switch {
	case n == space.Hamming:
		return l.hamming(i)
	case n == space.StrictlyAdjacent && !l.fewStrict():
		return l.someStrict(i)
	}
	return func(yield func(int) bool) {
		all := l.space.Neighbours(i, n)
		l.rng.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
		for _, j := range all {
			if !yield(j) {
				return
			}
		}
	}
}

// hamming changes each parameter once before any twice: one with a long list is no more
// important than the others. Neighbours are looked for as they are wanted.
func (l *lattice) hamming(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		row := l.row(i)
		left := make([][]int, len(row)) // by parameter, the places to try
		turns := append([]int(nil), l.varied...)
		for len(turns) > 0 {
			l.rng.Shuffle(len(turns), func(a, b int) { turns[a], turns[b] = turns[b], turns[a] })
			next := turns[:0]
			for _, p := range turns {
				if left[p] == nil {
					left[p] = l.rng.Perm(l.sizes[p])
				}
				j, ok := l.changed(row, p, &left[p])
				if !ok {
					continue
				}
				next = append(next, p)
				if !yield(j) {
					return
				}
			}
			turns = next
		}
	}
}

// changed is the next valid configuration with another value of a parameter; false where no
// place is left.
func (l *lattice) changed(row []int, p int, places *[]int) (int, bool) {
	own := row[p]
	defer func() { row[p] = own }()
	for len(*places) > 0 {
		row[p] = (*places)[0]
		*places = (*places)[1:]
		if row[p] == own {
			continue
		}
		if j, ok := l.space.Find(row); ok {
			return j, true
		}
	}
	return 0, false
}

// fewStrict reports whether all strictly adjacent neighbours can be looked at.
func (l *lattice) fewStrict() bool {
	n := 1
	for range l.varied {
		if n *= 3; n > mostStrict {
			return false
		}
	}
	return true
}

// someStrict are strictly adjacent neighbours that were found by chance.
func (l *lattice) someStrict(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		seen := map[int]bool{i: true}
		row := l.row(i)
		near := make([]int, len(row))
		for range mostStrict {
			for p := range row {
				near[p] = row[p] + l.rng.IntN(3) - 1
			}
			if j, ok := l.space.Find(near); ok && !seen[j] {
				seen[j] = true
				if !yield(j) {
					return
				}
			}
		}
	}
}
