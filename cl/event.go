package cl

import (
	"time"
	"unsafe"
)

// Event represents a command. Programs and other commands can wait for it, and it holds the
// times of the command. Every event must be released, before or after the command has ended.
// It is safe for concurrent use.
type Event struct {
	object
}

// Wait waits until the command has ended; it flushes the queue if necessary. If the command
// failed, the error matches its status.
func (e *Event) Wait() error {
	f := &api(e).clWaitForEvents
	if err := e.use(f); err != nil {
		return err
	}
	defer e.leave()
	if err := f.run(1, uintptr(e.address())); err != nil {
		return e.failure(f, err)
	}
	return nil
}

// failure returns the error of the command in place of the general error of a wait, which on CUDA is that of the command already.
func (e *Event) failure(f *function, err error) error {
	if f.own != nil {
		return about(err, "the command failed")
	}
	var status Status
	statusErr := e.api.clGetEventInfo.run(e.id, eventExecutionStatus, unsafe.Sizeof(status), uintptr(unsafe.Pointer(&status)), 0)
	if statusErr != nil || status >= 0 || status == failedOnPoCL {
		return err
	}
	return &Error{Call: f.name, Detail: "the command failed", Status: status, Err: err}
}

const (
	eventExecutionStatus = 0x11D3
	failedOnPoCL         = -1 // PoCL reports every failure so; as a Status it has another meaning
)

// waitList is a list of events in use.
type waitList struct {
	events []*Event
	ids    []uintptr
}

// hold counts a use of each event that is not nil.
func (l *waitList) hold(f *function, events []*Event) error {
	for _, e := range events {
		if e == nil {
			continue
		}
		if err := e.use(f); err != nil {
			return err
		}
		l.events, l.ids = append(l.events, e), append(l.ids, e.id)
	}
	return nil
}

func (l *waitList) leave() {
	for _, e := range l.events {
		e.leave()
	}
}

// Release releases the event; its command continues. Further calls, and calls on nil, do
// nothing.
func (e *Event) Release() { handle(e).drop() }

func (e *Event) use(f *function) error { return handle(e).use(f, eventKind) }

// Profile holds the times of a command on the device's clock, in nanoseconds. Only differences
// are meaningful, because the clock may start anywhere. The times are those of the driver: some
// drivers report zeros, or an end that is not after the start.
type Profile struct {
	Queued uint64 // enqueued by the host
	Submit uint64 // submitted to the device
	Start  uint64
	End    uint64
}

// Duration returns End - Start, or 0 if End is before Start.
func (p Profile) Duration() time.Duration {
	if p.End < p.Start {
		return 0
	}
	return time.Duration(p.End - p.Start)
}

const profilingQueued = 0x1280 // submit, start and end follow

// Profile returns the times of the command. The error is ProfilingInfoNotAvailable if the
// command has not ended or if its queue was created without Profiling.
func (e *Event) Profile() (Profile, error) {
	f := &api(e).clGetEventProfilingInfo
	if err := e.use(f); err != nil {
		return Profile{}, err
	}
	defer e.leave()
	times := new([4]uint64)
	for i := range times {
		t := &times[i]
		if err := f.run(e.id, uintptr(profilingQueued+i), unsafe.Sizeof(*t), uintptr(unsafe.Pointer(t)), 0); err != nil {
			return Profile{}, err
		}
	}
	return Profile{Queued: times[0], Submit: times[1], Start: times[2], End: times[3]}, nil
}
