package cl

import (
	"cmp"
	"fmt"
	"math/bits"
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
	size int
}

// NewBuffer creates a buffer of size bytes with undefined content.
func (c *Context) NewBuffer(flags MemFlags, size int) (*Buffer, error) {
	if size <= 0 {
		return nil, refuse(api.clCreateBuffer.name, InvalidBufferSize, fmt.Sprintf("%d bytes", size))
	}
	return c.newBuffer(flags, 0, size, nil)
}

// NewBufferFrom creates a buffer with a copy of the data.
func (c *Context) NewBufferFrom(flags MemFlags, data []byte) (*Buffer, error) {
	if len(data) == 0 {
		return nil, refuse(api.clCreateBuffer.name, InvalidBufferSize, "no data")
	}
	return c.newBuffer(flags, copyHostPtr, len(data), data)
}

func (c *Context) newBuffer(flags, more MemFlags, size int, data []byte) (*Buffer, error) {
	f := &api.clCreateBuffer
	if err := flags.check(f); err != nil {
		return nil, err
	}
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	id, err := f.create(c.id, uintptr(flags|more), uintptr(size), uintptr(bytesOf(data)))
	if err != nil {
		return nil, about(err, fmt.Sprintf("%d bytes", size))
	}
	b := &Buffer{size: size}
	b.own(bufferKind, id)
	return b, nil
}

// Sub creates a buffer that shares size bytes of b, starting at offset. If flags is 0, the flags
// of b apply. The error is MisalignedSubBufferOffset unless the offset is a multiple of
// DeviceInfo.BaseAddressAlign (bits) of a device of the context.
func (b *Buffer) Sub(flags MemFlags, offset, size int) (*Buffer, error) {
	f := &api.clCreateSubBuffer
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
	id, err := f.create(b.id, uintptr(flags), bufferCreateTypeRegion,
		uintptr(unsafe.Pointer(&region)))
	if err != nil {
		return nil, about(err, fmt.Sprintf("%d bytes from %d", size, offset))
	}
	part := &Buffer{size: size}
	part.own(bufferKind, id)
	return part, nil
}

// Size returns the size in bytes.
func (b *Buffer) Size() int { return b.size }

// Release releases the buffer; commands that use it still run. Further calls, and calls on nil,
// do nothing.
func (b *Buffer) Release() { b.handle().drop() }

// within returns an error for a range that is empty or not inside the buffer.
func (b *Buffer) within(f *function, offset, size int) error {
	if offset < 0 || size <= 0 || offset > b.size || size > b.size-offset {
		return refuse(f.name, InvalidValue,
			fmt.Sprintf("%d bytes from %d of a buffer of %d bytes", size, offset, b.size))
	}
	return nil
}

// handle returns the object, or nil for nil.
func (b *Buffer) handle() *object {
	if b == nil {
		return nil
	}
	return &b.object
}

func (b *Buffer) use(f *function) error { return b.handle().use(f, bufferKind) }

// Write copies data into the buffer, starting at offset (bytes). It returns when data may be
// changed again.
func (q *Queue) Write(b *Buffer, offset int, data []byte, wait ...*Event) error {
	return q.transferNow(&api.clEnqueueWriteBuffer, b, offset, data, wait)
}

// Read fills data with the bytes of the buffer, starting at offset. It returns when data is
// complete.
func (q *Queue) Read(b *Buffer, offset int, data []byte, wait ...*Event) error {
	return q.transferNow(&api.clEnqueueReadBuffer, b, offset, data, wait)
}

// EnqueueWrite is like Write, but does not wait. Data must not be changed until the event has
// ended. Until then a goroutine keeps data pinned; it waits for the event, which also flushes
// the queue.
func (q *Queue) EnqueueWrite(b *Buffer, offset int, data []byte, wait ...*Event) (*Event, error) {
	return q.transferLater(&api.clEnqueueWriteBuffer, b, offset, data, wait)
}

// EnqueueRead is like Read, but does not wait. Data must not be read or changed until the event
// has ended. Until then a goroutine keeps data pinned; it waits for the event, which also
// flushes the queue.
func (q *Queue) EnqueueRead(b *Buffer, offset int, data []byte, wait ...*Event) (*Event, error) {
	return q.transferLater(&api.clEnqueueReadBuffer, b, offset, data, wait)
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
	return q.enqueue(f, wait, func(c *command) error {
		if err := b.within(f, offset, len(data)); err != nil {
			return err
		}
		return c.run(q.id, b.id, block, uintptr(offset), uintptr(len(data)), uintptr(bytesOf(data)))
	}, b)
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
	if api.clWaitForEvents.run(1, uintptr(e.address())) == nil {
		return true
	}
	status, err := e.status()
	return err == nil && status <= 0
}

// EnqueueFill fills size bytes of the buffer, starting at offset, with a repeated pattern
// (OpenCL 1.2). The length of the pattern must be 1, 2, 4, …, 128 bytes; offset and size must
// be multiples of it.
func (q *Queue) EnqueueFill(b *Buffer, pattern []byte, offset, size int, wait ...*Event) (*Event, error) {
	f := &api.clEnqueueFillBuffer
	return q.enqueue(f, wait, func(c *command) error {
		if n := len(pattern); n == 0 || n > 128 || n&(n-1) != 0 || offset%n != 0 || size%n != 0 {
			return refuse(f.name, InvalidValue, fmt.Sprintf("a pattern of %d bytes over %d bytes from %d", n, size, offset))
		}
		if err := b.within(f, offset, size); err != nil {
			return err
		}
		return c.run(q.id, b.id, uintptr(bytesOf(pattern)), uintptr(len(pattern)), uintptr(offset), uintptr(size))
	}, b)
}

// EnqueueCopy copies size bytes from one buffer to another, or within one buffer if the ranges
// do not overlap. Offsets are in bytes.
func (q *Queue) EnqueueCopy(src, dst *Buffer, srcOffset, dstOffset, size int, wait ...*Event) (*Event, error) {
	f := &api.clEnqueueCopyBuffer
	return q.enqueue(f, wait, func(c *command) error {
		if err := src.within(f, srcOffset, size); err != nil {
			return about(err, "source")
		}
		if err := dst.within(f, dstOffset, size); err != nil {
			return about(err, "destination")
		}
		return c.run(q.id, src.id, dst.id, uintptr(srcOffset), uintptr(dstOffset), uintptr(size))
	}, src, dst)
}

// Rect is the place of a box of bytes in linear memory. Origin is x (bytes), y (rows), z
// (slices). The pitches are the distances of rows and of slices in bytes. A RowPitch of 0
// means the width of the box, a SlicePitch of 0 its height times the row pitch.
type Rect struct {
	Origin     [3]int
	RowPitch   int
	SlicePitch int
}

// EnqueueReadRect copies a box of the size region (x bytes, y rows, z slices) from a place in
// the buffer to a place in data, without waiting. For data, see EnqueueRead.
func (q *Queue) EnqueueReadRect(b *Buffer, at Rect, region [3]int, data []byte, to Rect, wait ...*Event) (*Event, error) {
	return q.transferRect(&api.clEnqueueReadBufferRect, b, at, region, data, to, wait)
}

// EnqueueWriteRect copies a box of the size region (x bytes, y rows, z slices) from a place in
// data to a place in the buffer, without waiting. For data, see EnqueueWrite.
func (q *Queue) EnqueueWriteRect(b *Buffer, at Rect, region [3]int, data []byte, from Rect, wait ...*Event) (*Event, error) {
	return q.transferRect(&api.clEnqueueWriteBufferRect, b, at, region, data, from, wait)
}

func (q *Queue) transferRect(f *function, b *Buffer, at Rect, region [3]int, data []byte, host Rect, wait []*Event) (*Event, error) {
	return q.pinned(data, func(block uintptr) (*Event, error) {
		return q.enqueue(f, wait, func(c *command) error {
			if err := cmp.Or(at.within(f, "the buffer", region, b.size), host.within(f, "data", region, len(data))); err != nil {
				return err
			}
			return c.run(q.id, b.id, block,
				uintptr(triple(at.Origin)), uintptr(triple(host.Origin)), uintptr(triple(region)),
				uintptr(at.RowPitch), uintptr(at.SlicePitch), uintptr(host.RowPitch), uintptr(host.SlicePitch),
				uintptr(bytesOf(data)))
		}, b)
	})
}

// EnqueueCopyRect copies a box of the size region (x bytes, y rows, z slices) from a place in
// one buffer to a place in another, or in the same buffer if the boxes do not overlap.
func (q *Queue) EnqueueCopyRect(src, dst *Buffer, from, to Rect, region [3]int, wait ...*Event) (*Event, error) {
	f := &api.clEnqueueCopyBufferRect
	return q.enqueue(f, wait, func(c *command) error {
		if err := cmp.Or(from.within(f, "the source", region, src.size), to.within(f, "the destination", region, dst.size)); err != nil {
			return err
		}
		return c.run(q.id, src.id, dst.id,
			uintptr(triple(from.Origin)), uintptr(triple(to.Origin)), uintptr(triple(region)),
			uintptr(from.RowPitch), uintptr(from.SlicePitch), uintptr(to.RowPitch), uintptr(to.SlicePitch))
	}, src, dst)
}

// within returns an error if the box is not inside size bytes.
func (r Rect) within(f *function, where string, region [3]int, size int) error {
	end, ok := r.end(region)
	if !ok || end > uint64(size) {
		return refuse(f.name, InvalidValue,
			fmt.Sprintf("a box of %v at %+v is not inside %s of %d bytes", region, r, where, size))
	}
	return nil
}

// end returns the offset of the first byte after the box, or false if the box is invalid.
func (r Rect) end(region [3]int) (uint64, bool) {
	for i := range 3 {
		if region[i] <= 0 || r.Origin[i] < 0 {
			return 0, false
		}
	}
	if r.RowPitch < 0 || r.SlicePitch < 0 {
		return 0, false
	}
	ok := true
	row := uint64(region[0])
	if r.RowPitch != 0 {
		ok = uint64(r.RowPitch) >= row
		row = uint64(r.RowPitch)
	}
	slice := mulAdd(row, uint64(region[1]), 0, &ok)
	if r.SlicePitch != 0 {
		ok = ok && uint64(r.SlicePitch) >= slice
		slice = uint64(r.SlicePitch)
	}
	end := mulAdd(slice, uint64(r.Origin[2])+uint64(region[2])-1, 0, &ok)
	end = mulAdd(row, uint64(r.Origin[1])+uint64(region[1])-1, end, &ok)
	end = mulAdd(1, uint64(r.Origin[0])+uint64(region[0]), end, &ok)
	return end, ok
}

// mulAdd returns a*b + c, and sets ok to false if that overflows.
func mulAdd(a, b, c uint64, ok *bool) uint64 {
	high, low := bits.Mul64(a, b)
	sum, carry := bits.Add64(low, c, 0)
	if high != 0 || carry != 0 {
		*ok = false
	}
	return sum
}
