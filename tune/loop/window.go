package loop

import (
	"github.com/ndtune/ndtune/tune"
)

// A window makes the proposals of a strategy independent of the order in which parallel evaluators
// answer, so that a search depends only on its seed, and an interrupt does not change it. The strategy
// is told results in the order of its proposals and asked for one more after each, so that the number
// of proposals under way stays the same. A result that comes early waits: one that is late holds up the others only if it needs as long as
// all evaluators need for the rest of the window, which is why the window is larger than what they work on at once.
type window struct {
	ahead   int   // the limit of len(untold)
	untold  []int // proposals whose results the strategy does not know yet, in order
	arrived map[int]tune.Result
}

const (
	// More proposals under way mean that each is made with fewer results. At most one in aheadShare of
	// the budget may be under way, but at least aheadLeast. From aheadMost on, a model needs longer for a proposal than results keep away.
	aheadShare = 4
	aheadLeast = 2
	aheadMost  = 128
)

// UnderWay returns how many proposals of a strategy that learns are under way at a time, for an evaluator that can use so many
// configurations and a budget of so many evaluations; 0: there is none.
func UnderWay(capacity, budget int) int { return within(capacity, budget, aheadShare, aheadMost) }

// EarlierUnderWay is what UnderWay was before run logs kept it.
func EarlierUnderWay(capacity, budget int) int { return within(capacity, budget, 8, 32) }

func within(capacity, budget, share, most int) int {
	ahead := min(max(1, capacity), most)
	if budget > 0 {
		ahead = min(ahead, max(aheadLeast, budget/share))
	}
	return ahead
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
