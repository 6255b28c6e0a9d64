package worker

import (
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune/space"
)

// A task is a configuration on its way through the pool.
type task struct {
	configuration space.Configuration
	values        values
	binary        []byte        // from the worker that built it, where it is needed
	build         time.Duration // what that took
	again         bool          // it is built once more, for the binary
	deaths        int           // of workers that were at it
	fresh         string        // a device.FreshOption, or ""
}

// builtTwice reports whether a worker that builds the task does what another has done.
func (t *task) builtTwice() bool { return t.build > 0 && t.binary == nil && !t.again }

// queue is a line of tasks.
type queue struct{ tasks []*task }

func (q *queue) add(t *task)   { q.tasks = append(q.tasks, t) }
func (q *queue) first(t *task) { q.tasks = append([]*task{t}, q.tasks...) }
func (q *queue) len() int      { return len(q.tasks) }

// next takes the first task that a worker may have: one at which a worker has died needs a
// worker that has done nothing yet, since the damage may be another task's.
func (q *queue) next(fresh bool) *task {
	for i, t := range q.tasks {
		if t.deaths == 0 || fresh {
			q.tasks = append(q.tasks[:i:i], q.tasks[i+1:]...)
			return t
		}
	}
	return nil
}

// assign gives work to the workers that are idle, and starts others while there is work for
// them.
func (p *Pool) assign(now time.Time) error {
	p.tellFewer()
	if p.disturbed() {
		return nil
	}
	if p.most == 0 { // no process can only build
		for _, t := range p.toBuild.tasks {
			p.toEvaluate.add(t)
		}
		p.toBuild = queue{}
	}
	for _, m := range p.members {
		if m.state != idle {
			continue
		}
		from := &p.toEvaluate
		if m.builds {
			if from = &p.toBuild; p.toEvaluate.len() >= p.ahead() {
				continue
			}
		}
		t := from.next(m.done == 0)
		switch {
		case t == nil:
		case m.builds:
			m.task = t
			p.work(m, request{Build: &build{Values: t.values, WantBinary: p.carry.binaries, Fresh: t.fresh}}, now)
		default:
			m.task = t
			p.work(m, request{Evaluate: &evaluate{Values: t.values, Binary: t.binary, Fresh: t.fresh}}, now)
		}
	}
	evaluators, builders := len(p.devices), p.most
	if p.whole {
		evaluators, builders = p.most, 0
	}
	if err := p.startFor(false, p.toEvaluate, evaluators, now); err != nil {
		return err
	}
	return p.startFor(true, p.toBuild, builders, now)
}

// startsAtOnce is how many workers become ready at the same time on a device other than a CPU.
// A driver makes one context after the other: NVIDIA's 580 makes eight a second on sixteen
// cores, whether six processes ask or sixteen, and of sixteen the first is ready after two
// seconds.
const startsAtOnce = 6

// startFor starts workers of one kind for the tasks that wait for one, up to a number. A
// task that needs a worker which has done nothing yet takes the place of one that is idle.
func (p *Pool) startFor(builds bool, waiting queue, most int, now time.Time) error {
	coming, needy := p.count(builds, starting), 0
	for _, t := range waiting.tasks {
		if t.deaths > 0 {
			needy++
		}
	}
	for n := waiting.len() - coming; n > 0 && p.count(builds) < most && p.mayStart(); n-- {
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

// mayStart reports whether one more worker may start now.
func (p *Pool) mayStart() bool {
	return p.whole || p.count(true, starting)+p.count(false, starting) < startsAtOnce
}

// count is how many members there are of a kind, with those that are stopping: they may still hold
// memory of the device.
func (p *Pool) count(builds bool, states ...state) int {
	n := 0
	for _, m := range p.members {
		if m.builds == builds && (len(states) == 0 || slices.Contains(states, m.state)) {
			n++
		}
	}
	return n
}

// leastUsed is the device with the fewest workers of a kind.
func (p *Pool) leastUsed(builds bool) int {
	used := make([]int, len(p.devices))
	for _, m := range p.members {
		if m.builds == builds {
			used[m.device]++
		}
	}
	least := 0
	for i, n := range used {
		if n < used[least] {
			least = i
		}
	}
	return least
}

// How a build reaches the worker that measures: most drivers keep what they have compiled on
// disk, where every process finds it. Where loading a build takes about as long as it did to
// build it, the driver does not, and builders hand on the binary instead.
type carry struct {
	binaries bool
	slow     int // loads in a row that were no faster than a build
}

const (
	carrySlow  = 3                     // that many
	carryLeast = 20 * time.Millisecond // what is faster needs no better way
)

// observe takes how long a build took, and how long loading it elsewhere.
func (c *carry) observe(build, load time.Duration) {
	if load < carryLeast || load < build/2 {
		c.slow = 0
		return
	}
	if c.slow++; c.slow >= carrySlow {
		c.binaries = true
	}
}
