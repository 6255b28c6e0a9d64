package tune

// A window makes what a strategy proposes independent of the order in which parallel
// evaluators answer, so that a search with one seed is one search, and goes on after an
// interrupt as it would have without: the strategy is told results in the order in which it
// proposed them, and it is asked for one more after each, so that it is always the same number
// ahead. A result that comes early waits.
type window struct {
	ahead   int   // proposals that are not told yet, at most
	untold  []int // in the order of their proposal
	arrived map[int]Result
}

const (
	// The more proposals are under way, the less of the results does each one know. Of a
	// budget, no more than a part of aheadShare may be under way; without one, aheadMost.
	aheadShare = 8
	aheadLeast = 2
	aheadMost  = 32
)

func newWindow(capacity, budget int) *window {
	ahead := min(max(1, capacity), aheadMost)
	if budget > 0 {
		ahead = min(ahead, max(aheadLeast, budget/aheadShare))
	}
	return &window{ahead: ahead, arrived: map[int]Result{}}
}

// askInOrder is ask for a strategy that learns.
func (r *run) askInOrder(next []int) []int {
	w := r.window
	for moved := true; moved && r.outcome.Stop == ""; {
		moved = false
		for len(w.untold) < w.ahead && r.outcome.Stop == "" {
			if r.affordable(1, len(next)) == 0 {
				break
			}
			proposals := r.proposals(1)
			if len(proposals) == 0 {
				break
			}
			moved = true
			w.untold = append(w.untold, proposals[0])
			if previous, known := r.enter(proposals[0], &next); known {
				w.arrived[proposals[0]] = previous
			}
		}
		if len(w.untold) == 0 {
			break
		}
		first := w.untold[0]
		if result, ok := w.arrived[first]; ok {
			delete(w.arrived, first)
			w.untold = w.untold[1:]
			r.observe(first, result)
			moved = true
		}
	}
	return next
}
