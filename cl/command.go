package cl

import "unsafe"

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
