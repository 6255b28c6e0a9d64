package loop

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/search"
)

// wait counts the evaluations since the last worthwhile improvement.
func (r *run) wait(result tune.Result) {
	if result.Refused {
		return
	}
	r.idle++
	o := r.problem.Objective()
	if o.Several() {
		if r.widens(&result) {
			r.idle = 0
		}
		return
	}
	if !tune.Improves(o, &result, r.lead) {
		return
	}
	if r.lead != nil {
		if gain, known := o.Gain(result.Objective, r.lead.Objective); known && gain*worthwhile < 1 {
			return
		}
	}
	r.lead, r.idle = &result, 0
}

// widens adds a result to the front, and reports whether no point of the front before it would dominate it if it were
// worse by a worthwhile share in each objective.
func (r *run) widens(result *tune.Result) bool {
	if !result.Rankable() {
		return false
	}
	values := result.SearchValues(r.problem.Objective())
	worse := each.Of(values, func(v float64) float64 { return v + (1-worthwhile)*math.Abs(v) })
	beaten := func(values []float64) bool {
		return slices.ContainsFunc(r.front, func(p []float64) bool { return search.Dominates(p, values) || slices.Equal(p, values) })
	}
	worthwhile := !beaten(worse)
	if !beaten(values) {
		r.front = slices.DeleteFunc(r.front, func(p []float64) bool { return search.Dominates(values, p) })
		r.front = append(r.front, values)
	}
	return worthwhile
}

// isOver reports whether the run must not evaluate any more, and notes the reason.
func (r *run) isOver(ctx context.Context) bool {
	if ctx.Err() != nil {
		r.stop(tune.Interrupted)
	}
	if limit := r.options.TimeLimit; limit > 0 && time.Since(r.started) >= limit {
		r.stop(tune.TimeIsUp)
	}
	if limit := r.options.Patience; limit > 0 && r.idle >= limit {
		r.stop(tune.Settled)
	}
	return r.outcome.Stop != ""
}

// stop notes why the run ends. The first reason stands.
func (r *run) stop(reason tune.StopReason) {
	if r.outcome.Stop == "" {
		r.outcome.Stop = reason
	}
}

// isAffordable reports whether the budget allows one more proposal. If it does not, and all proposals
// are answered, the run stops.
func (r *run) isAffordable() bool {
	limit := r.options.MaxEvaluations
	if limit == 0 || r.proposed-r.free(r.excluded) < limit && !r.spent {
		return true
	}
	if len(r.out) == 0 && len(r.next) == 0 && r.proposed < r.space.Len() {
		r.stop(tune.Budget)
	}
	return false
}

// free returns how many of n refused configurations the budget leaves out. Their number is bounded, so
// that a search ends where limits exclude nearly all configurations of a large space.
func (r *run) free(n int) int { return min(n, freeRefusals*r.options.MaxEvaluations) }

// isSpent reports whether the budget is spent by the results, the proposals under way and the further
// results of the log, all of which the strategy may never propose again.
func (r *run) isSpent() bool {
	limit := r.options.MaxEvaluations
	return limit > 0 && len(r.outcome.Results)+len(r.out)+len(r.next)+len(r.known)-r.free(r.refused) >= limit
}
