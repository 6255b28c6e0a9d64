package cl

import (
	"runtime"
	"sync"
)

// Write copies data into the buffer from offset (bytes) on, and returns when data may be
// used again.
func (q *Queue) Write(b *Buffer, offset int, data []byte, wait ...*Event) error {
	return q.transferNow(clEnqueueWriteBuffer, b, offset, data, wait)
}

// Read copies the bytes of the buffer from offset on into data, and returns when they are
// there.
func (q *Queue) Read(b *Buffer, offset int, data []byte, wait ...*Event) error {
	return q.transferNow(clEnqueueReadBuffer, b, offset, data, wait)
}

// EnqueueWrite is Write without waiting. Data must not be changed until the event has ended;
// it stays pinned until then even when the caller drops it. To know that, a goroutine waits
// for the event, which also flushes the queue.
func (q *Queue) EnqueueWrite(b *Buffer, offset int, data []byte, wait ...*Event) (*Event, error) {
	return q.transferLater(clEnqueueWriteBuffer, b, offset, data, wait)
}

// EnqueueRead is Read without waiting. Data must not be read or changed until the event has
// ended; it stays pinned until then even when the caller drops it. To know that, a goroutine
// waits for the event, which also flushes the queue.
func (q *Queue) EnqueueRead(b *Buffer, offset int, data []byte, wait ...*Event) (*Event, error) {
	return q.transferLater(clEnqueueReadBuffer, b, offset, data, wait)
}

func (q *Queue) transferNow(f *function, b *Buffer, offset int, data []byte, wait []*Event) error {
	e, err := q.transfer(f, b, blocking, offset, data, wait)
	e.Release()
	return err
}

func (q *Queue) transferLater(f *function, b *Buffer, offset int, data []byte, wait []*Event) (*Event, error) {
	return q.pinned(data, func(block uintptr) (*Event, error) { return q.transfer(f, b, block, offset, data, wait) })
}

const (
	nonBlocking = 0
	blocking    = 1
)

func (q *Queue) transfer(f *function, b *Buffer, block uintptr, offset int, data []byte, wait []*Event) (*Event, error) {
	c, err := q.begin(f, wait, b)
	if err != nil {
		return nil, err
	}
	defer c.end()
	if err := b.within(f, offset, len(data)); err != nil {
		return nil, err
	}
	return c.event(f.run(q.id, b.id, block, uintptr(offset), uintptr(len(data)), uintptr(bytesOf(data)),
		c.waitCount(), uintptr(c.waitList()), uintptr(c.slot())))
}

// pinned enqueues a command that uses data after the call, and holds data in place until the
// command has ended.
func (q *Queue) pinned(data []byte, enqueue func(block uintptr) (*Event, error)) (*Event, error) {
	if q != nil && q.context != nil && q.context.runsInCaller {
		return enqueue(blocking)
	}
	pin := new(runtime.Pinner)
	if len(data) > 0 {
		pin.Pin(&data[0])
	}
	e, err := enqueue(nonBlocking)
	if err != nil || !e.enter() {
		pin.Unpin()
		return nil, err
	}
	go func() {
		defer e.leave()
		if e.ended() {
			pin.Unpin()
		} else {
			stuck.Store(pin, nil)
		}
	}()
	return e, nil
}

// stuck keeps the pins of commands of which the driver cannot say that they have ended.
// Their memory is lost, which is better than handing it to someone else.
var stuck sync.Map

// ended waits for the event and reports whether its command is over, well or not.
func (e *Event) ended() bool {
	if clWaitForEvents.run(1, uintptr(e.address())) == nil {
		return true
	}
	status, err := e.status()
	return err == nil && status <= 0
}
