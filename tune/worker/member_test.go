package worker

import (
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/process"
)

func TestSpent(t *testing.T) {
	begin := time.Now()
	m := &member{spent: &Spent{}, since: begin}
	now := begin
	pass := func(s int, then func()) {
		now = now.Add(time.Duration(s) * time.Second)
		then()
	}
	pass(1, func() { m.enter(idle, now) })
	pass(2, func() { m.enter(working, now); m.begin("build", now) })
	pass(4, func() { m.begin("verify", now) })
	pass(8, func() { m.enter(asking, now) })
	pass(16, func() { m.enter(timing, now) })
	pass(32, func() { m.enter(idle, now) })
	pass(64, func() { m.enter(needing, now) })
	pass(128, func() { m.enter(stopping, now) })
	const s = time.Second
	if want := (Spent{Starting: 1 * s, Idle: 66 * s, Building: 4 * s, Verifying: 136 * s, Waiting: 16 * s, Measuring: 32 * s}); *m.spent != want {
		t.Errorf("%+v, want %+v", *m.spent, want)
	}
}

// TestStates sends one event to a member in each state, and wants the state of the table.
func TestStates(t *testing.T) {
	now := time.Now()
	ended := &process.End{Printed: "panic: tests\n"}
	for _, c := range []struct {
		from  state
		event event
		want  state // -1: it is dropped
	}{
		{starting, event{Answer: answer{Ready: &hardware.Device{}}}, idle},
		{starting, event{Answer: answer{Failed: "no room"}}, stopping},
		{starting, event{End: ended}, -1},
		{idle, event{End: ended}, -1},
		{working, event{Answer: answer{Stage: &stage{Stage: "verify"}}}, working},
		{working, event{Answer: answer{Ask: true}}, timing},
		{working, event{Answer: answer{Need: "new"}}, working},
		{working, event{Answer: answer{Need: "being made"}}, needing},
		{working, event{Answer: answer{Built: &built{}}}, idle},
		{working, event{Answer: answer{Result: &result{Result: tune.Result{Status: tune.Correct}}}}, idle},
		{working, event{Answer: answer{Result: &result{Result: tune.Result{Status: tune.Runtime}, Lost: true}}}, stopping},
		{working, event{Answer: answer{Failed: "no reference"}}, stopping},
		{working, event{End: ended}, -1},
		{timing, event{Answer: answer{Ask: true}}, timing},
		{timing, event{Answer: answer{Result: &result{Result: tune.Result{Status: tune.Correct}}}}, idle},
		{timing, event{End: ended}, -1},
		{needing, event{Answer: answer{Outputs: &outputs{Key: "being made"}}}, working}, // an answer of the other one
		{stopping, event{Answer: answer{Ready: &hardware.Device{}}}, stopping},
		{stopping, event{End: ended}, -1},
	} {
		p := &Pool{shared: true, freezes: true, most: 2, noBuilders: true, options: Options{BuildTimeout: time.Minute}}
		m := &member{spent: &Spent{}, child: &child{Requests: make(chan request, 4)}, state: c.from, since: now}
		other := &member{spent: &Spent{}, child: &child{Requests: make(chan request, 4)}, state: working, task: &assignment{}, since: now}
		p.members = []*member{m, other}
		switch p.reference("being made").maker = other; c.from {
		case working, needing, timing:
			m.task = &assignment{}
		}
		if c.from == timing {
			p.timer = m
		}
		if c.event.Child = m.child; c.from == needing {
			p.need(m, "being made", now)
			c.event.Child = other.child
		}
		_ = p.handle(c.event, now) // an error is the end of the pool
		if c.want < 0 {
			if p.member(m.child) != nil {
				t.Errorf("%+v: the member is still there", c)
			}
		} else if m.state != c.want || p.member(m.child) == nil {
			t.Errorf("%+v: the member is at %d", c, m.state)
		}
		if other.frozen != (m.state == timing && c.want == timing && c.from == working) {
			t.Errorf("%+v: the other member is frozen: %v", c, other.frozen)
		}
	}
}

// TestAnotherMakesTheOutputs lets a maker die for whose outputs two members wait.
func TestAnotherMakesTheOutputs(t *testing.T) {
	now := time.Now()
	p := &Pool{most: 3, noBuilders: true}
	for range 3 {
		m := &member{spent: &Spent{}, child: &child{Requests: make(chan request, 4)}, state: working, task: &assignment{}, since: now}
		p.members = append(p.members, m)
		p.need(m, "key", now)
	}
	maker, next, last := p.members[0], p.members[1], p.members[2]
	if err := p.handle(event{Child: maker.child, End: &process.End{}}, now); err != nil {
		t.Error(err)
	}
	if r := p.references["key"]; next.state != working || last.state != needing || r.maker != next || len(next.child.Requests) != 1 {
		t.Errorf("the next is at %d, the last at %d; %+v", next.state, last.state, r)
	}
	if err := p.handle(event{Child: next.child, Answer: answer{Outputs: &outputs{Key: "key", Arrays: map[string]*array.Array{}}}}, now); err != nil {
		t.Error(err)
	}
	if o := (<-last.child.Requests).Outputs; last.state != working || o == nil || o.Arrays == nil {
		t.Errorf("the last is at %d and got %+v", last.state, o)
	}
}
