package worker

import (
	"testing"
	"time"
)

func TestSpent(t *testing.T) {
	begin := time.Now()
	m := &member{since: begin}
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
	if want := (Spent{Starting: 1 * s, Idle: 66 * s, Building: 4 * s, Verifying: 136 * s, Waiting: 16 * s, Measuring: 32 * s}); m.spent != want {
		t.Errorf("%+v, want %+v", m.spent, want)
	}
	if m.spent.Total() != 255*s {
		t.Errorf("the sum is %s", m.spent.Total())
	}
}
