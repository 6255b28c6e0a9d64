package cl

import (
	"fmt"
	"math/bits"
)

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
	return q.transferRect(clEnqueueReadBufferRect, b, at, region, data, to, wait)
}

// EnqueueWriteRect copies a box of the size region (x bytes, y rows, z slices) from a place in
// data to a place in the buffer, without waiting. For data, see EnqueueWrite.
func (q *Queue) EnqueueWriteRect(b *Buffer, at Rect, region [3]int, data []byte, from Rect, wait ...*Event) (*Event, error) {
	return q.transferRect(clEnqueueWriteBufferRect, b, at, region, data, from, wait)
}

func (q *Queue) transferRect(f *function, b *Buffer, at Rect, region [3]int, data []byte, host Rect, wait []*Event) (*Event, error) {
	return q.pinned(data, func(block uintptr) (*Event, error) {
		c, err := q.begin(f, wait, b)
		if err != nil {
			return nil, err
		}
		defer c.end()
		if err := at.within(f, "the buffer", region, b.size); err != nil {
			return nil, err
		}
		if err := host.within(f, "data", region, len(data)); err != nil {
			return nil, err
		}
		return c.event(f.run(q.id, b.id, block,
			uintptr(triple(at.Origin)), uintptr(triple(host.Origin)), uintptr(triple(region)),
			uintptr(at.RowPitch), uintptr(at.SlicePitch), uintptr(host.RowPitch), uintptr(host.SlicePitch),
			uintptr(bytesOf(data)), c.waitCount(), uintptr(c.waitList()), uintptr(c.slot())))
	})
}

// EnqueueCopyRect copies a box of the size region (x bytes, y rows, z slices) from a place in
// one buffer to a place in another, or in the same buffer if the boxes do not overlap.
func (q *Queue) EnqueueCopyRect(src, dst *Buffer, from, to Rect, region [3]int, wait ...*Event) (*Event, error) {
	f := clEnqueueCopyBufferRect
	c, err := q.begin(f, wait, src, dst)
	if err != nil {
		return nil, err
	}
	defer c.end()
	if err := from.within(f, "the source", region, src.size); err != nil {
		return nil, err
	}
	if err := to.within(f, "the destination", region, dst.size); err != nil {
		return nil, err
	}
	return c.event(f.run(q.id, src.id, dst.id,
		uintptr(triple(from.Origin)), uintptr(triple(to.Origin)), uintptr(triple(region)),
		uintptr(from.RowPitch), uintptr(from.SlicePitch), uintptr(to.RowPitch), uintptr(to.SlicePitch),
		c.waitCount(), uintptr(c.waitList()), uintptr(c.slot())))
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
