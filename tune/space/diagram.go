package space

import (
	"math"
	"math/bits"
	"slices"
	"sort"
)

// A diagram holds the valid combinations of some parameters: a layered graph from one node
// to the end, in which every path is a combination, and combinations that differ only in what
// no restriction asks for any more share their nodes (a multi-valued decision diagram;
// Srinivasan et al., «Algorithms for discrete function manipulation», ICCAD 1990).
//
// It is built parameter by parameter. A node stands for what the restrictions that are still
// to be decided know of the values so far: not the values, but the parts of the restrictions
// that they determine, so that 2·8 and 4·4 are one where only the product counts.
type diagram struct {
	parameters []int // the parameters, by their indices, in order
	levels     []level
}

// A level is the nodes at which one parameter is bound.
type level struct {
	first  []uint32 // by node, its first edge; one more at the end
	digits []uint16 // by edge, the index of the value; ascending within a node
	to     []uint32 // by edge, the node of the next level
	before []uint64 // by edge, the combinations of the node's earlier edges
	counts []uint64 // by node, its combinations
}

// count is the number of combinations; math.MaxUint64 stands for that many and more.
func (d *diagram) count() uint64 { return d.levels[0].counts[0] }

// edges are the edges of a node.
func (l *level) edges(node uint32) (from, to uint32) { return l.first[node], l.first[node+1] }

// find is the edge of a node with a digit.
func (l *level) find(node uint32, digit uint16) (edge uint32, ok bool) {
	from, to := l.edges(node)
	i, ok := slices.BinarySearch(l.digits[from:to], digit)
	return from + uint32(i), ok
}

// holding is the edge of a node within which the combination of a rank lies.
func (l *level) holding(node uint32, rank uint64) (edge uint32) {
	from, to := l.edges(node)
	n := sort.Search(int(to-from), func(i int) bool { return l.before[from+uint32(i)] > rank })
	return from + uint32(n) - 1
}

// A condition is a restriction, or one of those that an «and» joins, for the construction.
type condition struct {
	index int // of the restriction, in the order of the list
	node  *node
	low   int // the first parameter that it reads, by its index
}

// A failedCondition says that a restriction could not be computed for values that all
// others allow.
type failedCondition struct {
	index  int
	digits map[int]uint16 // of the parameters that are bound, by index
}

// newDiagram builds the diagram of a group of parameters. Where the budget is spent, it gives
// neither a diagram nor a condition, but the index of the parameter at which it was.
func newDiagram(p *Parameters, b *nodes, g *group, bound *budget) (d *diagram, failed *failedCondition, spentAt int) {
	parameters := g.parameters
	d = &diagram{parameters: parameters, levels: make([]level, len(parameters))}
	at := &layer{keys: newKeys(0)}
	at.keys.add(nil)
	history := make([]*layer, 0, len(parameters))
	for i, parameter := range parameters {
		step := newStep(p, b, parameter, at.known, g.conditions, bound)
		history = append(history, at)
		next, failed := step.run(at, &d.levels[i])
		if failed != nil {
			return nil, failed.at(parameters, history), 0
		}
		if bound.spent() {
			return nil, nil, parameter
		}
		at = next
		history[i].keys = nil // only the way back is needed further
	}
	d.countUp()
	return d, nil, 0
}

// manyGroups is the number of groups above which diagrams are joined: the time of a walk grows
// with the number of diagrams at each of its parameters.
const manyGroups = 64

// join puts a diagram behind the end of this one, where its parameters come later and the
// number of all combinations is known. It reports whether it did.
func (d *diagram) join(later *diagram) bool {
	count := later.count()
	if d.parameters[len(d.parameters)-1] > later.parameters[0] || multiplyCounts(d.count(), count) == math.MaxUint64 {
		return false
	}
	if count != 1 {
		for _, l := range d.levels {
			for i := range l.before {
				l.before[i] *= count
			}
			for i := range l.counts {
				l.counts[i] *= count
			}
		}
	}
	d.parameters, d.levels = append(d.parameters, later.parameters...), append(d.levels, later.levels...)
	return true
}

// countUp counts combinations from the end, and strikes the edges that lead to none.
func (d *diagram) countUp() {
	var next []uint64
	for i := len(d.levels) - 1; i >= 0; i-- {
		l := &d.levels[i]
		n := len(l.first) - 1
		l.counts = make([]uint64, n)
		l.before = make([]uint64, 0, len(l.digits))
		kept := uint32(0)
		for node := range n {
			from, to := l.first[node], l.first[node+1]
			l.first[node] = kept
			sum := uint64(0)
			for e := from; e < to; e++ {
				count := uint64(1)
				if next != nil {
					if count = next[l.to[e]]; count == 0 {
						continue
					}
				}
				l.digits[kept], l.to[kept] = l.digits[e], l.to[e]
				l.before = append(l.before, sum)
				kept++
				sum = addCounts(sum, count)
			}
			l.counts[node] = sum
		}
		l.first[n] = kept
		l.digits, l.to = slices.Clip(l.digits[:kept]), slices.Clip(l.to[:kept])
		next = l.counts
	}
}

// addCounts and multiplyCounts stay at the largest number.
func addCounts(a, b uint64) uint64 {
	if sum, carry := bits.Add64(a, b, 0); carry == 0 {
		return sum
	}
	return math.MaxUint64
}

func multiplyCounts(a, b uint64) uint64 {
	if high, low := bits.Mul64(a, b); high == 0 {
		return low
	}
	return math.MaxUint64
}
