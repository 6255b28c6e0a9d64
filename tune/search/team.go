package search

import "iter"

// A team is a proposer made of walkers, which take turns. While some walkers wait for
// observations, others propose. If all wait and more configurations are asked for, the team
// proposes a few that they will probably want next, and then adds a walker. So one walker makes
// a sequential search, and more of them keep parallel evaluators busy.
//
// A walker is replaced when its program returns, or when it has wanted only known configurations
// for long. If its replacement wants nothing new either, the team draws a configuration at
// random.
type team struct {
	memory   *memory
	program  program // of each walker
	walkers  []*walker
	waiting  map[int][]*walker // by the configuration that they wait for
	ready    []*walker         // those that can continue, the longest ready first
	patience int               // see [walker]
}

// lookahead is the number of configurations that the team proposes for a waiting walker ahead of
// its wish.
const lookahead = 3

// patienceLimit is the number of known configurations that a walker may want in a row. The team
// halves its patience each time a configuration must be drawn instead, so that walks in a nearly
// exhausted space are short.
const patienceLimit = 128

// newTeam returns a team that begins with size walkers, but no more than configurations.
func newTeam(m *memory, size int, p program) *team {
	t := &team{memory: m, program: p, waiting: map[int][]*walker{}, patience: patienceLimit}
	for range min(size, m.length) {
		t.join()
	}
	return t
}

// join adds a walker.
func (t *team) join() {
	w := newWalker(t.memory, len(t.walkers), t.program)
	t.walkers = append(t.walkers, w)
	t.ready = append(t.ready, w)
}

// replace puts a new walker in the place of w, the first of the ready ones.
func (t *team) replace(w *walker) {
	w.stop()
	t.walkers[w.place] = newWalker(t.memory, w.place, t.program)
	t.ready = append(t.ready[1:], t.walkers[w.place])
}

func (t *team) next() (int, bool) {
	if i, ok := t.advance(); ok {
		t.patience = min(2*t.patience, patienceLimit)
		return i, true
	}
	t.patience = max(t.patience/2, 1)
	return t.memory.draw()
}

// advance lets walkers continue until one claims a configuration. It returns false if a walker
// was replaced or added, and the new one claimed nothing either.
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

// speculate claims a configuration that a waiting walker will probably want next.
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

// rest removes w, the first of the ready walkers, from these if it has nothing more to propose and
// waits for observations.
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

// A program is the algorithm of a walker, written as if evaluations were function calls. It may
// return when it has converged; then another walker begins in its place.
type program func(w *walker)

// A walker runs a program as a coroutine, which waits in evaluate for observations.
type walker struct {
	memory   *memory
	place    int // in its team
	free     int // how many times in a row evaluate found all configurations known
	patience int // the limit of free

	wanted  []int // configurations to claim
	missing int   // how many wanted configurations have no observation yet
	resting bool  // not among the ready walkers of the team

	ahead      func() (int, bool) // the configurations it will want next unless the wanted one is better; may be nil
	speculated int                // how many of these were taken

	resume func() ([]int, bool)
	stop   func()
	yield  func([]int) bool
}

// dismissed is the panic by which evaluate ends the program of a walker that was stopped.
type dismissed struct{}

// newWalker returns a walker that has not begun. Its coroutine must be ended by stop.
func newWalker(m *memory, place int, run program) *walker {
	w := &walker{memory: m, place: place}
	w.resume, w.stop = iter.Pull(func(yield func([]int) bool) {
		defer func() {
			if r := recover(); r != nil && r != (dismissed{}) {
				panic(r)
			}
		}()
		w.yield = yield
		run(w)
	})
	return w
}

// goOn resumes the program until it wants configurations. It returns false if the program ended,
// or wanted only known configurations for longer than patience.
func (w *walker) goOn(patience int) bool {
	w.patience = patience
	wanted, ok := w.resume()
	w.wanted, w.missing = wanted, len(wanted)
	return ok && len(wanted) > 0
}

// evaluate returns the objectives of configurations: lower is better, +Inf is a failure. Known
// configurations are not evaluated again. It does not return if the walker is stopped.
func (w *walker) evaluate(configurations ...int) []float64 {
	var wanted []int
	for _, i := range configurations {
		if _, ok := w.memory.objective(i); !ok {
			wanted = append(wanted, i)
		}
	}
	w.free++
	if len(wanted) > 0 {
		w.free = 0
	}
	if len(wanted) > 0 || w.free > w.patience {
		if !w.yield(wanted) {
			panic(dismissed{})
		}
	}
	objectives := make([]float64, len(configurations))
	for k, i := range configurations {
		objectives[k], _ = w.memory.objective(i)
	}
	return objectives
}

// evaluateOne returns the objective of a single configuration.
func (w *walker) evaluateOne(i int) float64 { return w.evaluate(i)[0] }

// evaluateBefore is like evaluateOne, but also names the configurations that will probably
// follow, which next returns one by one. They may be evaluated at the same time.
func (w *walker) evaluateBefore(i int, next func() (int, bool)) float64 {
	w.ahead, w.speculated = next, 0
	y := w.evaluateOne(i)
	w.ahead = nil
	return y
}

// A queue is a sequence whose elements can be read ahead of being taken.
type queue struct {
	next   func() (int, bool) // the sequence
	looked []int              // read ahead
}

// take returns the next element, or false at the end.
func (q *queue) take() (int, bool) {
	if len(q.looked) == 0 {
		return q.next()
	}
	i := q.looked[0]
	q.looked = q.looked[1:]
	return i, true
}

// more reads one more element ahead, or returns false at the end.
func (q *queue) more() (int, bool) {
	i, ok := q.next()
	if ok {
		q.looked = append(q.looked, i)
	}
	return i, ok
}

// clear drops the elements that were read ahead.
func (q *queue) clear() { q.looked = nil }
