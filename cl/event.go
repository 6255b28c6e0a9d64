package cl

import (
	"fmt"
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
