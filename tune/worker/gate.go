package worker

import "time"

// queueForDevice puts a worker in line that wants to time.
func (p *Pool) queueForDevice(m *member, now time.Time) {
	m.enter(asking, now)
	m.watch.clear()
	if p.timer == m { // it begins anew, and has it still
		p.letTime(m, now)
		return
	}
	p.gate = append(p.gate, m)
	p.grant(now)
}

// grant lets the next in line time. On a device of its own, which no other worker uses, that
// is at once. Else everybody else stands still as long as it times; where workers cannot be
// made to, it waits until they have nothing to do.
func (p *Pool) grant(now time.Time) {
	if !p.shared {
		for _, m := range p.gate {
			p.letTime(m, now)
		}
		p.gate = nil
		return
	}
	if p.timer != nil || len(p.gate) == 0 {
		return
	}
	m := p.gate[0]
	for _, other := range p.members {
		if other == m || other.state == departing {
			continue
		}
		if p.freezes {
			other.freeze(now)
		} else if !other.quiet() {
			return
		}
	}
	m.thaw(now)
	p.gate, p.timer = p.gate[1:], m
	p.letTime(m, now)
}

// fallsQuiet lets the next in line time where that waits for a worker which may have nothing
// to do now, or is gone.
func (p *Pool) fallsQuiet(now time.Time) {
	if !p.freezes {
		p.grant(now)
	}
}

func (p *Pool) letTime(m *member, now time.Time) {
	m.enter(timing, now)
	m.process.send(request{Time: p.best.permission()})
}

// release ends the time that a worker had the device to itself.
func (p *Pool) release(m *member, now time.Time) {
	if m == nil || p.timer != m {
		return
	}
	p.timer = nil
	p.grant(now)
	if p.timer == nil {
		for _, other := range p.members {
			other.thaw(now)
		}
	}
}
