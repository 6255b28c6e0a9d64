package worker

import (
	"testing"
	"time"
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
