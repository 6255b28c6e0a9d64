package tune

// leader follows the best result of a run and tells an evaluator that observes it.
type leader struct {
	observer  Observer // nil: nobody wants to know
	objective Objective
	best      *Result
}

func newLeader(e Evaluator, o Objective) *leader {
	observer, _ := e.(Observer)
	return &leader{observer: observer, objective: o}
}

// see takes a result that was judged.
func (l *leader) see(r Result) {
	if l.observer == nil || !l.objective.Improves(&r, l.best) {
		return
	}
	l.best = &r
	l.observer.Observe(r)
}
