package cl

import (
	"cmp"
	"fmt"
)

// The methods below work on a box of an image, given by its origin and its size, region, both in
// pixels (x, y, z). z is the slice of a 3D image or the index in an array of 2D images; y is the
// index in an array of 1D images. In dimensions that the image does not have, origin is 0 and
// region is 1. In data and in buffers, the pixels of the box are tightly packed.

// ReadImage copies a box of the image into data, and returns when data is complete.
func (q *Queue) ReadImage(i *Image, origin, region [3]int, data []byte, wait ...*Event) error {
	return q.transferImage(&api.clEnqueueReadImage, i, origin, region, data, wait)
}

// WriteImage copies data into a box of the image, and returns when data may be changed again.
func (q *Queue) WriteImage(i *Image, origin, region [3]int, data []byte, wait ...*Event) error {
	return q.transferImage(&api.clEnqueueWriteImage, i, origin, region, data, wait)
}

func (q *Queue) transferImage(f *function, i *Image, origin, region [3]int, data []byte, wait []*Event) error {
	const tightly = 0 // the pitch of packed rows and slices
	e, err := q.enqueue(f, wait, func(c *command) error {
		if err := cmp.Or(i.box(f, origin, region), i.fits(f, region, "data", 0, len(data))); err != nil {
			return err
		}
		return c.run(q.id, i.id, blocking, uintptr(triple(origin)), uintptr(triple(region)), tightly, tightly, uintptr(bytesOf(data)))
	}, i)
	e.Release()
	return err
}

// EnqueueCopyBufferToImage copies the pixels of a buffer, starting at offset (bytes), to a box of an image.
func (q *Queue) EnqueueCopyBufferToImage(src *Buffer, dst *Image, offset int, origin, region [3]int, wait ...*Event) (*Event, error) {
	f := &api.clEnqueueCopyBufferToImage
	return q.enqueue(f, wait, func(c *command) error {
		if err := cmp.Or(dst.box(f, origin, region), dst.fits(f, region, "the buffer", offset, src.size)); err != nil {
			return err
		}
		return c.run(q.id, src.id, dst.id, uintptr(offset), uintptr(triple(origin)), uintptr(triple(region)))
	}, src, dst)
}

// box returns an error for a box that is not inside the image.
func (i *Image) box(f *function, origin, region [3]int) error {
	size := i.desc.size()
	for n := range 3 {
		if origin[n] < 0 || region[n] <= 0 || origin[n] > size[n] || region[n] > size[n]-origin[n] {
			return refuse(f.name, InvalidValue, fmt.Sprintf("a box of %v from %v of an image of %v pixels", region, origin, size))
		}
	}
	return nil
}

// fits returns an error if the pixels of a box inside the image do not fit into size bytes from offset on.
func (i *Image) fits(f *function, region [3]int, where string, offset, size int) error {
	if i.pixel == 0 {
		return refuse(f.name, InvalidValue, "the driver does not tell the size of a pixel")
	}
	bytes := i.pixel * region[0] * region[1] * region[2]
	if offset < 0 || bytes > size-offset {
		return refuse(f.name, InvalidValue, fmt.Sprintf("%d bytes from %d are not inside %s of %d bytes", bytes, offset, where, size))
	}
	return nil
}
