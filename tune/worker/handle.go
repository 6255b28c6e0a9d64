package worker

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
)

// handle takes an answer of a worker, or its end. An error says that the pool cannot go on.
func (p *Pool) handle(e event, now time.Time) error {
	m := p.member(e.process)
	if m == nil {
		return nil // past waiting for
	}
	if e.ended {
		return p.died(m, e, now)
	}
	if m.state == departing {
		return nil // said before it was killed
	}
	switch a := e.answer; {
	case a.Ready != nil:
		p.startDeaths = 0
		if !m.builds && p.identity.Timer == "" {
			p.identity = a.Ready.Device
			// The host's clock measures what the host is kept from, too.
			p.shared = p.shared || p.identity.Timer == tune.TimerHost
		}
		p.rest(m, now)
	case a.Stage != nil:
		m.begin(a.Stage.Stage, now)
		p.watchStage(m, a.Stage.Launches, now)
	case a.Ask:
		p.queueForDevice(m, now)
	case a.Need != nil:
		p.references.need(m, a.Need.Key, now)
	case a.Outputs != nil:
		p.keep(a.Outputs, now)
	case a.Built != nil && m.task != nil:
		p.built(m, a.Built, now)
	case a.Result != nil && m.task != nil:
		p.finished(m, a.Result, now)
	case a.Turn != nil && m.again != nil:
		m.again.turn = a.Turn.Place
	case a.Remeasured != nil && m.again != nil:
		m.again.end(a.Remeasured.Times)
		p.rest(m, now)
	case a.Failed != nil:
		return p.failed(m, a.Failed.Reason, now)
	default:
		return fmt.Errorf("worker %d answered something that it was not asked", m.process.number)
	}
	p.fallsQuiet(now)
	return nil
}

func (p *Pool) member(of *process) *member {
	for _, m := range p.members {
		if m.process == of {
			return m
		}
	}
	return nil
}

// rest makes a worker ready for more work.
func (p *Pool) rest(m *member, now time.Time) {
	m.task, m.again = nil, nil
	m.enter(idle, now)
	m.watch.clear()
	p.leaves(m, now)
}

// built takes what a builder has made of a task.
func (p *Pool) built(m *member, b *built, now time.Time) {
	t := m.task
	m.done++
	p.rest(m, now)
	if b.Result.Status != "" {
		p.answer(m, t, b.Result.received(t.configuration))
		return
	}
	t.build += b.Result.Durations.Build
	t.binary = b.Binary
	p.toEvaluate.add(t)
}

// finished takes the result of a task.
func (p *Pool) finished(m *member, r *result, now time.Time) {
	t := m.task
	m.done++
	if !p.whole {
		p.pace.add(r.Durations.Total())
		if r.Status == tune.Correct {
			p.carry.observe(t.build, r.Durations.Build)
		}
	}
	p.rest(m, now)
	p.answer(m, t, r.received(t.configuration))
	if r.Lost {
		p.dismiss(m, now)
	}
}

// answer hands a result on.
func (p *Pool) answer(m *member, t *task, r tune.Result) {
	r.Durations.Build += t.build
	if len(p.devices) > 1 && !m.builds {
		r.Device = p.devices[m.device].Selector()
	}
	if r.Status != tune.Correct && r.Doubt == "" {
		r.Doubt = tune.DoubtOf(r.Reason)
	}
	if t.fresh == "" {
		p.evaluated.Add(1)
	}
	p.results = append(p.results, r)
}

// lateAlarm is how late an alarm may come. One that comes later says that this process was
// not running itself (stopped at the terminal, or short of processor time), and the answers
// that have come meanwhile were not read.
const lateAlarm = 500 * time.Millisecond

// excuse gives all workers the time that this process has not run, and reports whether it
// has not.
func (p *Pool) excuse(now time.Time) bool {
	late := time.Duration(0)
	for _, m := range p.members {
		if d, ok := m.watch.running(); ok {
			late = max(late, now.Sub(d))
		}
	}
	if late < lateAlarm {
		return false
	}
	for _, m := range p.members {
		if _, ok := m.watch.running(); ok {
			m.watch.deadline = m.watch.deadline.Add(late + lateAlarm)
		}
	}
	return true
}

// expire deals with all that has taken too long.
func (p *Pool) expire(now time.Time) error {
	if p.excuse(now) {
		return nil
	}
	for _, m := range append([]*member(nil), p.members...) {
		deadline, ok := m.watch.running()
		if !ok || deadline.After(now) {
			continue
		}
		switch {
		case m.state == departing:
			p.remove(m, now)
		case m.state == starting:
			p.dismiss(m, now)
			if err := p.diedStarting(fmt.Sprintf("worker %d was not ready after %s", m.process.number, p.startLimit())); err != nil {
				return err
			}
		case m.stage == device.StageReference:
			return fmt.Errorf("making the right output took longer than %s (%d times --build-timeout)", referenceFactor*p.options.BuildTimeout, referenceFactor)
		case m.task != nil && m.stage == device.StageBuild && m.task.builtTwice():
			// The driver has not kept the build. With the binary there is nothing to do twice.
			t := m.task
			t.build, t.again, m.task = 0, true, nil
			p.carry.binaries = true
			p.toBuild.first(t)
			p.dismiss(m, now)
		case m.task != nil:
			t := m.task
			r := p.unfinished(m, tune.Timeout, m.overdue(p.options.BuildTimeout), now)
			m.task = nil
			p.answer(m, t, r)
			p.dismiss(m, now)
		case m.again != nil:
			m.again.died(true)
			m.again = nil
			p.dismiss(m, now)
		}
	}
	return nil
}

// unfinished is the result of a task at which its worker was ended or has ended.
func (p *Pool) unfinished(m *member, status tune.Status, reason string, now time.Time) tune.Result {
	r := tune.Result{Configuration: m.task.configuration, Status: status, Reason: reason, Timestamp: now}
	spent := now.Sub(m.stageFrom)
	switch m.stage {
	case device.StageMeasure:
		r.Durations.Measure = spent
	case device.StageReference, device.StageVerify:
		r.Durations.Verify = spent
	default:
		r.Durations.Build = spent
	}
	return r
}

// failed takes a worker's word that it cannot go on.
func (p *Pool) failed(m *member, reason string, now time.Time) error {
	wasStarting := m.state == starting
	p.dismiss(m, now)
	if !wasStarting {
		return errors.New(reason)
	}
	// One more than there is memory for, perhaps: those that are there, or on their way, go on.
	left := 0
	for _, other := range p.members {
		if other.builds == m.builds && other.state != departing {
			left++
		}
	}
	switch {
	case left > 0 && (m.builds || p.whole), m.builds && p.count(false) > 0:
		if left < p.most {
			p.most, p.refused = left, reason
		}
		return nil
	}
	return errors.New(reason)
}

// tellFewer says that there are fewer workers than wanted, once it is known how many.
func (p *Pool) tellFewer() {
	if p.refused == "" || slices.ContainsFunc(p.members, func(m *member) bool { return m.state == starting }) {
		return
	}
	p.options.Note(fmt.Sprintf("Going on with %d workers; another could not start: %s", p.most, firstLine(p.refused)))
	p.refused = ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
