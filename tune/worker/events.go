package worker

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/process"
)

// handle takes an answer of a worker, or its end. An error says that the pool cannot go on.
func (p *Pool) handle(e event, now time.Time) error {
	m := p.member(e.Child)
	if m == nil {
		return nil // it was dropped before
	}
	defer p.schedule(now)
	if e.End != nil {
		return p.died(m, e.End, now)
	}
	if m.state == stopping {
		return nil // it answered before it was killed
	}
	switch a := e.Answer; {
	case a.Ready != nil:
		p.startDeaths = 0
		if !m.builds && p.identity.Timer == "" {
			p.identity = *a.Ready
			// The host's clock also measures delays of the host.
			p.shared = p.shared || p.identity.Timer == hardware.TimerHost
		}
		if took := a.Starting; p.starting == 0 || took < p.starting {
			p.starting = took
		}
		p.rest(m, now)
	case a.Stage != nil:
		if m.buildsOwn() && a.Stage.Stage != device.StageBuild {
			p.building.add(now.Sub(m.stageFrom))
		}
		m.begin(a.Stage.Stage, now)
		p.launched = p.launched || a.Stage.Stage == device.StageVerify
		p.watchStage(m, a.Stage.Launches, now)
	case a.Ask:
		m.first = a.First
		p.ask(m, now)
	case a.Set != nil:
		return p.set(m, a.Set)
	case a.Need != "":
		p.need(m, a.Need, now)
	case a.Outputs != nil:
		p.keep(a.Outputs, now)
	case a.Built != nil && m.task != nil:
		p.built(m, a.Built, now)
	case a.Result != nil && m.task != nil:
		p.finished(m, a.Result, now)
	case a.Turn != nil && m.again != nil:
		m.again.turn = a.Turn.Index
	case a.Remeasured != nil && m.again != nil:
		m.again.ended, m.again.result = true, a.Remeasured
		p.rest(m, now)
	case a.Timer != nil:
		return a.Timer
	case a.Failed != "":
		return p.gaveUp(m, a.Failed, now)
	default:
		return fmt.Errorf("worker %d answered something that it was not asked", m.child.Number)
	}
	return nil
}

func (p *Pool) member(of *child) *member {
	for _, m := range p.members {
		if m.child == of {
			return m
		}
	}
	return nil
}

// built handles the answer of a builder.
func (p *Pool) built(m *member, b *built, now time.Time) {
	t := m.task
	m.done++
	p.rest(m, now)
	if b.Result.Status != "" {
		p.answer(m, t, b.Result.of(t.configuration), now)
		return
	}
	t.build += b.Result.Durations.Build
	t.binary = b.Binary
	t.warnings, t.code, t.readings = b.Result.Warnings, b.Result.Binary, b.Result.Readings
	p.toEvaluate.add(t)
}

// finished handles the result of an assignment.
func (p *Pool) finished(m *member, r *result, now time.Time) {
	t := m.task
	m.done++
	m.doubtful = m.doubtful || r.Status == tune.Runtime || r.Status == tune.Correctness
	if total := r.Durations.Total(); p.noBuilders {
		if m.done == 1 && p.filling == 0 { // later results need no new buffers
			p.filling = r.Durations.Framework
		}
		p.evaluating.add(total - r.Durations.Framework - r.Durations.Measure)
	} else {
		if t.build == 0 { // it was no load
			total -= r.Durations.Build
		}
		p.measuring.add(total)
		if r.Status == tune.Correct && t.build > 0 {
			p.carry.observe(t.build, r.Durations.Build)
			p.keepBinary(t, r.Time())
		}
	}
	p.rest(m, now)
	p.answer(m, t, r.of(t.configuration), now)
	if r.Lost {
		p.stop(m, now)
	}
}

// answer hands a result on, unless its assignment is repeated first.
func (p *Pool) answer(m *member, t *assignment, r tune.Result, now time.Time) {
	r.Durations.Build += t.build
	r.Warnings = cmp.Or(r.Warnings, t.warnings)
	r.Binary = cmp.Or(t.code, r.Binary) // a program made of a binary may have another
	if len(p.devices) > 1 && !m.builds {
		r.Device = p.devices[m.device].Selector()
	}
	switch {
	case t.slow != nil:
		p.give(t, p.repeated(t, r))
	case p.isSlow(m, &r) && (len(p.slow) < maxSlow || r.Status == tune.Timeout):
		p.holdSlow(t, &r, now)
	default:
		p.give(t, r)
	}
	p.giveSlow(now)
}

// give gives the result of an assignment.
func (p *Pool) give(t *assignment, r tune.Result) {
	if t.fresh == "" && t.retest.Launches == 0 {
		p.evaluated.Add(1)
	}
	p.results = append(p.results, r)
}

// unfinished returns the result of an assignment whose worker was killed or has died.
func (p *Pool) unfinished(m *member, status tune.Status, reason string, now time.Time) tune.Result {
	r := tune.Result{Configuration: m.task.configuration, Timestamp: now}
	r.Fail(status, reason)
	spent := now.Sub(m.stageFrom)
	switch m.stage {
	case device.StageMeasure, device.StageObserve:
		r.Durations.Measure = spent
	case device.StageReference, device.StageVerify:
		r.Durations.Verify = spent
	default:
		r.Durations.Build = spent
	}
	return r
}

// gaveUp handles a worker that reports that it cannot go on. If it could not start, there may be no
// memory for one more, and the others go on without it.
func (p *Pool) gaveUp(m *member, reason string, now time.Time) error {
	wasStarting := m.state == starting
	p.stop(m, now)
	left := p.count(m.builds) - p.count(m.builds, stopping)
	othersGoOn := left > 0 && (m.builds || p.noBuilders) || m.builds && p.count(false) > 0
	if !wasStarting || !othersGoOn {
		return errors.New(reason)
	}
	if left < p.most {
		p.most, p.fewer = left, reason
	}
	return nil
}

// tellFewer tells the user that there are fewer workers than wanted, once their number is known.
func (p *Pool) tellFewer() {
	if p.fewer == "" || p.count(true, starting)+p.count(false, starting) > 0 {
		return
	}
	why, _, _ := strings.Cut(p.fewer, "\n")
	left := fmt.Sprintf("with %d workers", p.most)
	if p.most == 0 { // those that measure build, too
		left = "without workers that only build"
	}
	p.options.Note(fmt.Sprintf("Going on %s; another could not start: %s", left, why))
	p.fewer = ""
}

const (
	// An assignment is to blame when so many workers have died at it.
	maxDeaths = 2
	// maxStartDeaths is how many workers in a row may fail to get ready.
	maxStartDeaths = 3
)

// died deals with the end of a worker's process.
func (p *Pool) died(m *member, end *process.End, now time.Time) error {
	p.drop(m, now)
	switch {
	case m.state == stopping:
		return nil
	case m.state == idle:
		return nil
	case m.state == starting:
		return p.diedStarting(fmt.Sprintf("worker %d ended %s", m.child.Number, end.Explain("")))
	case m.again != nil:
		m.again.lose(false, "the process ended "+end.Explain(", twice, "+during[m.stage]))
		return nil
	}
	t := m.task
	if m.stage == device.StageReference {
		if m.done == 0 { // otherwise an earlier assignment may be to blame
			p.makerDeaths++
		}
		if p.makerDeaths >= maxDeaths {
			return fmt.Errorf("%d workers in a row have ended while they made the right output; the last one ended %s",
				p.makerDeaths, end.Explain(" ("+device.CheckHint+")"))
		}
	} else if t.deaths+1 >= maxDeaths || t.slow != nil {
		r := p.unfinished(m, tune.Runtime, "the process ended "+end.Explain(", twice, "+during[m.stage]), now)
		if end.FromOutside() {
			r.Doubt = tune.Killed
		}
		p.answer(m, t, r, now)
		return nil
	}
	p.unsafe = p.unsafe || m.stage == device.StageBuild
	t.deaths++
	p.queue(m.builds).first(t)
	return nil
}

// diedStarting counts workers that did not get ready.
func (p *Pool) diedStarting(how string) error {
	if p.startDeaths++; p.startDeaths < maxStartDeaths {
		return nil
	}
	return fmt.Errorf("%d workers in a row did not become ready: %s", p.startDeaths, how)
}
