package worker

import (
	"time"

	"github.com/ndtune/ndtune/tune/device"
)

// assign gives work to the workers that are idle, and starts others while there is work for
// them.
func (p *Pool) assign(now time.Time) error {
	p.tellFewer()
	if p.busyTiming() {
		return nil // what is started now would disturb it
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
		if t := from.next(m.done == 0); t != nil {
			p.give(m, t, now)
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

// busyTiming reports whether something is timed, or waits for it, that all else would
// disturb.
func (p *Pool) busyTiming() bool {
	return p.shared && (p.timer != nil || (!p.freezes && len(p.gate) > 0))
}

// startsAtOnce is how many workers become ready at the same time on a device other than a CPU.
// A driver makes one context after the other: NVIDIA's 580 makes eight a second on sixteen
// cores, whether six processes ask or sixteen, and of sixteen the first is ready after two
// seconds.
const startsAtOnce = 6

// startFor starts workers of one kind for the tasks that wait for one, up to a number. A
// task that needs a worker which has done nothing yet takes the place of one that is idle.
func (p *Pool) startFor(builds bool, waiting queue, most int, now time.Time) error {
	coming, needy := 0, 0
	for _, m := range p.members {
		if m.builds == builds && m.state == starting {
			coming++
		}
	}
	for _, t := range waiting.tasks {
		if t.deaths > 0 {
			needy++
		}
	}
	for n := waiting.len() - coming; n > 0 && p.count(builds) < most && p.mayStart(); n-- {
		if err := p.startMember(builds, p.leastUsed(builds), now); err != nil {
			return err
		}
		coming++
	}
	for _, m := range p.members {
		if needy > coming && m.builds == builds && m.state == idle && m.done > 0 {
			p.dismiss(m, now)
			needy--
		}
	}
	return nil
}

// mayStart reports whether one more worker may start now.
func (p *Pool) mayStart() bool {
	starts := 0
	for _, m := range p.members {
		if m.state == starting {
			starts++
		}
	}
	return p.whole || starts < startsAtOnce
}

// count is how many workers there are of a kind, those that are leaving included: they may
// hold memory of the device still.
func (p *Pool) count(builds bool) int {
	n := 0
	for _, m := range p.members {
		if m.builds == builds {
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

// startMember starts a worker for a device.
func (p *Pool) startMember(builds bool, place int, now time.Time) error {
	process, err := p.launcher.start()
	if err != nil {
		return err
	}
	m := &member{process: process, builds: builds, device: place, state: starting, since: now}
	m.watch.set(now, p.startLimit())
	p.members = append(p.members, m)
	h := p.hello
	h.Builds, h.Selector, h.Device = builds, p.devices[place].Selector(), p.identities[place]
	h.Device.Timer = p.identity.Timer
	process.send(request{Hello: &h})
	return nil
}

// give hands a task to a worker.
func (p *Pool) give(m *member, t *task, now time.Time) {
	m.task = t
	m.enter(working, now)
	m.begin(device.StageBuild, now)
	p.watchStage(m, 0, now)
	if m.builds {
		m.process.send(request{Build: &build{Values: t.values, WantBinary: p.carry.binaries, Fresh: t.fresh}})
	} else {
		m.process.send(request{Evaluate: &evaluate{Values: t.values, Binary: t.binary, Fresh: t.fresh}})
	}
}

// dismiss ends a worker, whatever it is at.
func (p *Pool) dismiss(m *member, now time.Time) {
	if m.state == departing {
		return
	}
	m.enter(departing, now) // first: nobody waits for it any more
	p.leaves(m, now)
	m.thaw(now)
	m.watch.set(now, leaveTime)
	m.process.end()
	p.fallsQuiet(now)
}

// leaves takes back what a worker holds beside its task: the device, its place in line for
// it, and the outputs that others wait for.
func (p *Pool) leaves(m *member, now time.Time) {
	for i, waiting := range p.gate {
		if waiting == m {
			p.gate = append(p.gate[:i:i], p.gate[i+1:]...)
			break
		}
	}
	p.release(m, now)
	p.leavesReferences(m, now)
}

// remove strikes a worker off whose process is gone, or past waiting for.
func (p *Pool) remove(m *member, now time.Time) {
	m.book(now)
	p.spent.add(m.spent)
	m.process.close()
	for i, other := range p.members {
		if other == m {
			p.members = append(p.members[:i:i], p.members[i+1:]...)
			return
		}
	}
}
