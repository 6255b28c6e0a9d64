package cl

import (
	"cmp"
	"fmt"
	"unsafe"
)

// The methods below work on a box of an image, given by its origin and its size, region, both in
// pixels (x, y, z). z is the slice of a 3D image or the index in an array of 2D images; y is the
// index in an array of 1D images. In dimensions that the image does not have, origin is 0 and
// region is 1.

// ReadImage copies a box of the image into data, and returns when data is complete. The pitches
// are the distances of rows and slices in data, in bytes; 0 means tightly packed.
func (q *Queue) ReadImage(i *Image, origin, region [3]int, data []byte, rowPitch, slicePitch int, wait ...*Event) error {
	e, err := q.transferImage(&api.clEnqueueReadImage, i, blocking, origin, region, data, rowPitch, slicePitch, wait)
	e.Release()
	return err
}

// WriteImage copies data into a box of the image, and returns when data may be changed again.
// For the pitches, see ReadImage.
func (q *Queue) WriteImage(i *Image, origin, region [3]int, data []byte, rowPitch, slicePitch int, wait ...*Event) error {
	e, err := q.transferImage(&api.clEnqueueWriteImage, i, blocking, origin, region, data, rowPitch, slicePitch, wait)
	e.Release()
	return err
}

// EnqueueReadImage is like ReadImage, but does not wait. For data, see EnqueueRead.
func (q *Queue) EnqueueReadImage(i *Image, origin, region [3]int, data []byte, rowPitch, slicePitch int, wait ...*Event) (*Event, error) {
	return q.pinned(data, func(block uintptr) (*Event, error) {
		return q.transferImage(&api.clEnqueueReadImage, i, block, origin, region, data, rowPitch, slicePitch, wait)
	})
}

// EnqueueWriteImage is like WriteImage, but does not wait. For data, see EnqueueWrite.
func (q *Queue) EnqueueWriteImage(i *Image, origin, region [3]int, data []byte, rowPitch, slicePitch int, wait ...*Event) (*Event, error) {
	return q.pinned(data, func(block uintptr) (*Event, error) {
		return q.transferImage(&api.clEnqueueWriteImage, i, block, origin, region, data, rowPitch, slicePitch, wait)
	})
}

func (q *Queue) transferImage(f *function, i *Image, block uintptr, origin, region [3]int, data []byte,
	rowPitch, slicePitch int, wait []*Event) (*Event, error) {

	return q.enqueue(f, wait, func(c *command) error {
		if err := cmp.Or(i.box(f, origin, region), i.host(f, region, data, rowPitch, slicePitch)); err != nil {
			return err
		}
		return c.run(q.id, i.id, block, uintptr(triple(origin)), uintptr(triple(region)),
			uintptr(rowPitch), uintptr(slicePitch), uintptr(bytesOf(data)))
	}, i)
}

// MapImage maps a box of the image, and returns when it is accessible. The Mapping holds the
// distances of rows and slices.
func (q *Queue) MapImage(i *Image, flags MapFlags, origin, region [3]int, wait ...*Event) (*Mapping, error) {
	f := &api.clEnqueueMapImage
	c, err := q.begin(f, wait, i)
	if err != nil {
		return nil, err
	}
	defer c.end()
	if err := i.box(f, origin, region); err != nil {
		return nil, err
	}
	var rowPitch, slicePitch uintptr
	addr, err := f.create(q.id, i.id, blocking, uintptr(flags), uintptr(triple(origin)), uintptr(triple(region)),
		uintptr(unsafe.Pointer(&rowPitch)), uintptr(unsafe.Pointer(&slicePitch)),
		c.waitCount(), uintptr(c.waitList()), uintptr(c.slot()))
	if err != nil {
		return nil, err
	}
	c.event().Release()
	place := Rect{RowPitch: int(rowPitch), SlicePitch: int(slicePitch)}
	size, _ := place.end(i.bytes(region))
	m := q.mapping(i, i.id, addr, int(size))
	m.RowPitch, m.SlicePitch = place.RowPitch, place.SlicePitch
	return m, nil
}

// EnqueueCopyImage copies a box from one image to another of the same format.
func (q *Queue) EnqueueCopyImage(src, dst *Image, srcOrigin, dstOrigin, region [3]int, wait ...*Event) (*Event, error) {
	f := &api.clEnqueueCopyImage
	return q.enqueue(f, wait, func(c *command) error {
		if err := cmp.Or(src.box(f, srcOrigin, region), dst.box(f, dstOrigin, region)); err != nil {
			return err
		}
		return c.run(q.id, src.id, dst.id, uintptr(triple(srcOrigin)), uintptr(triple(dstOrigin)), uintptr(triple(region)))
	}, src, dst)
}

// EnqueueFillImage sets all pixels of a box to a color (OpenCL 1.2): a Float4 for formats that
// kernels read as floats, an Int4 for signed and a UInt4 for unsigned integers.
func (q *Queue) EnqueueFillImage(i *Image, color any, origin, region [3]int, wait ...*Event) (*Event, error) {
	f := &api.clEnqueueFillImage
	return q.enqueue(f, wait, func(c *command) error {
		if err := i.box(f, origin, region); err != nil {
			return err
		}
		var value []byte
		switch color := color.(type) {
		case Float4:
			value = Bytes(color[:])
		case Int4:
			value = Bytes(color[:])
		case UInt4:
			value = Bytes(color[:])
		default:
			return refuse(f.name, InvalidValue, fmt.Sprintf("a color is a Float4, an Int4 or a UInt4, not %T", color))
		}
		return c.run(q.id, i.id, uintptr(bytesOf(value)), uintptr(triple(origin)), uintptr(triple(region)))
	}, i)
}

// EnqueueCopyImageToBuffer copies a box of an image to a buffer, tightly packed, starting at
// offset (bytes).
func (q *Queue) EnqueueCopyImageToBuffer(src *Image, dst *Buffer, origin, region [3]int, offset int, wait ...*Event) (*Event, error) {
	f := &api.clEnqueueCopyImageToBuffer
	return q.enqueue(f, wait, func(c *command) error {
		if err := src.packed(f, origin, region, dst, offset); err != nil {
			return err
		}
		return c.run(q.id, src.id, dst.id, uintptr(triple(origin)), uintptr(triple(region)), uintptr(offset))
	}, src, dst)
}

// EnqueueCopyBufferToImage copies tightly packed pixels of a buffer, starting at offset (bytes),
// to a box of an image.
func (q *Queue) EnqueueCopyBufferToImage(src *Buffer, dst *Image, offset int, origin, region [3]int, wait ...*Event) (*Event, error) {
	f := &api.clEnqueueCopyBufferToImage
	return q.enqueue(f, wait, func(c *command) error {
		if err := dst.packed(f, origin, region, src, offset); err != nil {
			return err
		}
		return c.run(q.id, src.id, dst.id, uintptr(offset), uintptr(triple(origin)), uintptr(triple(region)))
	}, src, dst)
}

// packed returns an error for a box that is not inside the image, or whose tightly packed pixels
// are not inside the buffer.
func (i *Image) packed(f *function, origin, region [3]int, b *Buffer, offset int) error {
	return cmp.Or(i.box(f, origin, region), Rect{Origin: [3]int{offset}}.within(f, "the buffer", i.bytes(region), b.size))
}

// bytes returns a region in bytes, rows and slices.
func (i *Image) bytes(region [3]int) [3]int {
	region[0] *= i.pixel
	if i.desc.Type == Image1DArray {
		region[1], region[2] = 1, region[1]
	}
	return region
}

// box returns an error for a box that is not inside the image.
func (i *Image) box(f *function, origin, region [3]int) error {
	size := i.desc.region(1)
	if i.desc.Type == Image1DArray {
		size[1], size[2] = size[2], 1
	}
	for n := range 3 {
		if origin[n] < 0 || region[n] <= 0 || origin[n] > size[n] || region[n] > size[n]-origin[n] {
			return refuse(f.name, InvalidValue, fmt.Sprintf("a box of %v from %v of an image of %v pixels", region, origin, size))
		}
	}
	return nil
}

// host returns an error if data is too short for a region with the given pitches.
func (i *Image) host(f *function, region [3]int, data []byte, rowPitch, slicePitch int) error {
	if i.pixel == 0 {
		return refuse(f.name, InvalidValue, "the driver does not tell the size of a pixel")
	}
	place := ImageDesc{Type: i.desc.Type, RowPitch: rowPitch, SlicePitch: slicePitch}.layout()
	return place.within(f, "data", i.bytes(region), len(data))
}
