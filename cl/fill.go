package cl

import "fmt"

// EnqueueFill repeats a pattern over size bytes of the buffer from offset on. The pattern is
// 1, 2, 4, … 128 bytes long, and offset and size are multiples of its length (OpenCL 1.2).
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

// EnqueueCopy copies size bytes from one buffer to another, or within one where the ranges
// do not overlap.
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
