package worker

import (
	"time"

	"github.com/ndtune/ndtune/tune/device"
)

// A member is a worker in the pool's books.
type member struct {
	process *process
	builds  bool // it only builds; else it evaluates
	device  int  // its place among the pool's devices

	state     state
	task      *task  // being built or evaluated
	again     *again // being measured again
	done      int    // tasks that it has ended
	stage     device.Stage
	stageFrom time.Time // when it began
	watch     watch
	launch    launchLimit // of the launches that are waited for
	frozen    bool
	spent     Spent
	since     time.Time // in the present state and stage, for spent
}

// A state is what a member is at.
type state int

const (
	starting  state = iota
	idle            // ready for work
	working         // at a task
	asking          // waits until it may time
	timing          // has the device to itself
	needing         // waits for right outputs that another makes
	departing       // was killed; its end is waited for
)

// quiet reports whether a member neither computes nor touches the device.
func (m *member) quiet() bool {
	return m.frozen || m.state == idle || m.state == asking || m.state == needing
}

// enter changes the state, and books the time since the last change.
func (m *member) enter(s state, now time.Time) {
	m.book(now)
	m.state = s
}

// begin notes the stage that a member says it begins.
func (m *member) begin(s device.Stage, now time.Time) {
	m.book(now)
	m.stage, m.stageFrom = s, now
}

// freeze makes a member stand still; its watch with it.
func (m *member) freeze(now time.Time) {
	if m.frozen || m.state == departing {
		return
	}
	m.book(now)
	m.frozen = true
	m.watch.pause(now)
	m.process.signal(freeze)
}

// thaw lets it go on.
func (m *member) thaw(now time.Time) {
	if !m.frozen {
		return
	}
	m.book(now)
	m.frozen = false
	m.watch.resume(now)
	m.process.signal(thaw)
}

// A watch says when something has taken too long.
type watch struct {
	deadline time.Time     // zero: never
	left     time.Duration // while paused
	paused   bool
}

func (w *watch) set(now time.Time, d time.Duration) {
	*w = watch{deadline: now.Add(d), paused: w.paused, left: d}
}

func (w *watch) clear() { *w = watch{paused: w.paused} }

func (w *watch) pause(now time.Time) {
	if w.paused = true; !w.deadline.IsZero() {
		w.left = w.deadline.Sub(now)
	}
}

func (w *watch) resume(now time.Time) {
	if w.paused = false; !w.deadline.IsZero() {
		w.deadline = now.Add(w.left)
	}
}

// running is the deadline, where there is one and the watch runs.
func (w *watch) running() (time.Time, bool) {
	return w.deadline, !w.paused && !w.deadline.IsZero()
}
