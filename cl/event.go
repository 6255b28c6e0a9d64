package cl

import (
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"
)

// EventStatus is how far a command has come. Negative values say that it failed.
type EventStatus int32

// The stages of a command.
const (
	Complete  EventStatus = 0
	Running   EventStatus = 1
	Submitted EventStatus = 2 // given to the device
	Queued    EventStatus = 3

	failed EventStatus = -1 // how PoCL marks every failure; as a Status it would mean something else
)

// String returns "complete", "running", "submitted", "queued", "failed", or the name of the
// error.
func (s EventStatus) String() string {
	switch s {
	case Complete:
		return "complete"
	case Running:
		return "running"
	case Submitted:
		return "submitted"
	case Queued:
		return "queued"
	case failed:
		return "failed"
	}
	return Status(s).String()
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

// Event stands for a command: to wait for it, to let other commands wait for it, to read its
// times. Every event returned by this package must be released, before the command has ended
// or after. It is safe for concurrent use.
type Event struct {
	object
}

// Wait blocks until the command has ended, and flushes its queue if need be. When the
// command failed, the error matches its status.
func (e *Event) Wait() error {
	f := clWaitForEvents
	if err := e.use(f); err != nil {
		return err
	}
	defer e.leave()
	if err := f.run(1, uintptr(e.address())); err != nil {
		return e.failure(f, err)
	}
	return nil
}

// failure replaces the general error of a wait by that of the command.
func (e *Event) failure(f *function, err error) error {
	status, statusErr := e.status()
	if statusErr != nil || status >= 0 || status == failed {
		return err
	}
	return &Error{Call: f.name, Detail: "the command failed", Status: Status(status), Err: err}
}

// WaitForEvents blocks until all commands have ended. They must be of one context; nil among
// them is passed over. When a command failed, the error matches its status.
func WaitForEvents(events ...*Event) error {
	f := clWaitForEvents
	var ids []uintptr
	var held []*Event
	defer func() {
		for _, e := range held {
			e.leave()
		}
	}()
	for _, e := range events {
		if e == nil {
			continue
		}
		if err := e.use(f); err != nil {
			return err
		}
		held, ids = append(held, e), append(ids, e.id)
	}
	if len(ids) == 0 {
		return nil
	}
	err := f.run(uintptr(len(ids)), uintptr(unsafe.Pointer(&ids[0])))
	if err == nil {
		return nil
	}
	for i, e := range held {
		if failure := e.failure(f, err); failure != err {
			return about(failure, fmt.Sprintf("event %d", i))
		}
	}
	return err
}

const eventExecutionStatus = 0x11D3

// Status returns how far the command has come. A failed command is no error here: see
// EventStatus.Err.
func (e *Event) Status() (EventStatus, error) {
	if err := e.use(clGetEventInfo); err != nil {
		return 0, err
	}
	defer e.leave()
	return e.status()
}

func (e *Event) status() (EventStatus, error) {
	var status EventStatus
	err := clGetEventInfo.run(e.id, eventExecutionStatus, unsafe.Sizeof(status), uintptr(unsafe.Pointer(&status)), 0)
	return status, err
}

// Release gives the event up; its command goes on. It does nothing when called again, or on
// nil.
func (e *Event) Release() {
	if e != nil {
		e.drop()
	}
}

func (e *Event) use(f *function) error {
	if e == nil {
		return eventKind.gone(f.name)
	}
	return e.object.use(f, eventKind)
}

// Profile holds the times of a command on the device's clock, in nanoseconds. The clock
// begins anywhere, so only differences mean something. They are what the driver says: some
// give zeros, or an end that is no later than the start.
type Profile struct {
	Queued uint64 // put into the queue by the host
	Submit uint64 // handed to the device
	Start  uint64
	End    uint64
}

// Duration returns End - Start, and 0 where End is before Start.
func (p Profile) Duration() time.Duration {
	if p.End < p.Start {
		return 0
	}
	return time.Duration(p.End - p.Start)
}

const profilingQueued = 0x1280 // submit, start and end follow

// Profile returns the times of the command. It must have ended, and its queue must have been
// made with Profiling; otherwise, and for user events, the error is
// ProfilingInfoNotAvailable.
func (e *Event) Profile() (Profile, error) {
	f := clGetEventProfilingInfo
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

// UserEvent is an event that ends when the program says so. Give its Event to commands that
// shall wait for it.
type UserEvent struct {
	*Event
	settled atomic.Bool
}

// NewUserEvent makes a user event that has not ended. Complete, Fail or Release must follow,
// or commands that wait for it wait forever.
func (c *Context) NewUserEvent() (*UserEvent, error) {
	f := clCreateUserEvent
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	var status Status
	id := f.create(c.id, uintptr(unsafe.Pointer(&status)))
	if err := f.made(id, status); err != nil {
		return nil, err
	}
	u := &UserEvent{Event: new(Event)}
	u.own(eventKind, id)
	return u, nil
}

// Complete ends the event. An event ends once: later calls, and those after Fail, answer
// InvalidOperation.
func (u *UserEvent) Complete() error { return u.settle(Success) }

// Fail ends the event with an error, a negative status. Commands that wait for it do not run,
// and those after them in an in-order queue may never: PoCL's hang. Release such a queue.
func (u *UserEvent) Fail(status Status) error {
	if status >= 0 {
		return refuse(clSetUserEventStatus.name, InvalidValue, "the status of a failure is negative")
	}
	return u.settle(status)
}

func (u *UserEvent) settle(status Status) error {
	f := clSetUserEventStatus
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

// Release gives the event up. One that has not ended fails with InvalidEvent first, so that
// nothing waits for it forever. It does nothing when called again, or on nil.
func (u *UserEvent) Release() {
	if u == nil {
		return
	}
	_ = u.settle(InvalidEvent) // fails when there is nothing left to settle
	u.Event.Release()
}
