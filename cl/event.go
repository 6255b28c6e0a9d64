package cl

import (
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"
)

// EventStatus is the state of a command. Negative values mean that it failed.
type EventStatus int32

// The states of a command.
const (
	Complete  EventStatus = 0
	Running   EventStatus = 1
	Submitted EventStatus = 2 // to the device
	Queued    EventStatus = 3

	failed EventStatus = -1 // PoCL reports every failure so; as a Status it has another meaning
)

// String returns "complete", "running", "submitted", "queued", "failed", or the name of the
// error.
func (s EventStatus) String() string {
	switch {
	case s == failed:
		return "failed"
	case s < 0:
		return Status(s).String()
	}
	return nameOf(uint32(s), 0, "complete", "running", "submitted", "queued")
}

// Err returns the error of a failed command, a Status, and nil for any other.
func (s EventStatus) Err() error {
	switch {
	case s == failed:
		return ExecStatusErrorForEventsInWaitList
	case s < 0:
		return Status(s)
	}
	return nil
}

// Event represents a command. Programs and other commands can wait for it, and it holds the
// times of the command. Every event must be released, before or after the command has ended.
// It is safe for concurrent use.
type Event struct {
	object
}

// Wait waits until the command has ended; it flushes the queue if necessary. If the command
// failed, the error matches its status.
func (e *Event) Wait() error {
	f := &api.clWaitForEvents
	if err := e.use(f); err != nil {
		return err
	}
	defer e.leave()
	if err := f.run(1, uintptr(e.address())); err != nil {
		return e.failure(f, err)
	}
	return nil
}

// failure returns the error of the command in place of the general error of a wait.
func (e *Event) failure(f *function, err error) error {
	status, statusErr := e.status()
	if statusErr != nil || status >= 0 || status == failed {
		return err
	}
	return &Error{Call: f.name, Detail: "the command failed", Status: Status(status), Err: err}
}

// WaitForEvents waits until all commands have ended. Their events must be of one context; nil
// events are ignored. If a command failed, the error matches its status.
func WaitForEvents(events ...*Event) error {
	f := &api.clWaitForEvents
	var list waitList
	defer list.leave()
	if err := list.hold(f, events); err != nil || len(list.ids) == 0 {
		return err
	}
	err := f.run(uintptr(len(list.ids)), uintptr(unsafe.Pointer(&list.ids[0])))
	if err == nil {
		return nil
	}
	for i, e := range list.events {
		if failure := e.failure(f, err); failure != err {
			return about(failure, fmt.Sprintf("event %d", i))
		}
	}
	return err
}

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

const eventExecutionStatus = 0x11D3

// Status returns the state of the command. A failed command is no error here; see
// EventStatus.Err.
func (e *Event) Status() (EventStatus, error) {
	if err := e.use(&api.clGetEventInfo); err != nil {
		return 0, err
	}
	defer e.leave()
	return e.status()
}

func (e *Event) status() (EventStatus, error) {
	var status EventStatus
	err := api.clGetEventInfo.run(e.id, eventExecutionStatus, unsafe.Sizeof(status), uintptr(unsafe.Pointer(&status)), 0)
	return status, err
}

// Release releases the event; its command continues. Further calls, and calls on nil, do
// nothing.
func (e *Event) Release() { e.handle().drop() }

// handle returns the object, or nil for nil.
func (e *Event) handle() *object {
	if e == nil {
		return nil
	}
	return &e.object
}

func (e *Event) use(f *function) error { return e.handle().use(f, eventKind) }

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
// command has not ended, if its queue was created without Profiling, and for user events.
func (e *Event) Profile() (Profile, error) {
	f := &api.clGetEventProfilingInfo
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

// UserEvent is an event that the program ends. Its Event can be given to commands to wait
// for.
type UserEvent struct {
	*Event
	settled atomic.Bool
}

// NewUserEvent creates a user event that has not ended. Commands that wait for it wait until
// Complete, Fail or Release is called.
func (c *Context) NewUserEvent() (*UserEvent, error) {
	f := &api.clCreateUserEvent
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	id, err := f.create(c.id)
	if err != nil {
		return nil, err
	}
	u := &UserEvent{Event: new(Event)}
	u.own(eventKind, id)
	return u, nil
}

// Complete ends the event. The error is InvalidOperation if it has ended before.
func (u *UserEvent) Complete() error { return u.settle(Success) }

// Fail ends the event with an error, a negative status. Commands that wait for it do not run.
// Commands after them in an in-order queue may never end (on PoCL they hang): release such a
// queue.
func (u *UserEvent) Fail(status Status) error {
	if status >= 0 {
		return refuse(api.clSetUserEventStatus.name, InvalidValue, "the status of a failure is negative")
	}
	return u.settle(status)
}

func (u *UserEvent) settle(status Status) error {
	f := &api.clSetUserEventStatus
	if u == nil {
		return eventKind.gone(f.name)
	}
	if err := u.use(f); err != nil {
		return err
	}
	defer u.leave()
	if !u.settled.CompareAndSwap(false, true) {
		return refuse(f.name, InvalidOperation, "the event has ended already")
	}
	return f.run(u.id, uintptr(uint32(status)))
}

// Release releases the event. If it has not ended, it fails with InvalidEvent first, so that
// nothing waits for it forever. Further calls, and calls on nil, do nothing.
func (u *UserEvent) Release() {
	if u == nil {
		return
	}
	_ = u.settle(InvalidEvent) // an error means that it has ended
	u.Event.Release()
}
