package cl

import (
	"cmp"
	"fmt"
	"unsafe"
)

// ImageDesc is the shape and size of an image. Height applies to 2D and 3D images, Depth to 3D
// images, ArraySize to arrays.
type ImageDesc struct {
	Type                 ImageType
	Width, Height, Depth int // pixels
	ArraySize            int // number of images

	Buffer *Buffer // holds the pixels of an Image1DBuffer, and must live as long
}

// Image is an image of 1 to 3 dimensions, or an array of images. Its methods are safe for
// concurrent use. Queues and wait lists order the commands that access its pixels.
type Image struct {
	object
	desc  ImageDesc
	pixel int // bytes
}

// imageDesc is cl_image_desc.
type imageDesc struct {
	kind                         uint32
	width, height, depth, layers uintptr
	rowPitch, slicePitch         uintptr
	mipLevels, samples           uint32
	buffer                       uintptr
}

// NewImage creates an image of any shape, with undefined pixels (OpenCL 1.2).
func (c *Context) NewImage(flags MemFlags, format ImageFormat, desc ImageDesc) (*Image, error) {
	f := &api(c).clCreateImage
	if err := flags.check(f); err != nil {
		return nil, err
	}
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	if err := f.on(c.version); err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%s, %+v", format, desc)
	if err := desc.check(f); err != nil {
		return nil, about(err, what)
	}
	d := &imageDesc{
		kind:   uint32(desc.Type),
		width:  uintptr(desc.Width),
		height: uintptr(desc.Height),
		depth:  uintptr(desc.Depth),
		layers: uintptr(desc.ArraySize),
	}
	if desc.Buffer != nil {
		if err := desc.Buffer.use(f); err != nil {
			return nil, err
		}
		defer desc.Buffer.leave()
		d.buffer = desc.Buffer.id
	}
	id, err := f.create(c.id, uintptr(flags), uintptr(unsafe.Pointer(&format)), uintptr(unsafe.Pointer(d)), 0)
	if err != nil {
		return nil, about(err, what)
	}
	const imageElementSize = 0x1111
	i := &Image{desc: desc, pixel: int(queryOf(&c.api.clGetImageInfo, id).uint(imageElementSize))}
	i.own(imageKind, id, c.api)
	return i, nil
}

// Release releases the image; commands that use it still run. Further calls, and calls on nil,
// do nothing.
func (i *Image) Release() { handle(i).drop() }

func (i *Image) use(f *function) error { return handle(i).use(f, imageKind) }

// check returns an error for negative sizes, and for a buffer of an image that cannot have one.
func (d ImageDesc) check(f *function) error {
	for _, n := range []int{d.Width, d.Height, d.Depth, d.ArraySize} {
		if n < 0 {
			return refuse(f.name, InvalidImageSize, "negative size")
		}
	}
	if (d.Type == Image1DBuffer) != (d.Buffer != nil) {
		return refuse(f.name, InvalidImageDescriptor, "a buffer belongs to an Image1DBuffer, and to no other image")
	}
	return nil
}

// size returns the pixels in each dimension, in which the images of an array are the last one.
func (d ImageDesc) size() [3]int {
	switch d.Type {
	case Image2D:
		return [3]int{d.Width, d.Height, 1}
	case Image3D:
		return [3]int{d.Width, d.Height, d.Depth}
	case Image2DArray:
		return [3]int{d.Width, d.Height, d.ArraySize}
	case Image1DArray:
		return [3]int{d.Width, d.ArraySize, 1}
	}
	return [3]int{d.Width, 1, 1}
}

// ImageFormat is the format of a pixel.
type ImageFormat struct {
	Order ChannelOrder
	Type  ChannelType
}

// String returns the format in the form "RGBA UNORM_INT8".
func (f ImageFormat) String() string { return fmt.Sprintf("%s %s", f.Order, f.Type) }

// ChannelOrder is the order of the channels of a pixel.
type ChannelOrder uint32

// The orders of channels.
const (
	ChannelR ChannelOrder = 0x10B0 + iota
	ChannelA
	ChannelRG
	ChannelRA
	ChannelRGB
	ChannelRGBA
	ChannelBGRA
	ChannelARGB
	ChannelIntensity
	ChannelLuminance
	ChannelRx
	ChannelRGx
	ChannelRGBx
	ChannelDepth
	ChannelDepthStencil
	ChannelSRGB
	ChannelSRGBx
	ChannelSRGBA
	ChannelSBGRA
	ChannelABGR
)

// String returns the name without its prefix CL_.
func (o ChannelOrder) String() string {
	return nameOf(uint32(o), uint32(ChannelR), "R", "A", "RG", "RA", "RGB", "RGBA", "BGRA", "ARGB", "INTENSITY",
		"LUMINANCE", "Rx", "RGx", "RGBx", "DEPTH", "DEPTH_STENCIL", "sRGB", "sRGBx", "sRGBA", "sBGRA", "ABGR")
}

// ChannelType is the type of each channel.
type ChannelType uint32

// The types of channels.
const (
	SNormInt8 ChannelType = 0x10D0 + iota
	SNormInt16
	UNormInt8
	UNormInt16
	UNormShort565
	UNormShort555
	UNormInt101010
	SignedInt8
	SignedInt16
	SignedInt32
	UnsignedInt8
	UnsignedInt16
	UnsignedInt32
	HalfFloat
	SingleFloat // CL_FLOAT
)

// String returns the name without its prefix CL_.
func (t ChannelType) String() string {
	return nameOf(uint32(t), uint32(SNormInt8), "SNORM_INT8", "SNORM_INT16", "UNORM_INT8", "UNORM_INT16",
		"UNORM_SHORT_565", "UNORM_SHORT_555", "UNORM_INT_101010", "SIGNED_INT8", "SIGNED_INT16", "SIGNED_INT32",
		"UNSIGNED_INT8", "UNSIGNED_INT16", "UNSIGNED_INT32", "HALF_FLOAT", "FLOAT")
}

// ImageType is the shape of an image.
type ImageType uint32

// The shapes of images.
const (
	Image2D       ImageType = 0x10F1
	Image3D       ImageType = 0x10F2
	Image2DArray  ImageType = 0x10F3
	Image1D       ImageType = 0x10F4
	Image1DArray  ImageType = 0x10F5
	Image1DBuffer ImageType = 0x10F6
)

// SupportedImageFormats returns the formats that the context supports for images of a shape,
// used according to flags.
func (c *Context) SupportedImageFormats(flags MemFlags, t ImageType) ([]ImageFormat, error) {
	f := &api(c).clGetSupportedImageFormats
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	return list(func(room uintptr, all *ImageFormat, count *uint32) error {
		return f.run(c.id, uintptr(flags), uintptr(t), room, uintptr(unsafe.Pointer(all)), uintptr(unsafe.Pointer(count)))
	})
}

// Sampler is the way in which a kernel reads an image. It is safe for concurrent use.
type Sampler struct {
	object
}

// AddressingMode determines the color outside an image.
type AddressingMode uint32

// The modes of addressing.
const (
	AddressUndefined      AddressingMode = 0x1130 // CL_ADDRESS_NONE: the kernel never reads outside
	AddressClampToEdge    AddressingMode = 0x1131
	AddressClampToBorder  AddressingMode = 0x1132 // CL_ADDRESS_CLAMP
	AddressRepeat         AddressingMode = 0x1133
	AddressMirroredRepeat AddressingMode = 0x1134
)

// FilterMode determines the color between pixels.
type FilterMode uint32

// The modes of filtering.
const (
	FilterNearest FilterMode = 0x1140
	FilterLinear  FilterMode = 0x1141
)

// NewSampler creates a sampler. If normalized is true, coordinates are from 0 to 1, else in
// pixels.
func (c *Context) NewSampler(normalized bool, addressing AddressingMode, filter FilterMode) (*Sampler, error) {
	f := &api(c).clCreateSampler
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	var normal uintptr
	if normalized {
		normal = 1
	}
	id, err := f.create(c.id, normal, uintptr(addressing), uintptr(filter))
	if err != nil {
		return nil, err
	}
	s := new(Sampler)
	s.own(samplerKind, id, c.api)
	return s, nil
}

// Release releases the sampler. Further calls, and calls on nil, do nothing.
func (s *Sampler) Release() { handle(s).drop() }

// The methods below work on a box of an image, given by its origin and its size, region, both in
// pixels (x, y, z). z is the slice of a 3D image or the index in an array of 2D images; y is the
// index in an array of 1D images. In dimensions that the image does not have, origin is 0 and
// region is 1. In data and in buffers, the pixels of the box are tightly packed.

// ReadImage copies a box of the image into data, and returns when data is complete.
func (q *Queue) ReadImage(i *Image, origin, region [3]int, data []byte, wait ...*Event) error {
	return q.transferImage(&api(q).clEnqueueReadImage, i, origin, region, data, wait)
}

// WriteImage copies data into a box of the image, and returns when data may be changed again.
func (q *Queue) WriteImage(i *Image, origin, region [3]int, data []byte, wait ...*Event) error {
	return q.transferImage(&api(q).clEnqueueWriteImage, i, origin, region, data, wait)
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
	f := &api(q).clEnqueueCopyBufferToImage
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
