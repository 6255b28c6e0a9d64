package process

import (
	"testing"
	"time"
)

func TestWatch(t *testing.T) {
	begin := time.Now()
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	w := Watch{}
	expect := func(what string, deadline int) {
		t.Helper()
		got, running := w.Deadline()
		if running != (deadline > 0) || (running && !got.Equal(at(deadline))) {
			t.Errorf("%s: runs out at %v (%v), want %d", what, got.Sub(begin), running, deadline)
		}
	}
	expect("not set", 0)
	w.Pause(at(1))
	w.Resume(at(2))
	expect("not set, paused and resumed", 0)
	w.Set(at(10), 5*time.Second)
	expect("set", 15)
	w.Pause(at(12))
	expect("paused", 0)
	w.Resume(at(100))
	expect("resumed with 3 s left", 103)
	w.Pause(at(110))
	w.Resume(at(120))
	expect("had run out when it was paused", 113)
	w.Pause(at(200))
	w.Set(at(210), 5*time.Second)
	expect("set while paused", 0)
	w.Resume(at(300))
	expect("set while paused, resumed", 305)
	w.Pause(at(301))
	w.Clear()
	w.Resume(at(310))
	expect("cleared while paused", 0)
	w.Set(at(320), time.Second)
	w.Clear()
	expect("cleared", 0)
}
