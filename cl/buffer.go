package cl

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// MemFlags is the way in which kernels and the host use a buffer or an image.
type MemFlags uint64

// The uses of memory. The first three are for kernels; without any of them, ReadWrite applies.
// The Host flags are promises to the driver (OpenCL 1.2).
const (
	ReadWrite     MemFlags = 1 << 0
	WriteOnly     MemFlags = 1 << 1
	ReadOnly      MemFlags = 1 << 2
	AllocHostPtr  MemFlags = 1 << 4 // allocate where the host can access it, for mapping
	HostWriteOnly MemFlags = 1 << 7
	HostReadOnly  MemFlags = 1 << 8
	HostNoAccess  MemFlags = 1 << 9

	useHostPtr  MemFlags = 1 << 3
	copyHostPtr MemFlags = 1 << 5
)

// check returns an error for flags that users cannot set: with USE_HOST_PTR, OpenCL would keep
// a pointer into Go memory for the life of the object.
func (m MemFlags) check(f *function) error {
	if m&(useHostPtr|copyHostPtr) != 0 {
		return refuse(f.name, InvalidValue,
			"CL_MEM_USE_HOST_PTR and CL_MEM_COPY_HOST_PTR are no flags here: give the data to be copied instead")
	}
	return nil
}

// String returns names joined with "|".
func (m MemFlags) String() string {
	return joinBits(uint64(m), "read-write", "write-only", "read-only", "use-host-ptr", "alloc-host-ptr",
		"copy-host-ptr", "", "host-write-only", "host-read-only", "host-no-access")
}

// Buffer is linear memory of a context. Its methods are safe for concurrent use. Queues and
// wait lists order the commands that access its bytes.
type Buffer struct {
	object
	context *Context
	size    int
}

// NewBuffer creates a buffer of size bytes with undefined content.
func (c *Context) NewBuffer(flags MemFlags, size int) (*Buffer, error) {
	if size <= 0 {
		return nil, refuse(clCreateBuffer.name, InvalidBufferSize, fmt.Sprintf("%d bytes", size))
	}
	return c.newBuffer(flags, 0, size, nil)
}

// NewBufferFrom creates a buffer with a copy of the data.
func (c *Context) NewBufferFrom(flags MemFlags, data []byte) (*Buffer, error) {
	if len(data) == 0 {
		return nil, refuse(clCreateBuffer.name, InvalidBufferSize, "no data")
	}
	return c.newBuffer(flags, copyHostPtr, len(data), data)
}

func (c *Context) newBuffer(flags, more MemFlags, size int, data []byte) (*Buffer, error) {
	f := clCreateBuffer
	if err := flags.check(f); err != nil {
		return nil, err
	}
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	var status Status
	id := f.create(c.id, uintptr(flags|more), uintptr(size), uintptr(bytesOf(data)), uintptr(unsafe.Pointer(&status)))
	if err := f.made(id, status); err != nil {
		return nil, about(err, fmt.Sprintf("%d bytes", size))
	}
	b := &Buffer{context: c, size: size}
	b.own(bufferKind, id)
	return b, nil
}

// Sub creates a buffer that shares size bytes of b, starting at offset. If flags is 0, the flags
// of b apply. The error is MisalignedSubBufferOffset unless the offset is a multiple of
// DeviceInfo.BaseAddressAlign (bits) of a device of the context.
func (b *Buffer) Sub(flags MemFlags, offset, size int) (*Buffer, error) {
	f := clCreateSubBuffer
	if err := flags.check(f); err != nil {
		return nil, err
	}
	if err := b.use(f); err != nil {
		return nil, err
	}
	defer b.leave()
	if err := b.within(f, offset, size); err != nil {
		return nil, err
	}
	const bufferCreateTypeRegion = 0x1220
	region := [2]uintptr{uintptr(offset), uintptr(size)}
	var status Status
	id := f.create(b.id, uintptr(flags), bufferCreateTypeRegion,
		uintptr(unsafe.Pointer(&region)), uintptr(unsafe.Pointer(&status)))
	if err := f.made(id, status); err != nil {
		return nil, about(err, fmt.Sprintf("%d bytes from %d", size, offset))
	}
	part := &Buffer{context: b.context, size: size}
	part.own(bufferKind, id)
	return part, nil
}

// Size returns the size in bytes.
func (b *Buffer) Size() int { return b.size }

// Release releases the buffer; commands that use it still run. Further calls, and calls on nil,
// do nothing.
func (b *Buffer) Release() {
	if b != nil {
		b.drop()
	}
}

// within returns an error for a range that is empty or not inside the buffer.
func (b *Buffer) within(f *function, offset, size int) error {
	if offset < 0 || size <= 0 || offset > b.size || size > b.size-offset {
		return refuse(f.name, InvalidValue,
			fmt.Sprintf("%d bytes from %d of a buffer of %d bytes", size, offset, b.size))
	}
	return nil
}

func (b *Buffer) use(f *function) error {
	if b == nil {
		return bufferKind.gone(f.name)
	}
	return b.object.use(f, bufferKind)
}

// Write copies data into the buffer, starting at offset (bytes). It returns when data may be
// changed again.
func (q *Queue) Write(b *Buffer, offset int, data []byte, wait ...*Event) error {
	return q.transferNow(clEnqueueWriteBuffer, b, offset, data, wait)
}

// Read fills data with the bytes of the buffer, starting at offset. It returns when data is
// complete.
func (q *Queue) Read(b *Buffer, offset int, data []byte, wait ...*Event) error {
	return q.transferNow(clEnqueueReadBuffer, b, offset, data, wait)
}

// EnqueueWrite is like Write, but does not wait. Data must not be changed until the event has
// ended. Until then a goroutine keeps data pinned; it waits for the event, which also flushes
// the queue.
func (q *Queue) EnqueueWrite(b *Buffer, offset int, data []byte, wait ...*Event) (*Event, error) {
	return q.transferLater(clEnqueueWriteBuffer, b, offset, data, wait)
}

// EnqueueRead is like Read, but does not wait. Data must not be read or changed until the event
// has ended. Until then a goroutine keeps data pinned; it waits for the event, which also
// flushes the queue.
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

// pinned enqueues a command that uses data after the call returns, and pins data until the
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

// stuck keeps the pins of commands whose end the driver cannot confirm. Leaking their memory is
// better than letting the driver write to memory that is used again.
var stuck sync.Map

// ended waits for the event and reports whether its command has ended, successfully or not.
func (e *Event) ended() bool {
	if clWaitForEvents.run(1, uintptr(e.address())) == nil {
		return true
	}
	status, err := e.status()
	return err == nil && status <= 0
}

// EnqueueFill fills size bytes of the buffer, starting at offset, with a repeated pattern
// (OpenCL 1.2). The length of the pattern must be 1, 2, 4, …, 128 bytes; offset and size must
// be multiples of it.
func (q *Queue) EnqueueFill(b *Buffer, pattern []byte, offset, size int, wait ...*Event) (*Event, error) {
	f := clEnqueueFillBuffer
	c, err := q.begin(f, wait, b)
	if err != nil {
		return nil, err
	}
	defer c.end()
	if n := len(pattern); n == 0 || n > 128 || n&(n-1) != 0 || offset%n != 0 || size%n != 0 {
		return nil, refuse(f.name, InvalidValue,
			fmt.Sprintf("a pattern of %d bytes over %d bytes from %d", n, size, offset))
	}
	if err := b.within(f, offset, size); err != nil {
		return nil, err
	}
	return c.event(f.run(q.id, b.id, uintptr(bytesOf(pattern)), uintptr(len(pattern)), uintptr(offset), uintptr(size),
		c.waitCount(), uintptr(c.waitList()), uintptr(c.slot())))
}

// EnqueueCopy copies size bytes from one buffer to another, or within one buffer if the ranges
// do not overlap. Offsets are in bytes.
func (q *Queue) EnqueueCopy(src, dst *Buffer, srcOffset, dstOffset, size int, wait ...*Event) (*Event, error) {
	f := clEnqueueCopyBuffer
	c, err := q.begin(f, wait, src, dst)
	if err != nil {
		return nil, err
	}
	defer c.end()
	if err := src.within(f, srcOffset, size); err != nil {
		return nil, about(err, "source")
	}
	if err := dst.within(f, dstOffset, size); err != nil {
		return nil, about(err, "destination")
	}
	return c.event(f.run(q.id, src.id, dst.id, uintptr(srcOffset), uintptr(dstOffset), uintptr(size),
		c.waitCount(), uintptr(c.waitList()), uintptr(c.slot())))
}
