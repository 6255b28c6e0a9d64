package search

import "iter"

// A program is the algorithm of one walker, written as if evaluations were function calls. It
// may return when it has converged: another walker begins in its place.
type program func(w *walker)

// A walker runs a program, which waits inside of evaluate until what it wants is known.
type walker struct {
	memory   *memory
	place    int // in its team
	free     int // evaluations in a row that were known already
	patience int // how many of these it may have

	wanted  []int // not claimed yet
	missing int   // how many of those that were wanted are not known yet
	resting bool  // not among those that are ready

	ahead      func() (int, bool) // what it will want next, if nothing better comes; may be nil
	speculated int                // how many of these were taken

	resume func() ([]int, bool)
	stop   func()
	yield  func([]int) bool
}

// dismissed ends the program of a walker from within evaluate.
type dismissed struct{}

// newWalker is a walker that has not begun. It holds a coroutine, which stop ends.
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

// goOn resumes the program until it wants configurations; false where it ended, or has long
// wanted nothing that is not known.
func (w *walker) goOn(patience int) bool {
	w.patience = patience
	wanted, ok := w.resume()
	w.wanted, w.missing = wanted, len(wanted)
	return ok && len(wanted) > 0
}

// evaluate is the objectives of configurations, lower is better, +Inf for a failure. What is
// known already costs no evaluation. It does not return where the walker is dismissed.
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

// evaluateOne is evaluate for a single configuration.
func (w *walker) evaluateOne(i int) float64 { return w.evaluate(i)[0] }

// evaluateBefore is evaluateOne where others are likely to follow: next gives one after the
// other, so that they can be evaluated at the same time where there is room.
func (w *walker) evaluateBefore(i int, next func() (int, bool)) float64 {
	w.ahead, w.speculated = next, 0
	y := w.evaluateOne(i)
	w.ahead = nil
	return y
}
