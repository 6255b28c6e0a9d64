package space

// A walk goes down the diagrams of a space, parameter by parameter, all at once: the order of
// the space is that of the parameters, whatever groups they are in.
type walk struct {
	space *Space
	nodes []uint32 // by diagram, where the walk is
	left  []uint64 // by diagram, the combinations from there
}

func (s *Space) walk() *walk {
	w := &walk{space: s, nodes: make([]uint32, len(s.diagrams)), left: make([]uint64, len(s.diagrams))}
	for i, d := range s.diagrams {
		w.left[i] = d.count()
	}
	return w
}

// at is the level of a parameter, and the node there that the walk has come to.
func (w *walk) at(parameter int) (*level, uint32) {
	home := w.space.home[parameter]
	return &w.space.diagrams[home.diagram].levels[home.level], w.nodes[home.diagram]
}

// others is the number of combinations that all other diagrams have left.
func (w *walk) others(parameter int) uint64 {
	own := w.space.home[parameter].diagram
	n := uint64(1)
	for i, left := range w.left {
		if i != own {
			n = multiplyCounts(n, left)
		}
	}
	return n
}

// follow goes along an edge.
func (w *walk) follow(parameter int, edge uint32) {
	home := w.space.home[parameter]
	levels := w.space.diagrams[home.diagram].levels
	w.nodes[home.diagram] = levels[home.level].to[edge]
	w.left[home.diagram] = 1
	if next := home.level + 1; next < len(levels) {
		w.left[home.diagram] = levels[next].counts[w.nodes[home.diagram]]
	}
}
