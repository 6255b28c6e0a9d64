package cl

import (
	"sync/atomic"
	"unsafe"
)

// MapFlags is the way in which the host uses mapped memory.
type MapFlags uint64

// The uses of mapped memory.
const (
	MapRead       MapFlags = 1 << 0
	MapWrite      MapFlags = 1 << 1
	MapInvalidate MapFlags = 1 << 2 // write, discarding the content (OpenCL 1.2)
)

// Mapping is memory of a buffer or an image that the host can access. Unmap must be called;
// until then the mapping keeps the buffer or image and the queue alive. After Unmap, neither
// Bytes nor any slice of it may be used.
type Mapping struct {
	Bytes      []byte
	RowPitch   int // bytes from row to row, of an image
	SlicePitch int // bytes from slice to slice, of a 3D image or an array

	queue    *Queue
	memory   memory
	memoryID uintptr
	addr     uintptr
	unmapped atomic.Bool
}

// Map maps size bytes of the buffer, starting at offset. It returns when they are accessible.
func (q *Queue) Map(b *Buffer, flags MapFlags, offset, size int, wait ...*Event) (*Mapping, error) {
	m, e, err := q.mapBuffer(b, blocking, flags, offset, size, wait)
	e.Release()
	return m, err
}

// EnqueueMap is like Map, but does not wait. Bytes must not be used before the event has ended.
func (q *Queue) EnqueueMap(b *Buffer, flags MapFlags, offset, size int, wait ...*Event) (*Mapping, *Event, error) {
	return q.mapBuffer(b, nonBlocking, flags, offset, size, wait)
}

func (q *Queue) mapBuffer(b *Buffer, block uintptr, flags MapFlags, offset, size int, wait []*Event) (*Mapping, *Event, error) {
	f := &api.clEnqueueMapBuffer
	c, err := q.begin(f, wait, b)
	if err != nil {
		return nil, nil, err
	}
	defer c.end()
	if err := b.within(f, offset, size); err != nil {
		return nil, nil, err
	}
	addr, err := f.create(q.id, b.id, block, uintptr(flags), uintptr(offset), uintptr(size),
		c.waitCount(), uintptr(c.waitList()), uintptr(c.slot()))
	if err != nil {
		return nil, nil, err
	}
	return q.mapping(b, b.id, addr, size), c.event(), nil
}

// mapping returns a mapping that keeps the queue and the memory alive. The caller must be using
// both.
func (q *Queue) mapping(m memory, id, addr uintptr, size int) *Mapping {
	q.keep()
	m.keep()
	return &Mapping{Bytes: foreign(addr, size), queue: q, memory: m, memoryID: id, addr: addr}
}

// foreign returns memory that the library owns as a slice. The conversion through a pointer is
// for vet, which would report that of an address; Go does not move this memory.
func foreign(addr uintptr, size int) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), size)
}

// Unmap returns the memory to the device and waits until the device sees what was written.
// Further calls, and calls on nil, do nothing.
func (m *Mapping) Unmap(wait ...*Event) error {
	e, err := m.EnqueueUnmap(wait...)
	if e == nil || err != nil {
		return err
	}
	defer e.Release()
	return e.Wait()
}

// EnqueueUnmap is like Unmap, but does not wait. The event is nil if the memory was unmapped
// before.
func (m *Mapping) EnqueueUnmap(wait ...*Event) (*Event, error) {
	if m == nil || m.queue == nil || !m.unmapped.CompareAndSwap(false, true) {
		return nil, nil
	}
	f := &api.clEnqueueUnmapMemObject
	e, err := m.enqueueUnmap(f, wait)
	if err != nil {
		m.unmapped.Store(false)
		return nil, err
	}
	m.Bytes = nil
	m.memory.leave()
	m.queue.leave()
	return e, nil
}

// enqueueUnmap does not use begin, which would fail if the queue was released after Map.
func (m *Mapping) enqueueUnmap(f *function, wait []*Event) (*Event, error) {
	c := &command{function: f, queue: m.queue, made: new(Event)}
	m.queue.keep()
	defer c.end()
	if err := c.hold(wait, nil); err != nil {
		return nil, err
	}
	if err := c.run(m.queue.id, m.memoryID, m.addr); err != nil {
		return nil, err
	}
	return c.event(), nil
}
