package worker

import (
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
)

// TestAskingTwice has a worker that asks for the device once more while it has it: a failed launch
// of the final measurement has taken its context, and it begins again in another.
func TestAskingTwice(t *testing.T) {
	now := time.Now()
	for _, freezes := range []bool{true, false} {
		c := &child{Requests: make(chan request, 2)}
		m := &member{spent: &Spent{}, child: c, state: working, again: &again{}, since: now}
		p := &Pool{shared: true, freezes: freezes, members: []*member{m}}
		for range 2 {
			if err := p.handle(event{Child: c, Answer: answer{Ask: true}}, now); err != nil {
				t.Error(err)
			}
		}
		if len(c.Requests) != 2 || m.state != timing || p.timer != m || len(p.line) > 0 {
			t.Errorf("answered %d times; the worker is at %d, and %d wait", len(c.Requests), m.state, len(p.line))
		}
	}
}

// TestRepeatsBesideBuilders repeats an assignment beside a builder, which goes on unless it can disturb the launches.
func TestRepeatsBesideBuilders(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		status tune.Status // of the first evaluation
		shared bool
		want   bool // the builder stands still
	}{{tune.Correct, false, false}, {tune.Correct, true, true}, {tune.Timeout, false, true}, {tune.Timeout, true, true}} {
		p := &Pool{shared: c.shared} // which waits for quiet, and so tells whether it wants it
		m := &member{spent: &p.spent, child: &child{Requests: make(chan request, 1)}, state: working, task: &assignment{slow: &tune.Result{Status: c.status}}, since: now}
		p.members = []*member{m, {spent: &p.spent, builds: true, state: working, since: now}}
		if err := p.handle(event{Child: m.child, Answer: answer{Ask: true}}, now); err != nil {
			t.Error(err)
		}
		if waits := m.state == asking; waits != c.want {
			t.Errorf("%+v: it waits: %v", c, waits)
		}
	}
}
