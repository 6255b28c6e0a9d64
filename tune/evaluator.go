package tune

import (
	"context"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// An Evaluator turns configurations into results on one device, or on something that
// stands for one.
//
// Evaluate takes configurations from in as they come and sends a result for each to out as
// it is complete, in any order. It returns nil once in is closed and all results are sent,
// and ctx's error promptly once that is done; results of configurations in flight may then
// be missing. The caller receives from out until Evaluate returns. A bad configuration is
// a Result, never an error: an error says that the evaluator cannot go on at all. Evaluate
// closes neither channel, and sets neither Metrics nor Objective.
type Evaluator interface {
	Device() hardware.Device
	// Capacity is how many configurations it can usefully hold at once, at least 1.
	Capacity() int
	Evaluate(ctx context.Context, in <-chan space.Configuration, out chan<- Result) error
}

// A Remeasurer is an Evaluator that can measure configurations again, interleaved: in each
// of the rounds every configuration is launched once, so that a drift of the device's
// speed meets all alike. The result has one slice of times in milliseconds for each
// configuration; it is empty where that failed this time.
type Remeasurer interface {
	Evaluator
	Remeasure(ctx context.Context, configurations []space.Configuration, rounds int) ([][]float64, error)
}

// An Observer is an Evaluator that learns of the best result so far, to spend no more time
// than needed on what is far worse. Run calls Observe, in its own goroutine, with each
// correct result that is better by the objective than all before it: with the results of the
// log before it calls Evaluate, then while Evaluate runs, so that the two must not disturb
// each other. The result has its metrics and its objective; its slices must not be changed.
type Observer interface {
	Evaluator
	Observe(best Result)
}

// A Prober is an Evaluator that can evaluate a configuration as if it had never seen it: nothing
// that a driver keeps of an earlier build is used, so that what can go wrong then goes wrong now.
// Probe is not called while Evaluate runs.
type Prober interface {
	Evaluator
	Probe(ctx context.Context, c space.Configuration) (Result, error)
}

// A Log keeps results as they arrive, and knows those of an earlier, interrupted run.
type Log interface {
	Previous() []Result
	Append(Result) error
	// Withdraw takes back a failure, so that its configuration has no result.
	Withdraw(Result) error
	// AppendFinal keeps the final measurement of a result: Final and AtFinal.
	AppendFinal(Result) error
}

// leader follows the best result of a run and tells an evaluator that observes it.
type leader struct {
	observer  Observer // nil: nobody wants to know
	objective problem.Objective
	best      *Result
}

func newLeader(e Evaluator, o problem.Objective) *leader {
	observer, _ := e.(Observer)
	return &leader{observer: observer, objective: o}
}

// see takes a result that was judged.
func (l *leader) see(r Result) {
	if l.observer == nil || !Improves(l.objective, &r, l.best) {
		return
	}
	l.best = &r
	l.observer.Observe(r)
}
