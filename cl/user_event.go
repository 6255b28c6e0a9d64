package cl

import (
	"sync/atomic"
	"unsafe"
)

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
