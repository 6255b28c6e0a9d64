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
		process := &process{requests: make(chan request, 2)}
		m := &member{process: process, state: working, again: &again{}, since: now}
		p := &Pool{shared: true, freezes: freezes, members: []*member{m}}
		for range 2 {
			if err := p.handle(event{process: process, answer: answer{Ask: true}}, now); err != nil {
				t.Error(err)
			}
		}
		if len(process.requests) != 2 || m.state != timing || p.timer != m || len(p.gate) > 0 {
			t.Errorf("answered %d times; the worker is at %d, and %d wait", len(process.requests), m.state, len(p.gate))
		}
	}
}
