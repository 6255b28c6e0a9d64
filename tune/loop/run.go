package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// Run searches the space of a problem for its best configuration.
//
// It ends when the strategy is exhausted, a budget is spent or the context is cancelled. The outcome
// holds all results and the reason of the end. At the end the best configurations are measured again,
// in turn, and the winner is chosen by these times. Run does not evaluate configurations again
// that the log holds; they count in the budget. If the run cannot continue, Run returns an error and
// the results so far, or a nil outcome if the run never began.
func Run(ctx context.Context, p *problem.Problem, evaluator tune.Evaluator, o Options) (*tune.Outcome, error) {
	started := time.Now()
	r, err := newRun(ctx, p, evaluator, o)
	switch {
	case err != nil && errors.Is(err, ctx.Err()):
		return &tune.Outcome{Device: evaluator.Device(), Stop: tune.Interrupted}, nil
	case err != nil:
		return nil, err
	}
	r.started = started
	defer r.strategy.Close()
	if err = r.search(ctx); err == nil {
		err = r.stuck
	}
	r.outcome.Withdrawn += len(r.doubts.held)
	r.keepRest()
	if err == nil && r.outcome.Stop != tune.Environment {
		err = r.measureFinalists(ctx)
	}
	r.judgeFinals()
	if r.newest != nil && r.newest.Overtakes(p.Objective(), tune.Best(p.Objective(), r.outcome.Results)) {
		tune.ForgetFinals(r.outcome.Results)
	}
	if err == nil && o.Finalists >= 0 && !o.Untimed && r.outcome.Stop != tune.Environment {
		err = r.confirmBest(ctx)
	}
	if err == nil {
		err = r.keepFinals()
	}
	r.outcome.Best = tune.Best(p.Objective(), r.outcome.Results)
	r.outcome.Elapsed = time.Since(started)
	r.outcome.Warnings = append(r.outcome.Warnings, tune.Warnings(p, r.outcome.Results, r.outcome.Device)...)
	return r.outcome, err
}

// run is the state of one Run.
type run struct {
	problem    *problem.Problem
	evaluator  tune.Evaluator
	remeasurer tune.Remeasurer // the evaluator; nil: it is none
	prober     tune.Prober     // likewise
	options    Options
	space      *space.Space
	strategy   search.Strategy
	outcome    *tune.Outcome

	started  time.Time
	logged   []int               // indices of the results of the log, in its order
	known    map[int]tune.Result // those of these results that were not proposed yet
	given    map[int]tune.Result // of the options
	retrying map[int]bool        // known failures that are evaluated again first
	retried  map[int]tune.Result // new results of these that were not proposed yet
	good     *tune.Result        // the best so far, including the log; nil: none is correct
	newest   *tune.Result        // the best so far, without the log, after the final measurement that the log holds
	lead     *tune.Result        // the last one that was better than the one before by a worthwhile share
	front    [][]float64         // of several objectives: the points that no other one dominates
	idle     int                 // evaluations after it
	proposed int                 // number of configurations that the strategy proposed
	excluded int                 // number of these that the device's limits exclude
	refused  int                 // number of refused results, including the log
	spent    bool                // the budget leaves nothing that the log does not hold
	next     []int               // proposed, not yet handed to the evaluator
	out      map[int]bool        // configurations in the evaluator, by index
	asking   time.Duration       // the strategy's time since the last result
	cost     time.Duration       // of all results but those of the log, in workers side by side
	hopeless *failures
	doubts   doubts
	window   *window // nil: the strategy does not learn
	stuck    error   // of the strategy
	unkept   bool    // the log does not hold the whole final measurement
}

func newRun(ctx context.Context, p *problem.Problem, evaluator tune.Evaluator, o Options) (*run, error) {
	if err := p.CheckObjective(evaluator.Device()); err != nil {
		return nil, err
	}
	s := o.Space
	if s == nil {
		var err error
		if s, err = p.Space(ctx, evaluator.Device()); err != nil {
			return nil, err
		}
	}
	if o.Strategy == nil {
		o.Strategy = func(s *space.Space) (search.Strategy, error) { return search.New("brute_force", s, search.Options{}) }
	}
	strategy, err := o.Strategy(s)
	if err != nil {
		return nil, err
	}
	r := &run{
		problem: p, evaluator: evaluator, options: o, space: s, strategy: strategy,
		outcome: &tune.Outcome{Device: evaluator.Device(), Space: s},
		known:   map[int]tune.Result{}, given: map[int]tune.Result{}, out: map[int]bool{}, retrying: map[int]bool{}, retried: map[int]tune.Result{},
		hopeless: &failures{limit: hopelessAfter},
	}
	r.remeasurer, _ = evaluator.(tune.Remeasurer)
	r.prober, _ = evaluator.(tune.Prober)
	if search.Learns(strategy) {
		r.window = &window{ahead: cmp.Or(o.UnderWay, UnderWay(evaluator.Capacity(), o.MaxEvaluations)), arrived: map[int]tune.Result{}}
	}
	if o.Log != nil {
		for _, previous := range o.Log.Previous() {
			if i, ok := s.Index(previous.Configuration); ok {
				previous.Refused = previous.Status == tune.Constraints && r.refusal(i) != ""
				if _, twice := r.known[i]; previous.Refused && !twice {
					r.refused++
				}
				if previous.Rankable() { // perhaps by the mean, of an older program
					r.judge(&previous)
				}
				r.logged = append(r.logged, i)
				r.known[i] = previous
				r.see(previous)
				r.wait(previous)
			}
		}
	}
	for _, known := range o.Known {
		if i, ok := s.Index(known.Configuration); ok {
			known.Known, known.Readings = true, p.ReadingsOf(known.Metrics)
			r.given[i] = known
		}
	}
	r.retry()
	r.hopeless.over = r.good != nil
	return r, nil
}

// retry chooses the failures of the log that are evaluated again, within the budget.
func (r *run) retry() {
	for _, i := range r.logged {
		if r.retrying[i] || r.known[i].Refused || !slices.Contains(r.options.Retry, r.known[i].Status) {
			continue
		}
		if limit := r.options.MaxEvaluations; limit > 0 && len(r.known)-r.free(r.refused) > limit {
			return
		}
		r.retrying[i] = true
		r.next = append(r.next, i)
	}
}

// see keeps the best result and shows it to an evaluator that observes.
func (r *run) see(result tune.Result) {
	if !tune.Improves(r.problem.Objective(), &result, r.good) {
		return
	}
	r.good = &result
	// With several objectives, a much slower configuration may belong to the front.
	if r.prober != nil && !r.problem.Objective().Several() {
		r.prober.Observe(result)
	}
}

// search evaluates until there is a reason to stop. If failures are in doubt, the evaluator finishes
// the configurations that it holds, and the doubt is settled before any other is evaluated.
func (r *run) search(ctx context.Context) error {
	for {
		if err := r.evaluate(ctx); err != nil || r.outcome.Stop != "" {
			return err
		}
		if err := r.settle(ctx); err != nil || r.outcome.Stop != "" {
			return err
		}
	}
}

// evaluate is the loop: ask, evaluate, record, tell. It ends with the run, or if a failure is in doubt.
func (r *run) evaluate(ctx context.Context) error {
	evaluating, stop := context.WithCancel(ctx)
	defer stop()
	in := make(chan space.Configuration)
	out := make(chan tune.Result)
	done := make(chan error, 1)
	go func() { done <- r.evaluator.Evaluate(evaluating, in, out) }()

	var timeUp <-chan time.Time
	if limit := r.options.TimeLimit; limit > 0 {
		timer := time.NewTimer(limit - time.Since(r.started))
		defer timer.Stop()
		timeUp = timer.C
	}
	cancelled := ctx.Done()
	ending := false
	for {
		r.isOver(ctx) // also where the timer's channel and the evaluator are ready at once
		if !ending {
			if len(r.doubts.held) == 0 && len(r.retrying) == 0 {
				if err := r.ask(ctx); err != nil {
					stop()
					return errors.Join(err, r.drain(out, done))
				}
				if len(r.next) == 0 && len(r.out) == 0 {
					r.stop(tune.Exhausted)
				}
			}
			if r.outcome.Stop != "" || len(r.doubts.held) > 0 {
				ending = true
				if d, ok := r.evaluator.(dropper); ok && r.outcome.Stop == tune.TimeIsUp {
					d.DropWaiting()
				}
				close(in)
			}
		}
		if r.outcome.Stop != "" {
			r.next = nil
		}
		var send chan<- space.Configuration
		var configuration space.Configuration
		if len(r.next) > 0 && !ending && len(r.out) < max(1, r.evaluator.Capacity()) {
			send, configuration = in, r.space.At(r.next[0])
		}
		select {
		case send <- configuration:
			r.out[r.next[0]] = true
			r.next = r.next[1:]
		case <-cancelled: // seen above
			cancelled = nil
		case result := <-out:
			if err := r.take(result); err != nil {
				stop()
				return errors.Join(err, r.drain(out, done))
			}
		case <-timeUp:
			r.stop(tune.TimeIsUp)
		case err := <-done:
			if ctx.Err() != nil {
				r.outcome.Stop = tune.Interrupted // whatever else it would have been
				return nil
			}
			if err == nil && len(r.out) > 0 && r.outcome.Stop != tune.TimeIsUp {
				err = fmt.Errorf("the evaluator ended with %d configurations unanswered", len(r.out))
			}
			if err == nil && !ending {
				err = errors.New("the evaluator ended before the search did")
			}
			return err
		}
	}
}

// A dropper is an evaluator with configurations that have not begun. After DropWaiting, which may be called while Evaluate runs, that
// Evaluate begins none of them, and does not answer them.
type dropper interface{ DropWaiting() }

// drain waits for an evaluator that was told to stop. It keeps further results in memory only,
// because the log may have failed.
func (r *run) drain(out <-chan tune.Result, done <-chan error) error {
	for {
		select {
		case result := <-out:
			if _, err := r.answered(result); err == nil {
				r.judge(&result)
				r.keep(result, false)
			}
		case err := <-done:
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
	}
}

// ask takes proposals until the evaluator is full, or until the window of a strategy that learns is.
// It answers proposals that the log knows, and those that the device's limits exclude. If the strategy fails, the search ends: the
// configurations in the evaluator are finished first.
func (r *run) ask(ctx context.Context) error {
	for !r.isOver(ctx) {
		if r.hasRoom() && r.isAffordable() {
			i, ok, err := r.propose(ctx)
			if err != nil && !r.isOver(ctx) {
				r.stuck = err
				r.stop(tune.StrategyFailed)
			}
			if ok {
				if err := r.enter(i); err != nil {
					return err
				}
				continue
			}
		}
		if r.window == nil || !r.tellFirst() {
			break
		}
	}
	return nil
}

// hasRoom reports whether there can be one more proposal.
func (r *run) hasRoom() bool {
	if w := r.window; w != nil {
		return len(w.untold) < w.ahead
	}
	return len(r.out)+len(r.next) < max(1, r.evaluator.Capacity())
}

// propose asks the strategy for one configuration. A strategy that takes long is left alone when the time limit is over.
func (r *run) propose(ctx context.Context) (i int, ok bool, err error) {
	if limit := r.options.TimeLimit; limit > 0 {
		var forget context.CancelFunc
		ctx, forget = context.WithDeadline(ctx, r.started.Add(limit))
		defer forget()
	}
	began := time.Now()
	proposals, err := search.Ask(ctx, r.strategy, 1)
	r.asking += time.Since(began)
	if len(proposals) == 0 {
		return 0, false, err
	}
	r.proposed++
	if r.window != nil {
		r.window.untold = append(r.window.untold, proposals[0])
	}
	return proposals[0], true, nil
}

// enter adds a proposal to those that will be evaluated, unless the log or the caller knows its result, the device's
// limits exclude it, or the budget is spent.
func (r *run) enter(i int) error {
	if previous, known := r.retried[i]; known {
		delete(r.retried, i)
		r.tell(i, previous)
		return nil
	}
	if previous, known := r.known[i]; known {
		if previous.Refused {
			r.excluded++
		}
		r.resume(i, previous)
		r.tell(i, previous)
		return nil
	}
	if r.spent = r.spent || r.isSpent(); r.spent {
		return nil
	}
	reason := r.refusal(i)
	given, known := r.given[i]
	switch {
	case reason != "":
	case known:
		r.judge(&given)
		return r.record(i, given)
	default:
		r.next = append(r.next, i)
		return nil
	}
	r.excluded++
	r.refused++
	return r.record(i, tune.Result{Configuration: r.space.At(i), Status: tune.Constraints, Reason: reason, Refused: true, Timestamp: time.Now()})
}

// refusal returns the reason why a limit of the device excludes a configuration, before it is built, or "".
func (r *run) refusal(i int) string {
	return r.problem.ExceededLimit(r.space.At(i), r.outcome.Device)
}

// keepRest adds the results of the log that the strategy did not propose again: the interrupted run
// may have had another strategy or budget.
func (r *run) keepRest() {
	for _, i := range r.logged {
		if previous, rest := r.known[i]; rest {
			r.resume(i, previous)
		}
	}
}

// resume adds a result of the log to the outcome.
func (r *run) resume(i int, previous tune.Result) {
	delete(r.known, i)
	r.outcome.Resumed++
	r.keep(previous, true)
}

// take judges and records a result of the evaluator, unless it is in doubt.
func (r *run) take(result tune.Result) error {
	i, err := r.answered(result)
	if err != nil {
		return err
	}
	result.Durations.Search = r.asking
	r.asking = 0
	r.judge(&result)
	if r.doubts.hold(result, r.good != nil) {
		return nil
	}
	return r.record(i, result)
}

// record keeps a result of the evaluator, in the log too, and tells it to the strategy.
func (r *run) record(i int, result tune.Result) error {
	r.see(result)
	var err error
	if log := r.options.Log; log != nil {
		if r.retrying[i] {
			err = log.Withdraw(r.known[i])
		}
		if err == nil {
			err = log.Append(result)
		}
	}
	r.keep(result, false)
	if err != nil {
		return fmt.Errorf("keep the result of %s: %w", result.Configuration, err)
	}
	if r.outcome.Stop == tune.Hopeless && r.hopeless.first.Doubt != "" {
		return r.blame(r.outcome.Cause)
	}
	if r.retrying[i] {
		delete(r.retrying, i)
		delete(r.known, i)
		r.retried[i] = result
		return nil // the strategy is told when it asks for it
	}
	r.tell(i, result)
	return nil
}

// answered returns the index of a result. It is an error if the evaluator does not hold its
// configuration.
func (r *run) answered(result tune.Result) (int, error) {
	i, ok := r.space.Index(result.Configuration)
	if !ok || !r.out[i] {
		return 0, fmt.Errorf("the evaluator answered with %s, for which it was not asked", result.Configuration)
	}
	delete(r.out, i)
	return i, nil
}

// keep adds a result to the outcome and announces it.
func (r *run) keep(result tune.Result, resumed bool) {
	r.outcome.Results = append(r.outcome.Results, result)
	if !resumed {
		r.cost += result.Durations.Total()
		r.wait(result)
		if tune.Improves(r.problem.Objective(), &result, r.newest) {
			r.newest = &result
		}
	}
	if r.options.OnResult != nil {
		r.options.OnResult(result, resumed)
	}
	if cause := r.hopeless.add(result); cause != "" && r.outcome.Stop == "" {
		r.outcome.Cause = cause
		r.stop(tune.Hopeless)
	}
}

// tell tells a result to the strategy, or keeps it until its turn comes.
func (r *run) tell(i int, result tune.Result) {
	if r.window != nil {
		r.window.arrived[i] = result
		return
	}
	r.observe(i, result)
}

func (r *run) observe(i int, result tune.Result) {
	observed := search.Observation{Index: i, Objective: result.Objective, Valid: result.Status == tune.Correct, Status: string(result.Status)}
	o := r.problem.Objective()
	if o.Maximize {
		observed.Objective = -observed.Objective
	}
	if observed.Valid && o.Several() {
		observed.More = result.SearchValues(o)[1:]
	}
	began := time.Now()
	r.strategy.Tell([]search.Observation{observed})
	r.asking += time.Since(began)
}

// judge computes the metrics and the objective. A correct result whose objective cannot be ranked
// becomes a failure: a time of 0 would win every search.
func (r *run) judge(result *tune.Result) {
	if result.Timestamp.IsZero() {
		result.Timestamp = time.Now()
	}
	if result.Status != tune.Correct || r.options.Untimed {
		return
	}
	judgement, err := r.problem.Judge(result.Configuration, r.outcome.Device, result.Stats(), result.Parts, result.Readings)
	result.Metrics, result.Objective = judgement.Metrics, judgement.Objective
	if !r.problem.IsPipeline() {
		if launches, err := r.problem.Launches(result.Configuration, r.outcome.Device); err == nil {
			l := launches[0].NDRange
			result.Global, result.Local, result.Offset = l.Global(), l.WorkGroup(), l.GlobalOffset()
		}
	}
	if err != nil {
		result.Status, result.Reason = tune.Runtime, err.Error()
	}
}
