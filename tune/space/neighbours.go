package space

// A Neighbourhood says which configurations are close to one another. All are symmetric.
type Neighbourhood int

// The neighbourhoods.
const (
	// Hamming neighbours differ in one parameter, by whatever value.
	Hamming Neighbourhood = iota
	// Adjacent neighbours differ in one parameter, and no valid configuration lies between
	// the two in the order of its values: the next valid one up, or down.
	Adjacent
	// StrictlyAdjacent neighbours differ in any number of parameters, in each by one place
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
