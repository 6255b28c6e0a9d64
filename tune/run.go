package tune

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// Run searches the space of a problem for its best configuration.
//
// It ends when the strategy is exhausted, a budget is reached or the context is cancelled;
// the outcome then holds all that was measured and says which of these it was. The best
// are measured again at the end, interleaved, and the winner comes from that. What the log
// already holds is not evaluated again, and counts in the budget. An error says that the
// run could not go on; the outcome then holds the results so far, or is nil where the run
// never began.
func Run(ctx context.Context, p *problem.Problem, evaluator Evaluator, o Options) (*Outcome, error) {
	started := time.Now()
	r, err := newRun(ctx, p, evaluator, o)
	switch {
	case err != nil && errors.Is(err, ctx.Err()):
		return &Outcome{Device: evaluator.Device(), Stop: Interrupted}, nil
	case err != nil:
		return nil, err
	}
	r.started = started
	defer r.strategy.Close()
	err = r.search(ctx)
	r.outcome.Withdrawn += len(r.doubts.held)
	r.keepRest()
	if err == nil && r.outcome.Stop != Environment {
		err = r.measureFinalists(ctx)
	}
	r.judgeFinals()
	if err == nil {
		err = r.keepFinals()
	}
	r.outcome.Best = Best(p.Objective(), r.outcome.Results)
	r.outcome.Elapsed = time.Since(started)
	return r.outcome, err
}

// run is the state of one Run.
type run struct {
	problem   *problem.Problem
	evaluator Evaluator
	options   Options
	space     *space.Space
	strategy  search.Strategy
	outcome   *Outcome

	started  time.Time
	known    map[int]Result // from the log, by index, not yet asked for
	retrying map[int]bool   // of known, those that are to be evaluated again first
	retried  map[int]Result // and those that were, not yet asked for
	good     *Result        // the best so far, of the log too
	proposed int            // configurations taken from the strategy
	spent    bool           // the budget leaves nothing that the log does not hold
	next     []int          // proposed, not yet handed to the evaluator
	out      map[int]bool   // configurations in the evaluator, by index
	asking   time.Duration  // the strategy's time since the last result
	hopeless *failures
	doubts   doubts
	window   *window // of a strategy that learns
	leader   *leader
	unkept   bool // the log does not hold the final measurement, or not whole
}

func newRun(ctx context.Context, p *problem.Problem, evaluator Evaluator, o Options) (*run, error) {
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
		outcome: &Outcome{Device: evaluator.Device(), Space: s},
		known:   map[int]Result{}, out: map[int]bool{}, retrying: map[int]bool{}, retried: map[int]Result{},
		hopeless: &failures{limit: hopelessAfter},
		leader:   newLeader(evaluator, p.Objective()),
	}
	if search.Learns(strategy) {
		r.window = newWindow(evaluator.Capacity(), o.MaxEvaluations)
	}
	if o.Log != nil {
		for _, previous := range o.Log.Previous() {
			if i, ok := s.Index(previous.Configuration); ok {
				r.known[i] = previous
				r.see(previous)
			}
		}
		r.retry()
	}
	r.hopeless.over = r.good != nil
	return r, nil
}

// retry chooses the failures of the log that are to be evaluated again, as far as the budget
// lets it.
func (r *run) retry() {
	for _, previous := range r.options.Log.Previous() {
		i, ok := r.space.Index(previous.Configuration)
		if !ok || r.retrying[i] || !slices.Contains(r.options.Retry, previous.Status) {
			continue
		}
		if limit := r.options.MaxEvaluations; limit > 0 && len(r.known) > limit {
			return
		}
		r.retrying[i] = true
		r.next = append(r.next, i)
	}
}

// see notes the best correct result.
func (r *run) see(result Result) {
	if Improves(r.problem.Objective(), &result, r.good) {
		r.good = &result
	}
}

// search evaluates until a reason to stop. Where failures are in doubt, the evaluator finishes
// what it holds, and the doubt is settled before anything else is evaluated.
func (r *run) search(ctx context.Context) error {
	r.observeLog()
	for {
		if err := r.evaluate(ctx); err != nil || r.outcome.Stop != "" {
			return err
		}
		if err := r.settle(ctx); err != nil || r.outcome.Stop != "" {
			return err
		}
	}
}

// isOver reports whether the run must not evaluate any more, and stops it then.
func (r *run) isOver(ctx context.Context) bool {
	if ctx.Err() != nil {
		r.stop(Interrupted)
	}
	if limit := r.options.TimeLimit; limit > 0 && time.Since(r.started) >= limit {
		r.stop(TimeIsUp)
	}
	return r.outcome.Stop != ""
}

// evaluate is the loop: ask, evaluate, record, tell. It ends where the run does, or where a
// failure is in doubt.
func (r *run) evaluate(ctx context.Context) error {
	evaluating, stop := context.WithCancel(ctx)
	defer stop()
	in := make(chan space.Configuration)
	out := make(chan Result)
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
	closeIn := func() {
		if !ending {
			ending = true
			close(in)
		}
	}
	for {
		r.isOver(ctx) // also where the timer's channel and the evaluator are ready at once
		if !ending {
			if len(r.doubts.held) == 0 && len(r.retrying) == 0 {
				r.next = r.ask(r.next)
				if len(r.next) == 0 && len(r.out) == 0 {
					r.stop(Exhausted)
				}
			}
			if r.outcome.Stop != "" || len(r.doubts.held) > 0 {
				closeIn()
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
			r.stop(TimeIsUp)
		case err := <-done:
			if ctx.Err() != nil {
				r.outcome.Stop = Interrupted // whatever else it would have been
				return nil
			}
			if err == nil && len(r.out) > 0 {
				err = fmt.Errorf("the evaluator ended with %d configurations unanswered", len(r.out))
			}
			if err == nil && !ending {
				err = errors.New("the evaluator ended before the search did")
			}
			return err
		}
	}
}

// drain waits for an evaluator that was told to stop, and keeps what it still sends in
// memory: the log may be what failed.
func (r *run) drain(out <-chan Result, done <-chan error) error {
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

// stop notes why the run ends; the first reason stands.
func (r *run) stop(reason StopReason) {
	if r.outcome.Stop == "" {
		r.outcome.Stop = reason
	}
}

// ask takes proposals, answering those of the log at once: until the evaluator is full, or,
// of a strategy that learns, as its window lets it.
func (r *run) ask(next []int) []int {
	if r.window != nil {
		return r.askInOrder(next)
	}
	for r.outcome.Stop == "" {
		free := max(1, r.evaluator.Capacity()) - len(r.out) - len(next)
		free = r.affordable(free, len(next))
		if free <= 0 {
			return next
		}
		proposals := r.proposals(free)
		if len(proposals) == 0 {
			return next
		}
		for _, i := range proposals {
			if previous, known := r.enter(i, &next); known {
				r.tell(i, previous)
			}
		}
	}
	return next
}

// affordable is how many of a number of proposals the budget allows. Where it is spent, and
// all is answered, the run stops.
func (r *run) affordable(n, next int) int {
	limit := r.options.MaxEvaluations
	if limit == 0 {
		return n
	}
	if r.proposed >= limit || r.spent {
		if len(r.out) == 0 && next == 0 && r.proposed < r.space.Len() {
			r.stop(Budget)
		}
		return 0
	}
	return min(n, limit-r.proposed)
}

// proposals asks the strategy.
func (r *run) proposals(n int) []int {
	began := time.Now()
	proposals := r.strategy.Ask(n)
	r.asking += time.Since(began)
	r.proposed += len(proposals)
	return proposals
}

// enter puts a proposal among those that are to be evaluated, unless the log knows it, or
// nothing that the log does not know is affordable any more.
func (r *run) enter(i int, next *[]int) (previous Result, known bool) {
	if previous, known = r.retried[i]; known {
		delete(r.retried, i)
		return previous, true
	}
	if previous, known = r.known[i]; !known {
		if r.spent = r.spent || r.isSpent(len(*next)); !r.spent {
			*next = append(*next, i)
		}
		return previous, false
	}
	delete(r.known, i)
	r.outcome.Resumed++
	r.keep(previous, true)
	return previous, true
}

// isSpent reports whether the budget is spent by what was evaluated, what is on its way, and
// what the log holds beyond that: a strategy need not propose all of that again.
func (r *run) isSpent(next int) bool {
	limit := r.options.MaxEvaluations
	return limit > 0 && len(r.outcome.Results)+len(r.out)+next+len(r.known) >= limit
}

// observeLog shows the evaluator the best of the log: what it is asked for first may already
// be far worse.
func (r *run) observeLog() {
	if r.options.Log == nil {
		return
	}
	for _, previous := range r.options.Log.Previous() {
		if _, ok := r.space.Index(previous.Configuration); ok {
			r.leader.see(previous)
		}
	}
}

// keepRest adds the results of the log that the strategy did not propose again: a run that
// was interrupted under another strategy or budget is part of this one.
func (r *run) keepRest() {
	if r.options.Log == nil {
		return
	}
	for _, previous := range r.options.Log.Previous() {
		i, ok := r.space.Index(previous.Configuration)
		if _, rest := r.known[i]; ok && rest {
			delete(r.known, i)
			r.outcome.Resumed++
			r.keep(previous, true)
		}
	}
}

// take judges, records and announces a result of the evaluator, and tells the strategy.
func (r *run) take(result Result) error {
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

// record keeps a result of the evaluator, in the log too, and tells the strategy.
func (r *run) record(i int, result Result) error {
	r.see(result)
	r.leader.see(result)
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
	if r.outcome.Stop == Hopeless && r.hopeless.first.Doubt != "" {
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

// answered is the index of a result, which must be of a configuration that the evaluator
// holds.
func (r *run) answered(result Result) (int, error) {
	i, ok := r.space.Index(result.Configuration)
	if !ok || !r.out[i] {
		return 0, fmt.Errorf("the evaluator answered with %s, for which it was not asked", result.Configuration)
	}
	delete(r.out, i)
	return i, nil
}

// keep puts a result into the outcome and announces it.
func (r *run) keep(result Result, resumed bool) {
	r.outcome.Results = append(r.outcome.Results, result)
	if r.options.OnResult != nil {
		r.options.OnResult(result, resumed)
	}
	if cause := r.hopeless.add(result); cause != "" && r.outcome.Stop == "" {
		r.outcome.Cause = cause
		r.stop(Hopeless)
	}
}

// tell hands a result to the strategy, or lets it wait for its turn.
func (r *run) tell(i int, result Result) {
	if r.window != nil {
		r.window.arrived[i] = result
		return
	}
	r.observe(i, result)
}

func (r *run) observe(i int, result Result) {
	observed := search.Observation{Index: i, Objective: result.Objective, Valid: result.Status == Correct}
	if r.problem.Objective().Maximize {
		observed.Objective = -observed.Objective
	}
	began := time.Now()
	r.strategy.Tell([]search.Observation{observed})
	r.asking += time.Since(began)
}

// judge computes metrics and objective. A correct result without a usable objective is
// none: a time of 0 would win every search.
func (r *run) judge(result *Result) {
	if result.Timestamp.IsZero() {
		result.Timestamp = time.Now()
	}
	if result.Status != Correct {
		return
	}
	stats := result.Stats()
	judgement, err := r.problem.Judge(result.Configuration, r.outcome.Device, stats, stats.Mean)
	result.Metrics, result.Objective = judgement.Metrics, judgement.Objective
	if err != nil {
		result.Status, result.Reason = Runtime, err.Error()
	}
}
