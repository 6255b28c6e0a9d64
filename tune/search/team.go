package search

// A team is a proposer made of walkers, which take turns. A walker that waits for
// observations does not keep the others from proposing. When all wait and more is asked for,
// the next few that they are likely to want are proposed, and then another walker joins: one
// walker makes a sequential search, and as many as it takes keep parallel evaluators busy.
//
// A walker whose program returns, or which gets nothing but known configurations for long,
// makes room for a new one. Where that brings nothing new either, the configuration that is
// due is drawn from those that were never proposed.
type team struct {
	memory   *memory
	program  func(place int) program // of the walker in a place of the team
	walkers  []*walker
	waiting  map[int][]*walker // by configuration
	ready    []*walker         // those that can go on, in the order in which they could
	patience int               // see walker
}

// lookahead is how many configurations a walker that waits may have evaluated besides, which
// it is likely to want next.
const lookahead = 3

// patienceLimit is how many evaluations in a row a walker may get for nothing. It is halved
// each time that they led to nothing new, so that a space that is nearly exhausted costs no
// long walks.
const patienceLimit = 128

// newTeam is a team of size walkers to begin with, or of as many as there are configurations.
func newTeam(m *memory, size int, p func(place int) program) *team {
	t := &team{memory: m, program: p, waiting: map[int][]*walker{}, patience: patienceLimit}
	for range min(size, m.length) {
		t.join()
	}
	return t
}

// join adds a walker.
func (t *team) join() {
	w := newWalker(t.memory, len(t.walkers), t.program(len(t.walkers)))
	t.walkers = append(t.walkers, w)
	t.ready = append(t.ready, w)
}

// replace lets another walker begin in the place of one that is ready.
func (t *team) replace(w *walker) {
	w.stop()
	t.walkers[w.place] = newWalker(t.memory, w.place, t.program(w.place))
	t.ready = append(t.ready[1:], t.walkers[w.place])
}

func (t *team) propose(n int) []int {
	var proposed []int
	for len(proposed) < n && !t.memory.exhausted() {
		i, ok := t.advance()
		if ok {
			t.patience = min(2*t.patience, patienceLimit)
		} else if i, ok = t.memory.draw(); ok {
			t.patience = max(t.patience/2, 1)
		}
		if ok {
			proposed = append(proposed, i)
		}
	}
	return proposed
}

// advance lets walkers go on until one of them claims a configuration; false where one gave
// up, and the one that came for it claimed nothing either.
func (t *team) advance() (int, bool) {
	for fresh := 0; ; {
		if len(t.ready) == 0 {
			if i, ok := t.speculate(); ok {
				return i, true
			}
			if fresh++; fresh > 1 {
				return 0, false
			}
			t.join()
		}
		w := t.ready[0]
		for len(w.wanted) > 0 {
			i := w.wanted[0]
			w.wanted = w.wanted[1:]
			if t.memory.claim(i) {
				t.rest(w)
				return i, true
			}
		}
		if w.missing > 0 {
			t.rest(w)
			continue
		}
		if w.goOn(t.patience) {
			for _, i := range w.wanted {
				t.waiting[i] = append(t.waiting[i], w)
			}
			continue
		}
		t.replace(w)
		if fresh++; fresh > 1 {
			return 0, false
		}
	}
}

// speculate claims what a walker that waits is likely to want next.
func (t *team) speculate() (int, bool) {
	for _, w := range t.walkers {
		for w.ahead != nil && w.speculated < lookahead {
			i, ok := w.ahead()
			if !ok {
				w.ahead = nil
				break
			}
			w.speculated++
			if t.memory.claim(i) {
				return i, true
			}
		}
	}
	return 0, false
}

// rest takes the first of those that are ready out of them, where it has nothing to propose
// and waits.
func (t *team) rest(w *walker) {
	if len(w.wanted) == 0 && w.missing > 0 {
		t.ready = t.ready[1:]
		w.resting = true
	}
}

func (t *team) observe(o Observation) {
	for _, w := range t.waiting[o.Index] {
		if w.missing--; w.missing == 0 && w.resting {
			w.resting = false
			t.ready = append(t.ready, w)
		}
	}
	delete(t.waiting, o.Index)
}

func (t *team) close() {
	for _, w := range t.walkers {
		w.stop()
	}
	t.walkers, t.ready = nil, nil
}
