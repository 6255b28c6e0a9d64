package space

import (
	"math"
	"slices"
)

// Nearest is the index of a valid configuration near a point. The point has a coordinate for
// each parameter, on the scale of the places in its list (0 for its first value), and may lie
// between and beyond them. The parameters are settled in order, each on the value nearest to
// its coordinate that those before it leave valid, and then moved nearer one by one as long as
// that is possible: the result is not always the nearest of all.
func (s *Space) Nearest(point []float64) int {
	row := s.Row(s.settle(point), nil)
	for moved := true; moved; {
		moved = false
		for p, own := range row {
			for _, digit := range s.nearer(point[p], p, own) {
				row[p] = digit
				if _, ok := s.Find(row); ok {
					moved = true
					break
				}
				row[p] = own
			}
		}
	}
	i, ok := s.Find(row)
	if !ok {
		panic("space: moved to a configuration that is not valid")
	}
	return i
}

// settle goes down the diagrams along the edges nearest to a point. Where functions restrict
// the space, it takes the next configuration that they leave.
func (s *Space) settle(point []float64) int {
	w := s.walk()
	rank := uint64(0)
	for p := range s.home {
		l, node := w.at(p)
		from, to := l.edges(node)
		best := from
		for e := from + 1; e < to; e++ {
			if apart(point[p], int(l.digits[e])) < apart(point[p], int(l.digits[best])) {
				best = e
			}
		}
		rank = addCounts(rank, multiplyCounts(l.before[best], w.others(p)))
		w.follow(p, best)
	}
	i := int(min(rank, uint64(s.all-1)))
	if s.chosen == nil {
		return i
	}
	at, _ := slices.BinarySearch(s.chosen, i)
	return min(at, len(s.chosen)-1)
}

func apart(x float64, digit int) float64 { return math.Abs(x - float64(digit)) }

// nearer are the places of parameter p that are nearer to a coordinate than its own, the
// nearest first.
func (s *Space) nearer(x float64, p, own int) []int {
	n := len(s.parameters.list[p].Values)
	middle := int(math.Round(max(0, min(x, float64(n-1)))))
	var places []int
	for d := 0; d < n; d++ {
		for _, digit := range []int{middle - d, middle + d} {
			if digit < 0 || digit >= n || (d == 0 && len(places) > 0) {
				continue
			}
			if apart(x, digit) >= apart(x, own) {
				continue
			}
			places = append(places, digit)
		}
		if float64(d) > math.Abs(x-float64(own))+1 {
			break
		}
	}
	return places
}
