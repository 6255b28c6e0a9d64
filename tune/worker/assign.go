package worker

import (
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// An assignment is a configuration on its way through the pool.
type assignment struct {
	configuration space.Configuration
	binary        []byte             // from the worker that built it, or nil
	build         time.Duration      // the time for that
	warnings      string             // of the compiler
	code          uint64             // digest of the binary, or 0
	readings      []hardware.Reading // of the build
	again         bool               // it is built once more, for the binary
	deaths        int                // of workers that worked on it
	fresh         string             // a device.FreshOption, or ""
	retest        tune.Retest

	slow *tune.Result // of the first evaluation, whose launches were slow; nil: there was none
}

// builtTwice reports whether a worker that builds the assignment repeats the work of another one.
func (t *assignment) builtTwice() bool { return t.build > 0 && t.binary == nil && !t.again }

// A queue holds the assignments that wait for one kind of worker.
type queue []*assignment

func (q *queue) add(t *assignment)   { *q = append(*q, t) }
func (q *queue) first(t *assignment) { *q = slices.Insert(*q, 0, t) }

// next removes and returns the first assignment for a worker. An assignment at which a worker has died goes to a
// fresh worker only: an earlier assignment may have damaged the process.
func (q *queue) next(fresh bool) *assignment {
	i := slices.IndexFunc(*q, func(t *assignment) bool { return t.deaths == 0 || fresh })
	if i < 0 {
		return nil
	}
	t := (*q)[i]
	*q = slices.Delete(*q, i, i+1)
	return t
}

// queue returns the queue of one kind of worker.
func (p *Pool) queue(builds bool) *queue {
	if builds {
		return &p.toBuild
	}
	return &p.toEvaluate
}

// assign gives work to idle members, and starts others while there is work for them.
func (p *Pool) assign(now time.Time) error {
	p.tellFewer()
	if p.disturbed() {
		return nil
	}
	if p.most == 0 { // no process can only build
		p.toEvaluate, p.toBuild = append(p.toEvaluate, p.toBuild...), nil
	}
	for _, m := range p.members {
		if m.state != idle || m.builds && len(p.toEvaluate) >= p.ahead() {
			continue
		}
		t := p.queue(m.builds).next(m.done == 0)
		if t == nil && !m.builds && p.buildersMissing() {
			t = p.toBuild.next(m.done == 0)
		}
		if t == nil && !m.builds {
			t = p.toRepeat(now)
		}
		if t == nil {
			continue
		}
		m.task = t
		if m.builds {
			p.work(m, request{Build: &job{Values: valuesOf(t.configuration), WantBinary: p.carry.binaries, Fresh: t.fresh}}, now)
			continue
		}
		p.work(m, request{Evaluate: &job{Values: valuesOf(t.configuration), Binary: t.binary, Readings: t.readings, Fresh: t.fresh, Retest: t.retest}}, now)
	}
	evaluators, builders := len(p.devices), p.most
	if p.noBuilders {
		evaluators, builders = p.most, 0
	}
	if err := p.startFor(false, evaluators, now); err != nil {
		return err
	}
	return p.startFor(true, builders, now)
}

// startsAtOnce is how many workers become ready at the same time on a device other than a CPU. Most of a start, such as loading the
// drivers, takes as long beside others. A driver makes one context after the other.
const startsAtOnce = 8

// startFor starts workers of one kind for the assignments that wait for one, up to a number. An
// assignment that needs a worker which has done nothing yet replaces an idle one.
func (p *Pool) startFor(builds bool, most int, now time.Time) error {
	coming, needy := p.count(builds, starting), 0
	for _, t := range *p.queue(builds) {
		if t.deaths > 0 {
			needy++
		}
	}
	waiting := len(*p.queue(builds))
	if !builds && p.buildersMissing() {
		waiting += len(p.toBuild)
	}
	if !builds && p.count(false) == 0 {
		waiting += len(p.slow)
	}
	for n := waiting - coming; n > 0 && p.count(builds) < most && p.mayStart() && (needy > coming || p.pays(builds, now)); n-- {
		if err := p.start(builds, p.leastUsed(builds), now); err != nil {
			return err
		}
		coming++
	}
	for _, m := range p.members {
		if needy > coming && m.builds == builds && m.state == idle && m.done > 0 {
			p.stop(m, now)
			needy--
		}
	}
	return nil
}

// buildersMissing reports whether workers that evaluate should build, too, because no builder can. Once a
// build has taken its worker with it, they leave building to others.
func (p *Pool) buildersMissing() bool {
	return !p.noBuilders && !p.unsafe && p.count(true, idle, working) == 0
}

// cachedBuild is the longest time of a build that may have come from the driver's cache, for which no builder pays. NVRTC's cache has what
// its assembler makes, so that a build takes 11 to 25 ms with it, which a builder does take over: it has no context to make.
func (p *Pool) cachedBuild() time.Duration {
	if p.identity.IsCUDA() {
		return 5 * time.Millisecond
	}
	return 20 * time.Millisecond
}

// pays reports whether one more worker of a kind is worth its start: see [Pool.payTime].
func (p *Pool) pays(builds bool, now time.Time) bool {
	if p.unsafe || !builds && (!p.noBuilders || p.expected == 0 || p.count(false) == 0) {
		return true
	}
	at := p.payTime(now)
	return !at.IsZero() && !at.After(now)
}

// payTime returns the time at which one more worker is worth its start, unless what is awaited comes before; zero: never. That is when the
// builds that wait, shared with the workers that there are, take longer than a start. Builds that come from the driver's cache are none: a
// builder would not make them faster.
func (p *Pool) payTime(now time.Time) (first time.Time) {
	build, least := p.building, p.payingBuild()
	if p.noBuilders {
		build = p.evaluating
	}
	if time.Duration(build) >= least {
		return now
	}
	for _, m := range p.members {
		if at := m.stageFrom.Add(least); p.occupies(m) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// occupies reports whether another worker could go on beside a member: while it builds, and where every worker evaluates, also while it
// launches for the first time, which may never end.
func (p *Pool) occupies(m *member) bool {
	return m.buildsOwn() || p.noBuilders && m.state == working && m.task != nil
}

// payingBuild returns the least time of a build for which one more worker is worth its start. Where every worker evaluates, a build is all
// that a configuration takes but its timed launches, which run alone, and a start ends when the buffers are made. A builder also builds what
// is not yet proposed.
func (p *Pool) payingBuild() time.Duration {
	if p.noBuilders {
		waiting := p.expected - p.Evaluated() - p.count(false, working, asking, timing, needing)
		return (p.starting + p.filling) * time.Duration(p.count(false)+1) / time.Duration(max(1, waiting))
	}
	waiting := max(1, len(p.toBuild), p.expected-p.Evaluated()-p.held()+len(p.toBuild))
	return max(p.cachedBuild(), p.starting*time.Duration(p.count(true)+1)/time.Duration(waiting))
}

// mayStart reports whether one more worker may start now.
func (p *Pool) mayStart() bool {
	return p.noBuilders || p.count(true, starting)+p.count(false, starting) < startsAtOnce
}

// count returns the number of members of a kind, in some states or in any. Members that are stopping
// count too, since they may still hold memory of the device.
func (p *Pool) count(builds bool, states ...state) int {
	n := 0
	for _, m := range p.members {
		if m.builds == builds && (len(states) == 0 || slices.Contains(states, m.state)) {
			n++
		}
	}
	return n
}

// leastUsed returns the index of the device with the fewest workers of a kind.
func (p *Pool) leastUsed(builds bool) int {
	used := make([]int, len(p.devices))
	for _, m := range p.members {
		if m.builds == builds {
			used[m.device]++
		}
	}
	return slices.Index(used, slices.Min(used))
}

// A carry decides how a build reaches the worker that measures. Most drivers keep builds on disk,
// where every process finds them. A driver has no such cache if loading a build takes about as long
// as building did; then builders hand on binaries.
type carry struct {
	binaries bool
	slow     int // loads in a row that were not faster than the build
}

const (
	carrySlow  = 3                     // so many slow loads mean that there is no cache
	carryLeast = 20 * time.Millisecond // a load that takes less is fast enough
)

// observe takes the times of a build and of loading it in another process.
func (c *carry) observe(build, load time.Duration) {
	if load < carryLeast || load < build/2 {
		c.slow = 0
		return
	}
	if c.slow++; c.slow >= carrySlow {
		c.binaries = true
	}
}
