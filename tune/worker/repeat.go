package worker

import (
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
)

// An assignment whose launches were so slow that it was given up, or measured only once, is evaluated again before its result
// counts: other work on the machine can delay a launch. That happens when no build waits to be measured, and takes at most a share of
// the time of the search. A build, a first launch or a check that hangs is not repeated.

const (
	// repeatShare is the inverse of that share.
	repeatShare = 20
	// maxSlow is the largest number of assignments that wait to be repeated. An interrupted search loses them.
	maxSlow = 32
)

// isSlow reports whether slow launches are all that is known against a configuration.
func (m *member) isSlow(r *tune.Result) bool {
	return r.EarlyStopped || r.Status == tune.Timeout && m.stage == device.StageMeasure
}

// hasTime reports whether enough time is left to repeat an assignment: as much as the first evaluation took without the build. One that was
// given up needs some time, and may end its worker.
func (p *Pool) hasTime(t *assignment, now time.Time) bool {
	needed := t.slow.Durations.Total() - t.slow.Durations.Build
	if t.slow.Status == tune.Timeout {
		needed = 2 * p.starting
	}
	return p.repeatTime(now) >= needed
}

// repeatTime returns the time that is left for repeats.
func (p *Pool) repeatTime(now time.Time) time.Duration {
	return now.Sub(p.began)/repeatShare - p.repeating
}

// holdSlow keeps an assignment with a slow result until it is repeated. Those that were given up come first.
func (p *Pool) holdSlow(t *assignment, r *tune.Result) {
	t.slow = r
	if r.Status == tune.Timeout {
		p.slow.first(t)
	} else {
		p.slow.add(t)
	}
}

// toRepeat returns the next assignment to repeat, or nil.
func (p *Pool) toRepeat(now time.Time) *assignment {
	if len(p.slow) == 0 || !p.hasTime(p.slow[0], now) {
		return nil
	}
	t := p.slow.next(true)
	t.began = now
	return t
}

// repeatLimit returns the time that the launches of a repeat may still take. When it is over, the worker is killed, and the start of
// another one counts, too.
func (p *Pool) repeatLimit(t *assignment, now time.Time) time.Duration {
	if t.until.IsZero() {
		t.until = now.Add(max(p.repeatTime(now)-p.starting, p.starting))
	}
	return t.until.Sub(now)
}

// repeated returns the result that counts of an assignment that was repeated: the second one, if it is correct.
func (p *Pool) repeated(t *assignment, r tune.Result, now time.Time) tune.Result {
	p.repeating += now.Sub(t.began)
	if r.Status != tune.Correct {
		return *t.slow
	}
	r.Unchanged = r.Unchanged || t.slow.Unchanged
	return r
}

// giveSlow gives slow results for whose repeats there is no time, if there is nothing else to do in which time would pass.
func (p *Pool) giveSlow(now time.Time) {
	for len(p.slow) > 0 && len(p.slow) == p.held() && !p.hasTime(p.slow[0], now) {
		t := p.slow.next(true)
		p.give(t, *t.slow)
	}
}
