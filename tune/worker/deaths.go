package worker

import (
	"fmt"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
)

const (
	// maxDeaths is how many workers may die at one task before it is to blame.
	maxDeaths = 2
	// maxStartDeaths is how many workers may die in a row before they are ready.
	maxStartDeaths = 3
)

// died deals with the end of a worker's process.
func (p *Pool) died(m *member, e event, now time.Time) error {
	expected := m.state == departing || m.state == idle
	wasStarting := m.state == starting
	m.enter(departing, now) // it cannot be made to stand still, and its number may be another's
	p.leaves(m, now)
	p.remove(m, now)
	p.fallsQuiet(now)
	switch {
	case expected:
		return nil
	case wasStarting:
		return p.diedStarting(fmt.Sprintf("worker %d ended %s", m.process.number, death(e, "")))
	case m.again != nil:
		m.again.died(false)
		return nil
	}
	t := m.task
	if m.stage == device.StageReference {
		if m.done == 0 { // else something that it did before may be to blame
			p.references.deaths++
		}
		if p.references.deaths >= maxDeaths {
			return fmt.Errorf("%d workers in a row have ended while they made the right output; the last one ended %s", p.references.deaths, death(e, ""))
		}
	} else if t.deaths+1 >= maxDeaths {
		r := p.unfinished(m, tune.Runtime, "the process ended "+death(e, ", twice, "+during(m.stage)), now)
		if wasKilled(e) {
			r.Doubt = tune.Killed
		}
		p.answer(m, t, r)
		return nil
	}
	t.deaths++
	if m.builds {
		p.toBuild.first(t)
	} else {
		p.toEvaluate.first(t)
	}
	return nil
}

// diedStarting counts workers that have ended before they were ready.
func (p *Pool) diedStarting(how string) error {
	if p.startDeaths++; p.startDeaths < maxStartDeaths {
		return nil
	}
	return fmt.Errorf("%d workers in a row did not become ready: %s", p.startDeaths, how)
}

// during says what a worker was at.
func during(s device.Stage) string {
	switch s {
	case device.StageBuild:
		return "while it built the kernel"
	case device.StageFirstLaunch:
		return "in the first launch"
	case device.StageMeasure:
		return "while it was timed"
	}
	return "while its output was checked"
}
