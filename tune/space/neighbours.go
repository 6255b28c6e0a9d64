package space

import (
	"math"
)

// A Neighbourhood says which configurations are close to one another. All are symmetric.
type Neighbourhood int

// The neighbourhoods.
const (
	// Hamming neighbours differ in one parameter, by whatever value.
	Hamming Neighbourhood = iota
	// Adjacent neighbours differ in one parameter, and no valid configuration lies between
	// the two in the order of its values: the next valid one up, or down.
	Adjacent
	// StrictlyAdjacent neighbours differ in any number of parameters, in each by one index
	// in the list of its values at most.
	StrictlyAdjacent
)

// Neighbours are the indices of the neighbours of index i, in no particular order but always
// the same.
func (s *Space) Neighbours(i int, n Neighbourhood) []int {
	row := s.Row(i, nil)
	switch n {
	case Hamming:
		return s.hamming(row)
	case Adjacent:
		return s.adjacent(row)
	}
	return s.strictlyAdjacent(row, i)
}

func (s *Space) hamming(row []int) []int {
	var found []int
	for p, own := range row {
		for digit := range s.parameters.list[p].Values {
			if digit == own {
				continue
			}
			row[p] = digit
			if j, ok := s.Find(row); ok {
				found = append(found, j)
			}
		}
		row[p] = own
	}
	return found
}

func (s *Space) adjacent(row []int) []int {
	var found []int
	for p, own := range row {
		for _, step := range []int{-1, 1} {
			for digit := own + step; digit >= 0 && digit < len(s.parameters.list[p].Values); digit += step {
				row[p] = digit
				if j, ok := s.Find(row); ok {
					found = append(found, j)
					break
				}
			}
		}
		row[p] = own
	}
	return found
}

// strictlyAdjacent goes down the diagrams along edges that are near the row.
func (s *Space) strictlyAdjacent(row []int, self int) []int {
	var found []int
	near := make([]int, len(row))
	nodes := make([]uint32, len(s.diagrams))
	var descend func(p int)
	descend = func(p int) {
		if p == len(row) {
			if j, ok := s.Find(near); ok && j != self {
				found = append(found, j)
			}
			return
		}
		home := s.home[p]
		l := &s.diagrams[home.diagram].levels[home.level]
		node := nodes[home.diagram]
		for digit := max(0, row[p]-1); digit <= row[p]+1; digit++ {
			edge, ok := l.find(node, uint16(digit))
			if !ok {
				continue
			}
			near[p], nodes[home.diagram] = digit, l.to[edge]
			descend(p + 1)
		}
		nodes[home.diagram] = node
	}
	descend(0)
	return found
}

// Nearest is the index of a valid configuration near a point. The point has a coordinate for
// each parameter, on the scale of the indices in its list (0 for its first value), and may lie
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

// settle goes down the diagrams along the edges nearest to a point.
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
	return int(min(rank, uint64(s.length-1)))
}

func apart(x float64, digit int) float64 { return math.Abs(x - float64(digit)) }

// nearer are the indices of the values of parameter p that are nearer to a coordinate than its own, the
// nearest first.
func (s *Space) nearer(x float64, p, own int) []int {
	n := len(s.parameters.list[p].Values)
	middle := int(math.Round(max(0, min(x, float64(n-1)))))
	var indices []int
	for d := 0; d < n; d++ {
		for _, digit := range []int{middle - d, middle + d} {
			if digit < 0 || digit >= n || (d == 0 && len(indices) > 0) {
				continue
			}
			if apart(x, digit) >= apart(x, own) {
				continue
			}
			indices = append(indices, digit)
		}
		if float64(d) > math.Abs(x-float64(own))+1 {
			break
		}
	}
	return indices
}
