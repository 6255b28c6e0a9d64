package space

// A walk goes down the diagrams of a space, parameter by parameter, all at once: the order of
// the space is that of the parameters, whatever groups they are in.
type walk struct {
	space     *Space
	positions []position // by diagram
	begun     int        // diagrams: each begins at its first parameter, in their order
	open      int32      // the first of a list of those that have begun and not ended; -1: none
}

// A position is where a walk is in a diagram.
type position struct {
	left           uint64 // of an open diagram, the combinations from there
	node           uint32
	next, previous int32 // in the list of open diagrams
}

func (s *Space) walk() *walk {
	return &walk{space: s, positions: make([]position, len(s.diagrams)), open: -1}
}

// at is the level of a parameter, and the node there that the walk has come to.
func (w *walk) at(parameter int) (*level, uint32) {
	home := w.space.home[parameter]
	return &w.space.diagrams[home.diagram].levels[home.level], w.positions[home.diagram].node
}

// others is the number of combinations that all other diagrams have left.
func (w *walk) others(parameter int) uint64 {
	home := w.space.home[parameter]
	later := w.begun
	if home.level == 0 {
		later++
	}
	n := w.space.rest[later]
	for i := w.open; i >= 0; i = w.positions[i].next {
		if int(i) != home.diagram {
			n = multiplyCounts(n, w.positions[i].left)
		}
	}
	return n
}

// follow goes along an edge.
func (w *walk) follow(parameter int, edge uint32) {
	home := w.space.home[parameter]
	levels := w.space.diagrams[home.diagram].levels
	p := &w.positions[home.diagram]
	p.node = levels[home.level].to[edge]
	next := home.level + 1
	if home.level == 0 {
		w.begun++
		if next < len(levels) {
			w.insert(int32(home.diagram))
		}
	} else if next == len(levels) {
		w.remove(p)
	}
	if next < len(levels) {
		p.left = levels[next].counts[p.node]
	}
}

// insert puts a diagram into the list of those that are open.
func (w *walk) insert(diagram int32) {
	p := &w.positions[diagram]
	p.next, p.previous = w.open, -1
	if w.open >= 0 {
		w.positions[w.open].previous = diagram
	}
	w.open = diagram
}

// remove takes it out of there.
func (w *walk) remove(p *position) {
	if p.next >= 0 {
		w.positions[p.next].previous = p.previous
	}
	if p.previous >= 0 {
		w.positions[p.previous].next = p.next
	} else {
		w.open = p.next
	}
}
