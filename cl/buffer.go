package cl

import (
	"fmt"
	"unsafe"
)

// MemFlags is the way in which kernels and the host use a buffer or an image.
type MemFlags uint64

// The uses of memory by kernels. Without any of them, ReadWrite applies.
const (
	ReadWrite MemFlags = 1 << 0
	WriteOnly MemFlags = 1 << 1
	ReadOnly  MemFlags = 1 << 2

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

// Buffer is linear memory of a context. Its methods are safe for concurrent use. Queues and
// wait lists order the commands that access its bytes.
type Buffer struct {
	object
	size int
}

// NewBuffer creates a buffer of size bytes with undefined content.
func (c *Context) NewBuffer(flags MemFlags, size int) (*Buffer, error) {
	if size <= 0 {
		return nil, refuse("clCreateBuffer", InvalidBufferSize, fmt.Sprintf("%d bytes", size))
	}
	return c.newBuffer(flags, 0, size, nil)
}

// NewBufferFrom creates a buffer with a copy of the data.
func (c *Context) NewBufferFrom(flags MemFlags, data []byte) (*Buffer, error) {
	if len(data) == 0 {
		return nil, refuse("clCreateBuffer", InvalidBufferSize, "no data")
	}
	return c.newBuffer(flags, copyHostPtr, len(data), data)
}

func (c *Context) newBuffer(flags, more MemFlags, size int, data []byte) (*Buffer, error) {
	f := &api(c).clCreateBuffer
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
	b.own(bufferKind, id, c.api)
	return b, nil
}

// Sub creates a buffer that shares size bytes of b, starting at offset. If flags is 0, the flags
// of b apply. The error is MisalignedSubBufferOffset unless the offset is a multiple of
// DeviceInfo.BaseAddressAlign (bits) of a device of the context.
func (b *Buffer) Sub(flags MemFlags, offset, size int) (*Buffer, error) {
	f := &api(b).clCreateSubBuffer
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
	part.own(bufferKind, id, b.api)
	return part, nil
}

// OpenShared makes a buffer of memory of another process, as cuIpcGetMemHandle has handed it out: size bytes from an offset on. The memory
// stays that of the other process, which frees it after Release. Only CUDA has such memory.
func (c *Context) OpenShared(handle [64]byte, offset, size int) (*Buffer, error) {
	f := &api(c).openShared
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	id, err := f.create(c.id, uintptr(unsafe.Pointer(&handle)), uintptr(offset), uintptr(size))
	if err != nil {
		return nil, err
	}
	b := &Buffer{size: size}
	b.own(bufferKind, id, c.api)
	return b, nil
}

// Size returns the size in bytes.
func (b *Buffer) Size() int { return b.size }

// Release releases the buffer; commands that use it still run. Further calls, and calls on nil,
// do nothing.
func (b *Buffer) Release() { handle(b).drop() }

// within returns an error for a range that is empty or not inside the buffer.
func (b *Buffer) within(f *function, offset, size int) error {
	if offset < 0 || size <= 0 || offset > b.size || size > b.size-offset {
		return refuse(f.name, InvalidValue,
			fmt.Sprintf("%d bytes from %d of a buffer of %d bytes", size, offset, b.size))
	}
	return nil
}

func (b *Buffer) use(f *function) error { return handle(b).use(f, bufferKind) }

// Write copies data into the buffer, starting at offset (bytes). It returns when data may be
// changed again.
func (q *Queue) Write(b *Buffer, offset int, data []byte, wait ...*Event) error {
	return q.transfer(&api(q).clEnqueueWriteBuffer, b, offset, data, wait)
}

// Read fills data with the bytes of the buffer, starting at offset. It returns when data is
// complete.
func (q *Queue) Read(b *Buffer, offset int, data []byte, wait ...*Event) error {
	return q.transfer(&api(q).clEnqueueReadBuffer, b, offset, data, wait)
}

// blocking is the argument of a transfer that returns when it is done.
const blocking = 1

func (q *Queue) transfer(f *function, b *Buffer, offset int, data []byte, wait []*Event) error {
	e, err := q.enqueue(f, wait, func(c *command) error {
		if err := b.within(f, offset, len(data)); err != nil {
			return err
		}
		return c.run(q.id, b.id, blocking, uintptr(offset), uintptr(len(data)), uintptr(bytesOf(data)))
	}, b)
	e.Release()
	return err
}

// EnqueueCopy copies size bytes from one buffer to another, or within one buffer if the ranges
// do not overlap. Offsets are in bytes.
func (q *Queue) EnqueueCopy(src, dst *Buffer, srcOffset, dstOffset, size int, wait ...*Event) (*Event, error) {
	f := &api(q).clEnqueueCopyBuffer
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
