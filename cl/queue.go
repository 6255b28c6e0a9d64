package cl

import (
	"errors"
	"unsafe"
)

// QueueProperties is a set of properties of a queue.
type QueueProperties uint64

// The properties of a queue.
const (
	OutOfOrder QueueProperties = 1 << 0 // commands may run in any order that wait lists allow
	Profiling  QueueProperties = 1 << 1 // events have timestamps, see Event.Profile
)

// String returns names joined with "|".
func (p QueueProperties) String() string { return joinBits(uint64(p), "out-of-order", "profiling") }

// Queue is a command queue of the device. Without OutOfOrder, commands run one after the
// other in the order in which they were enqueued. It is safe for concurrent use.
//
// A command waits for the events given to it, which may be of other queues; nil events are
// ignored. Commands may stay on the host until Flush, Finish, or a call that waits.
type Queue struct {
	object
	context   *Context
	profiling bool
}

// NewQueue creates a queue with properties (Profiling, OutOfOrder, both or 0). The error is InvalidQueueProperties if the
// device does not support OutOfOrder. If the driver refuses Profiling, the queue is created without it; see Queue.Profiling.
func (c *Context) NewQueue(properties QueueProperties) (*Queue, error) {
	f := &api(c).clCreateCommandQueue
	if !f.known() {
		f = &api(c).clCreateCommandQueueWithProperties
	}
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	id, err := c.createQueue(f, properties)
	profiling := properties&Profiling != 0
	if profiling && errors.Is(err, InvalidQueueProperties) {
		var again error
		if id, again = c.createQueue(f, properties&^Profiling); again == nil {
			profiling, err = false, nil
		}
	}
	if err != nil {
		return nil, about(err, properties.String()+" on "+c.device.String())
	}
	q := &Queue{context: c, profiling: profiling}
	q.own(queueKind, id, c.api)
	return q, nil
}

// createQueue creates a queue with function f, clCreateCommandQueue or its successor.
func (c *Context) createQueue(f *function, properties QueueProperties) (uintptr, error) {
	if f == &c.api.clCreateCommandQueue {
		return f.create(c.id, c.device.id, uintptr(properties))
	}
	const queueProperties = 0x1093
	list := []uint64{queueProperties, uint64(properties), 0}
	return f.create(c.id, c.device.id, uintptr(unsafe.Pointer(&list[0])))
}

// Profiling reports whether events of the queue have timestamps. Queues of drivers without
// profiling, such as that of the Raspberry Pi's V3D, have none, even if requested.
func (q *Queue) Profiling() bool { return q.profiling }

// Flush submits all enqueued commands to the device, without waiting for them.
func (q *Queue) Flush() error { return q.call(&api(q).clFlush) }

// Finish waits until all enqueued commands have ended.
func (q *Queue) Finish() error { return q.call(&api(q).clFinish) }

func (q *Queue) call(f *function) error {
	if err := q.use(f); err != nil {
		return err
	}
	defer q.leave()
	return f.run(q.id)
}

// Release releases the queue; enqueued commands still run. Further calls, and calls on nil, do
// nothing.
func (q *Queue) Release() { handle(q).drop() }

func (q *Queue) use(f *function) error { return handle(q).use(f, queueKind) }

// command is one call that enqueues a command. It keeps the objects that the call uses alive
// until end.
type command struct {
	function *function
	queue    *Queue
	mems     []memory
	wait     waitList
	made     *Event
}

// memory is a buffer or an image, or nil of either.
type memory interface {
	use(f *function) error
	leave()
}

// enqueue makes a command of a call of f, and returns its event. The call refuses wrong arguments,
// then runs the command; it may use the queue, the memory and the events to wait for.
func (q *Queue) enqueue(f *function, wait []*Event, call func(*command) error, mems ...memory) (*Event, error) {
	c, err := q.begin(f, wait, mems...)
	if err != nil {
		return nil, err
	}
	defer c.end()
	if err := call(&c); err != nil {
		return nil, err
	}
	return c.event(), nil
}

// run calls the function of the command. It adds the wait list and the place for the event.
//
//go:uintptrescapes
func (c *command) run(args ...uintptr) error {
	return c.function.runWith(args, c.waitCount(), uintptr(c.waitList()), uintptr(c.slot()))
}

// begin starts a command: it counts a use of the queue, the memory and the events to wait for.
// end must follow unless begin fails.
func (q *Queue) begin(f *function, wait []*Event, mems ...memory) (command, error) {
	if err := q.use(f); err != nil {
		return command{}, err
	}
	c := command{function: f, queue: q, made: new(Event)}
	if err := c.hold(wait, mems); err != nil {
		c.end()
		return command{}, err
	}
	return c, nil
}

// hold counts a use of memory and events.
func (c *command) hold(wait []*Event, mems []memory) error {
	f := c.function
	if err := f.on(c.queue.context.version); err != nil {
		return err
	}
	for i, m := range mems {
		if err := m.use(f); err != nil {
			return err
		}
		c.mems = mems[:i+1]
	}
	return c.wait.hold(f, wait)
}

// end ends all uses.
func (c *command) end() {
	c.wait.leave()
	for _, m := range c.mems {
		m.leave()
	}
	c.queue.leave()
}

func (c *command) waitCount() uintptr       { return uintptr(len(c.wait.ids)) }
func (c *command) waitList() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(c.wait.ids)) }
func (c *command) slot() unsafe.Pointer     { return unsafe.Pointer(&c.made.id) }
func bytesOf(data []byte) unsafe.Pointer    { return unsafe.Pointer(unsafe.SliceData(data)) }

// event returns the event that the call wrote into the slot.
func (c *command) event() *Event {
	c.made.own(eventKind, c.made.id, c.queue.api)
	return c.made
}

// triple returns the address of three sizes, none of them negative, as size_t.
func triple(of [3]int) unsafe.Pointer {
	return unsafe.Pointer(&[3]uintptr{uintptr(of[0]), uintptr(of[1]), uintptr(of[2])})
}
