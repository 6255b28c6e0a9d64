package loop

import (
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// A window makes the proposals of a strategy independent of the order in which parallel evaluators
// answer, so that a search depends only on its seed, and an interrupt does not change it. The strategy
// is told results in the order of its proposals and asked for one more after each, so that the number
// of proposals under way stays the same. A result that comes early waits.
type window struct {
	ahead   int   // the limit of len(untold)
	untold  []int // proposals whose results the strategy does not know yet, in order
	arrived map[int]tune.Result
}

const (
	// More proposals under way mean that each is made with fewer results. At most one in aheadShare of
	// the budget may be under way, but at least aheadLeast; without a budget, at most aheadMost.
	aheadShare = 8
	aheadLeast = 2
	aheadMost  = 32
)

func newWindow(capacity, budget int) *window {
	ahead := min(max(1, capacity), aheadMost)
	if budget > 0 {
		ahead = min(ahead, max(aheadLeast, budget/aheadShare))
	}
	return &window{ahead: ahead, arrived: map[int]tune.Result{}}
}

// tellFirst tells the strategy the result of the first proposal that it does not know yet. It returns
// false if that result has not arrived.
func (r *run) tellFirst() bool {
	w := r.window
	if len(w.untold) == 0 {
		return false
	}
	first := w.untold[0]
	result, ok := w.arrived[first]
	if ok {
		delete(w.arrived, first)
		w.untold = w.untold[1:]
		r.observe(first, result)
	}
	return ok
}

// foresee tells an evaluator that prepares configurations which ones will probably be proposed next, if there were proposals since it
// last did so.
func (r *run) foresee() {
	if r.foreseer == nil || r.foreseen == r.proposed {
		return
	}
	r.foreseen = r.proposed
	n := r.window.ahead
	if limit := r.options.MaxEvaluations; limit > 0 {
		n = min(n, max(0, limit-r.proposed+r.free(r.excluded)))
	}
	var probable []space.Configuration
	for _, i := range search.Foresee(r.strategy, n) {
		_, known := r.known[i]
		_, given := r.given[i]
		if !known && !given && r.refusal(i) == "" {
			probable = append(probable, r.space.At(i))
		}
	}
	r.foreseer.Foresee(probable)
}
