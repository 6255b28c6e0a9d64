package worker

import (
	"testing"
	"time"
)

func TestWatch(t *testing.T) {
	begin := time.Now()
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	w := watch{}
	expect := func(what string, deadline int) {
		t.Helper()
		got, running := w.running()
		if running != (deadline > 0) || (running && !got.Equal(at(deadline))) {
			t.Errorf("%s: runs out at %v (%v), want %d", what, got.Sub(begin), running, deadline)
		}
	}
	expect("not set", 0)
	w.pause(at(1))
	w.resume(at(2))
	expect("not set, paused and resumed", 0)
	w.set(at(10), 5*time.Second)
	expect("set", 15)
	w.pause(at(12))
	expect("paused", 0)
	w.resume(at(100))
	expect("resumed with 3 s left", 103)
	w.pause(at(110))
	w.resume(at(120))
	expect("had run out when it was paused", 113)
	w.pause(at(200))
	w.set(at(210), 5*time.Second)
	expect("set while paused", 0)
	w.resume(at(300))
	expect("set while paused, resumed", 305)
	w.pause(at(301))
	w.clear()
	w.resume(at(310))
	expect("cleared while paused", 0)
	w.set(at(320), time.Second)
	w.clear()
	expect("cleared", 0)
}
