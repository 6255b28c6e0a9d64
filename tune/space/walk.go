package space

import "slices"

// A walk goes down the diagrams of a space, parameter by parameter, all at once: the order of
// the space is that of the parameters, whatever groups they are in.
type walk struct {
	space *Space
	nodes []uint32 // by diagram, where the walk is
	begun int      // diagrams: a diagram begins at its first parameter, in their order
	open  []int    // those of them that have not ended
	left  []uint64 // by open diagram, the combinations from where the walk is
}

func (s *Space) walk() *walk {
	return &walk{space: s, nodes: make([]uint32, len(s.diagrams)), left: make([]uint64, len(s.diagrams))}
}

// at is the level of a parameter, and the node there that the walk has come to.
func (w *walk) at(parameter int) (*level, uint32) {
	home := w.space.home[parameter]
	return &w.space.diagrams[home.diagram].levels[home.level], w.nodes[home.diagram]
}

// others is the number of combinations that all other diagrams have left.
func (w *walk) others(parameter int) uint64 {
	home := w.space.home[parameter]
	later := w.begun
	if home.level == 0 {
		later++
	}
	n := w.space.rest[later]
	for _, i := range w.open {
		if i != home.diagram {
			n = multiplyCounts(n, w.left[i])
		}
	}
	return n
}

// follow goes along an edge.
func (w *walk) follow(parameter int, edge uint32) {
	home := w.space.home[parameter]
	levels := w.space.diagrams[home.diagram].levels
	w.nodes[home.diagram] = levels[home.level].to[edge]
	if home.level == 0 {
		w.begun++
		w.open = append(w.open, home.diagram)
	}
	if next := home.level + 1; next < len(levels) {
		w.left[home.diagram] = levels[next].counts[w.nodes[home.diagram]]
	} else {
		i := slices.Index(w.open, home.diagram)
		w.open = slices.Delete(w.open, i, i+1)
	}
}
