package search

import (
	"math"
	"math/rand/v2"

	"github.com/ndtune/ndtune/tune/space"
)

// A lattice is a space with the places of values in their parameters' lists as coordinates.
type lattice struct {
	space  *space.Space
	rng    *rand.Rand
	sizes  []int // of the parameters' lists
	varied []int // the parameters with more than one value
}

func newLattice(s setting) *lattice {
	l := &lattice{space: s.space, rng: s.rng}
	p := s.space.Parameters()
	for i := range p.Len() {
		n := len(p.At(i).Values)
		l.sizes = append(l.sizes, n)
		if n > 1 {
			l.varied = append(l.varied, i)
		}
	}
	return l
}

// row is the places of a configuration.
func (l *lattice) row(i int) []int { return l.space.Row(i, nil) }

// point is the places of a configuration as coordinates.
func (l *lattice) point(i int) []float64 {
	row := l.row(i)
	x := make([]float64, len(row))
	for p, digit := range row {
		x[p] = float64(digit)
	}
	return x
}

// nearest is a valid configuration near a point.
func (l *lattice) nearest(x []float64) int { return l.space.Nearest(x) }

// mend is the configuration of a row, or a valid one near it.
func (l *lattice) mend(row []int) int {
	if i, ok := l.space.Find(row); ok {
		return i
	}
	x := make([]float64, len(row))
	for p, digit := range row {
		x[p] = float64(digit)
	}
	return l.nearest(x)
}

// span is the largest coordinate of a parameter.
func (l *lattice) span(p int) float64 { return float64(l.sizes[p] - 1) }

// clamp keeps a coordinate within its parameter's list.
func (l *lattice) clamp(p int, x float64) float64 { return math.Max(0, math.Min(x, l.span(p))) }

// neighbour is a configuration that differs in one parameter, all parameters being equally
// likely to change, half of the time by one place, else by any; the same one where there is
// none. In a list of sizes the next one behaves alike, in a list of alternatives each may do.
func (l *lattice) neighbour(i int) int {
	if len(l.varied) == 0 {
		return i
	}
	row := l.row(i)
	for range 4 * len(l.varied) {
		p := l.varied[l.rng.IntN(len(l.varied))]
		own := row[p]
		if l.rng.IntN(2) == 0 {
			row[p] += 2*l.rng.IntN(2) - 1
		} else {
			row[p] = (own + 1 + l.rng.IntN(l.sizes[p]-1)) % l.sizes[p]
		}
		if j, ok := l.space.Find(row); ok {
			return j
		}
		row[p] = own
	}
	for j := range l.around(i, space.Hamming) {
		return j
	}
	return i
}

// wander is a configuration that a number of steps from neighbour to neighbour led to.
func (l *lattice) wander(i, steps int) int {
	for range steps {
		i = l.neighbour(i)
	}
	return i
}

// novel is a configuration that was never proposed, a few steps from another at most; false
// where none was found.
func (l *lattice) novel(m *memory, i int) (int, bool) {
	for range 8 {
		if i = l.neighbour(i); !m.seen(i) {
			return i, true
		}
	}
	return i, false
}
