package process

import "time"

// A Watch is a deadline that can be paused.
type Watch struct {
	deadline time.Time     // zero: never
	left     time.Duration // while paused
	paused   bool
}

// Set makes the watch run out after a time, of which a pause is no part.
func (w *Watch) Set(now time.Time, d time.Duration) {
	*w = Watch{deadline: now.Add(d), paused: w.paused, left: d}
}

// Clear makes the watch never run out.
func (w *Watch) Clear() { *w = Watch{paused: w.paused} }

// Pause stops the watch until Resume.
func (w *Watch) Pause(now time.Time) {
	if w.paused = true; !w.deadline.IsZero() {
		w.left = w.deadline.Sub(now)
	}
}

// Resume lets the watch go on with the time that was left at Pause.
func (w *Watch) Resume(now time.Time) {
	if w.paused = false; !w.deadline.IsZero() {
		w.deadline = now.Add(w.left)
	}
}

// Extend moves the deadline of a watch that runs.
func (w *Watch) Extend(d time.Duration) {
	if _, running := w.Deadline(); running {
		w.deadline = w.deadline.Add(d)
	}
}

// Deadline is when the watch runs out, if it is set and not paused.
func (w *Watch) Deadline() (time.Time, bool) {
	return w.deadline, !w.paused && !w.deadline.IsZero()
}
