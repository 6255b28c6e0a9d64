package cl

import (
	"errors"
	"unsafe"
)

// QueueProperties is a set of properties of a queue.
type QueueProperties uint64

// The properties of a queue.
const (
	OutOfOrder QueueProperties = 1 << 0 // commands may overtake each other; order them by wait lists
	Profiling  QueueProperties = 1 << 1 // events carry timestamps, see Event.Profile
)

// String returns names joined with "|".
func (p QueueProperties) String() string { return joinBits(uint64(p), "out-of-order", "profiling") }

// Queue takes commands for one device. Without OutOfOrder they run one after the other, in
// the order in which they came. It is safe for concurrent use.
//
// A command waits for the events given to it, whatever their queues; nil among them stands
// for nothing to wait for. Commands may stay with the host until Flush, Finish, or a call
// that waits.
type Queue struct {
	object
	context   *Context
	device    *Device
	profiling bool
}

// NewQueue makes a queue of properties (Profiling, OutOfOrder, both or 0) for one of the
// context's devices. A device that cannot run commands out of order answers
// InvalidQueueProperties. Where a driver refuses Profiling so, the queue is made without it:
// see Queue.Profiling.
func (c *Context) NewQueue(d *Device, properties QueueProperties) (*Queue, error) {
	f := clCreateCommandQueue
	if f.addr == 0 {
		f = clCreateQueueWithProperties
	}
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	if err := d.check(f); err != nil {
		return nil, err
	}
	id, err := c.createQueue(f, d, properties)
	profiling := properties&Profiling != 0
	if profiling && errors.Is(err, InvalidQueueProperties) {
		var again error
		if id, again = c.createQueue(f, d, properties&^Profiling); again == nil {
			profiling, err = false, nil
		}
	}
	if err != nil {
		return nil, about(err, properties.String()+" on "+d.String())
	}
	q := &Queue{context: c, device: d, profiling: profiling}
	q.own(queueKind, id)
	return q, nil
}

// createQueue calls one of the two functions that make queues.
func (c *Context) createQueue(f *function, d *Device, properties QueueProperties) (uintptr, error) {
	var status Status
	var id uintptr
	if f == clCreateCommandQueue {
		id = f.create(c.id, d.id, uintptr(properties), uintptr(unsafe.Pointer(&status)))
	} else {
		const queueProperties = 0x1093
		list := []uint64{queueProperties, uint64(properties), 0}
		id = f.create(c.id, d.id, uintptr(unsafe.Pointer(&list[0])), uintptr(unsafe.Pointer(&status)))
	}
	return id, f.made(id, status)
}

// Profiling reports whether events of the queue carry timestamps. Some drivers know no
// profiling, that of the Raspberry Pi's V3D for one: their queues have none, whatever was
// asked for.
func (q *Queue) Profiling() bool { return q.profiling }

// Device returns the device that runs the queue's commands.
func (q *Queue) Device() *Device { return q.device }

// Context returns the context of the queue.
func (q *Queue) Context() *Context { return q.context }

// Flush hands all commands so far to the device, and does not wait for them.
func (q *Queue) Flush() error { return q.settle(clFlush) }

// Finish waits until all commands so far have ended.
func (q *Queue) Finish() error { return q.settle(clFinish) }

func (q *Queue) settle(f *function) error {
	if err := q.use(f); err != nil {
		return err
	}
	defer q.leave()
	return f.run(q.id)
}

// EnqueueMarker makes an event that ends when the given events have, or, when there are
// none, when all commands before it have.
func (q *Queue) EnqueueMarker(wait ...*Event) (*Event, error) {
	return q.enqueueSync(clEnqueueMarkerWithWaitList, wait)
}

// EnqueueBarrier is EnqueueMarker, and no later command of the queue begins before it has
// ended.
func (q *Queue) EnqueueBarrier(wait ...*Event) (*Event, error) {
	return q.enqueueSync(clEnqueueBarrierWithWaitList, wait)
}

func (q *Queue) enqueueSync(f *function, wait []*Event) (*Event, error) {
	c, err := q.begin(f, wait)
	if err != nil {
		return nil, err
	}
	defer c.end()
	return c.event(f.run(q.id, c.waitCount(), uintptr(c.waitList()), uintptr(c.slot())))
}

// Release gives the queue up; commands in it still run. It does nothing when called again,
// or on nil.
func (q *Queue) Release() {
	if q != nil {
		q.drop()
	}
}

func (q *Queue) use(f *function) error {
	if q == nil {
		return queueKind.gone(f.name)
	}
	return q.object.use(f, queueKind)
}

// command is one call that puts a command into a queue: it holds what the call uses until
// the call is done.
type command struct {
	queue *Queue
	mems  []memory
	wait  []*Event
	ids   []uintptr // of wait
	made  *Event
}

// memory is a buffer or an image, or nil of either.
type memory interface {
	use(f *function) error
	keep()
	leave()
}

// begin takes hold of the queue, the memory and the events to wait for, or fails and holds
// nothing. end must follow.
func (q *Queue) begin(f *function, wait []*Event, mems ...memory) (command, error) {
	if err := q.use(f); err != nil {
		return command{}, err
	}
	c := command{queue: q, made: new(Event)}
	if err := c.hold(f, wait, mems); err != nil {
		c.end()
		return command{}, err
	}
	return c, nil
}

func (c *command) hold(f *function, wait []*Event, mems []memory) error {
	if err := f.on(c.queue.context.version); err != nil {
		return err
	}
	for i, m := range mems {
		if err := m.use(f); err != nil {
			return err
		}
		c.mems = mems[:i+1]
	}
	for _, e := range wait {
		if e == nil {
			continue
		}
		if err := e.use(f); err != nil {
			return err
		}
		c.wait = append(c.wait, e)
		c.ids = append(c.ids, e.id)
	}
	return nil
}

// end lets go of everything.
func (c *command) end() {
	for _, e := range c.wait {
		e.leave()
	}
	for _, m := range c.mems {
		m.leave()
	}
	c.queue.leave()
}

func (c *command) waitCount() uintptr         { return uintptr(len(c.ids)) }
func (c *command) waitList() unsafe.Pointer   { return unsafe.Pointer(unsafe.SliceData(c.ids)) }
func (c *command) slot() unsafe.Pointer       { return unsafe.Pointer(&c.made.id) }
func bytesOf(data []byte) unsafe.Pointer      { return unsafe.Pointer(unsafe.SliceData(data)) }
func sizes(triple *[3]uintptr) unsafe.Pointer { return unsafe.Pointer(triple) }

// event returns the event that the call wrote into the slot, or the call's error.
func (c *command) event(err error) (*Event, error) {
	if err != nil {
		return nil, err
	}
	c.made.own(eventKind, c.made.id)
	return c.made, nil
}

// triple turns sizes that were checked for being non-negative into size_t.
func triple(of [3]int) *[3]uintptr {
	return &[3]uintptr{uintptr(of[0]), uintptr(of[1]), uintptr(of[2])}
}
