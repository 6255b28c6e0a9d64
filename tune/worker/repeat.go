package worker

import (
	"cmp"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
)

// An assignment whose launches were so slow that it was given up, or measured only once, is evaluated again before its result counts: other
// work on the machine can delay a launch. Two launches that agree are enough: one that is given up is not repeated if the first one, which has
// ended, took as long, nor is a first launch if no launch of the search has ended yet, before the pool was opened either. A build or a check
// that hangs is not repeated.
//
// On a device that others disturb, and for a launch that was given up, a repeat begins when no build waits to be measured, and all other workers
// stand still: see [Pool.wantsQuiet]. Elsewhere it comes after the builds that wait now, or not at all: a search that learns takes results in
// the order of its proposals, and on four H200 it stood still for two seconds until all other builds were measured and repeats began.

const (
	// Repeats of what was measured once take at most repeatLeast, or the inverse of repeatShare of the time that the devices had for the search.
	repeatShare = 20
	repeatLeast = time.Second
	// maxSlow is the largest number of assignments that wait to be repeated. An interrupted search loses them.
	maxSlow = 32
)

// isSlow reports whether slow launches, or one of them, are all that is known against a configuration.
func (p *Pool) isSlow(m *member, r *tune.Result) bool {
	if r.Status != tune.Timeout {
		return r.EarlyStopped
	}
	return m.launch.most > 0 && (p.launched || p.best.Load() != nil) && (m.stage == device.StageFirstLaunch || m.first < m.launch.most)
}

// hasTime reports whether enough time is left to repeat an assignment: as much as the first evaluation took without the build. One that
// was given up is repeated in any case.
func (p *Pool) hasTime(t *assignment, now time.Time) bool {
	all := max(repeatLeast, now.Sub(p.began)*time.Duration(len(p.devices))/repeatShare)
	return t.slow.Status == tune.Timeout || all-p.repeating >= t.needed()
}

// needed returns the time for a repeat.
func (t *assignment) needed() time.Duration { return t.slow.Durations.Total() - t.slow.Durations.Build }

// holdSlow keeps an assignment with a slow result until it is repeated. Those that were given up come first.
func (p *Pool) holdSlow(t *assignment, r *tune.Result, now time.Time) {
	switch t.slow = r; {
	case r.Status == tune.Timeout:
		p.slow.first(t)
	case p.shared:
		p.slow.add(t)
	case p.hasTime(t, now):
		p.repeating += t.needed()
		p.toEvaluate.add(t)
	default:
		p.give(t, *r)
	}
}

// repeats reports whether a member repeats an assignment.
func (m *member) repeats() bool { return m.task != nil && m.task.slow != nil }

// wantsQuiet reports whether all other workers stand still while a member repeats an assignment. On a discrete GPU they do so only if its
// launches were given up: builders hardly delay the others, and repeats that stopped all builders took 0.7 s of a search on a host with 64.
func (p *Pool) wantsQuiet(m *member) bool {
	return m.repeats() && (p.shared || m.task.slow.Status == tune.Timeout)
}

// toRepeat returns the next assignment to repeat, or nil.
func (p *Pool) toRepeat(now time.Time) *assignment {
	if len(p.slow) == 0 || !p.hasTime(p.slow[0], now) {
		return nil
	}
	t := p.slow.next(true)
	p.repeating += t.needed()
	return t
}

// repeated returns the result that counts of an assignment that was repeated: the second one, if it says more than that the launches are slow.
func (p *Pool) repeated(t *assignment, r tune.Result) tune.Result {
	if r.Status != tune.Correct && r.Status != tune.Correctness {
		return *t.slow
	}
	r.Notice = cmp.Or(r.Notice, t.slow.Notice)
	return r
}

// giveSlow gives slow results for whose repeats there is no time, if there is nothing else to do in which time would pass.
func (p *Pool) giveSlow(now time.Time) {
	for len(p.slow) > 0 && len(p.slow) == p.held() && !p.hasTime(p.slow[0], now) {
		t := p.slow.next(true)
		p.give(t, *t.slow)
	}
}
