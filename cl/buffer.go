package cl

import (
	"fmt"
	"unsafe"
)

// MemFlags says how kernels and the host use a buffer or an image.
type MemFlags uint64

// The uses of memory. The first three are the kernels', of which 0 means ReadWrite; the Host
// flags are promises to the driver (OpenCL 1.2).
const (
	ReadWrite     MemFlags = 1 << 0
	WriteOnly     MemFlags = 1 << 1
	ReadOnly      MemFlags = 1 << 2
	AllocHostPtr  MemFlags = 1 << 4 // where the host can reach it, for mapping
	HostWriteOnly MemFlags = 1 << 7
	HostReadOnly  MemFlags = 1 << 8
	HostNoAccess  MemFlags = 1 << 9

	useHostPtr  MemFlags = 1 << 3
	copyHostPtr MemFlags = 1 << 5
)

// check refuses the flags that this package handles itself, or not at all: OpenCL would keep
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

// Buffer is linear memory of a context. It is safe for concurrent use as far as the host is
// concerned; what commands do with its bytes is ordered by queues and wait lists.
type Buffer struct {
	object
	context *Context
	size    int
}

// NewBuffer makes a buffer of size bytes, whose content is undefined.
func (c *Context) NewBuffer(flags MemFlags, size int) (*Buffer, error) {
	if size <= 0 {
		return nil, refuse(clCreateBuffer.name, InvalidBufferSize, fmt.Sprintf("%d bytes", size))
	}
	return c.newBuffer(flags, 0, size, nil)
}

// NewBufferFrom makes a buffer that holds a copy of the data.
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

// Sub makes a buffer that is a part of this one: size bytes from offset on. Flags of 0 are
// those of the whole. The offset must be a multiple of DeviceInfo.BaseAddressAlign (bits) of
// a device of the context, or the error is MisalignedSubBufferOffset.
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

// Release gives the buffer up; commands that use it still run. It does nothing when called
// again, or on nil.
func (b *Buffer) Release() {
	if b != nil {
		b.drop()
	}
}

// within refuses a range that is empty or not inside the buffer.
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
