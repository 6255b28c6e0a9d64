package cl

import (
	"fmt"
	"image"
	"image/draw"
	"unsafe"
)

// ImageDesc is the shape and size of an image. Height applies to 2D and 3D images, Depth to 3D
// images, ArraySize to arrays. The pitches describe the initial data: they must be 0 without
// data, and 0 with data means tightly packed.
type ImageDesc struct {
	Type                 ImageType
	Width, Height, Depth int // pixels
	ArraySize            int // number of images
	RowPitch, SlicePitch int // bytes

	Buffer *Buffer // holds the pixels of an Image1DBuffer (OpenCL 1.2), and must live as long
}

// Image is an image of 1 to 3 dimensions, or an array of images. Its methods are safe for
// concurrent use. Queues and wait lists order the commands that access its pixels.
type Image struct {
	object
	desc   ImageDesc
	format ImageFormat
	pixel  int // bytes
}

// imageDesc is cl_image_desc.
type imageDesc struct {
	kind                         uint32
	width, height, depth, layers uintptr
	rowPitch, slicePitch         uintptr
	mipLevels, samples           uint32
	buffer                       uintptr
}

// NewImage2D creates an image of width × height pixels, with a copy of data unless that is nil.
// Rows are tightly packed in data.
func (c *Context) NewImage2D(flags MemFlags, format ImageFormat, width, height int, data []byte) (*Image, error) {
	return c.NewImage(flags, format, ImageDesc{Type: Image2D, Width: width, Height: height}, data)
}

// NewImage3D creates an image of width × height × depth pixels, with a copy of data unless that
// is nil. Rows and slices are tightly packed in data.
func (c *Context) NewImage3D(flags MemFlags, format ImageFormat, width, height, depth int, data []byte) (*Image, error) {
	return c.NewImage(flags, format, ImageDesc{Type: Image3D, Width: width, Height: height, Depth: depth}, data)
}

// NewImage creates an image of any shape, with a copy of data unless that is nil. The pitches of
// desc are those of data. OpenCL before 1.2 has only 2D and 3D images.
func (c *Context) NewImage(flags MemFlags, format ImageFormat, desc ImageDesc, data []byte) (*Image, error) {
	f := c.imageFunction(desc.Type)
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
	if err := desc.check(f, format, data); err != nil {
		return nil, about(err, what)
	}
	if data != nil {
		flags |= copyHostPtr
	}
	if (desc.Type == Image1DBuffer) != (desc.Buffer != nil) {
		return nil, about(refuse(f.name, InvalidImageDescriptor, "a buffer belongs to an Image1DBuffer, and to no other image"), what)
	}
	if desc.Buffer != nil {
		if err := desc.Buffer.use(f); err != nil {
			return nil, err
		}
		defer desc.Buffer.leave()
	}
	id, err := c.createImage(f, flags, &format, desc, data)
	if err != nil {
		return nil, about(err, what)
	}
	const imageElementSize = 0x1111
	i := &Image{desc: desc, format: format, pixel: int(queryOf(&api.clGetImageInfo, id).uint(imageElementSize))}
	i.own(imageKind, id)
	return i, nil
}

// imageFunction returns clCreateImage, or the function that OpenCL 1.1 has in its place.
func (c *Context) imageFunction(t ImageType) *function {
	if api.clCreateImage.addr != 0 && api.clCreateImage.on(c.version) == nil {
		return &api.clCreateImage
	}
	switch t {
	case Image2D:
		return &api.clCreateImage2D
	case Image3D:
		return &api.clCreateImage3D
	}
	return &api.clCreateImage
}

func (c *Context) createImage(f *function, flags MemFlags, format *ImageFormat, desc ImageDesc, data []byte) (uintptr, error) {
	switch f {
	case &api.clCreateImage2D:
		return f.create(c.id, uintptr(flags), uintptr(unsafe.Pointer(format)), uintptr(desc.Width), uintptr(desc.Height),
			uintptr(desc.RowPitch), uintptr(bytesOf(data)))
	case &api.clCreateImage3D:
		return f.create(c.id, uintptr(flags), uintptr(unsafe.Pointer(format)), uintptr(desc.Width), uintptr(desc.Height),
			uintptr(desc.Depth), uintptr(desc.RowPitch), uintptr(desc.SlicePitch), uintptr(bytesOf(data)))
	}
	d := &imageDesc{
		kind:       uint32(desc.Type),
		width:      uintptr(desc.Width),
		height:     uintptr(desc.Height),
		depth:      uintptr(desc.Depth),
		layers:     uintptr(desc.ArraySize),
		rowPitch:   uintptr(desc.RowPitch),
		slicePitch: uintptr(desc.SlicePitch),
	}
	if desc.Buffer != nil {
		d.buffer = desc.Buffer.id
	}
	return f.create(c.id, uintptr(flags), uintptr(unsafe.Pointer(format)), uintptr(unsafe.Pointer(d)),
		uintptr(bytesOf(data)))
}

// Format returns the format of the image's pixels.
func (i *Image) Format() ImageFormat { return i.format }

// Desc returns the shape and size of the image.
func (i *Image) Desc() ImageDesc { return i.desc }

// PixelSize returns the size of a pixel in bytes.
func (i *Image) PixelSize() int { return i.pixel }

// Release releases the image; commands that use it still run. Further calls, and calls on nil,
// do nothing.
func (i *Image) Release() { i.handle().drop() }

// handle returns the object, or nil for nil.
func (i *Image) handle() *object {
	if i == nil {
		return nil
	}
	return &i.object
}

func (i *Image) use(f *function) error { return i.handle().use(f, imageKind) }

// check returns an error for negative sizes, and for data that is shorter than the image.
func (d ImageDesc) check(f *function, format ImageFormat, data []byte) error {
	for _, n := range []int{d.Width, d.Height, d.Depth, d.ArraySize, d.RowPitch, d.SlicePitch} {
		if n < 0 {
			return refuse(f.name, InvalidImageSize, "negative size")
		}
	}
	if data == nil {
		return nil
	}
	pixel, ok := format.size()
	if !ok {
		return refuse(f.name, ImageFormatNotSupported, "the size of a pixel is not known: write the data after making the image")
	}
	return d.layout().within(f, "data", d.region(pixel), len(data))
}

// layout and region return the place of the whole image in linear memory.
func (d ImageDesc) layout() Rect {
	if d.Type == Image1DArray && d.SlicePitch == 0 {
		d.SlicePitch = d.RowPitch
	}
	return Rect{RowPitch: d.RowPitch, SlicePitch: d.SlicePitch}
}

func (d ImageDesc) region(pixel int) [3]int {
	region := [3]int{d.Width * pixel, 1, 1}
	switch d.Type {
	case Image2D:
		region[1] = d.Height
	case Image3D:
		region[1], region[2] = d.Height, d.Depth
	case Image2DArray:
		region[1], region[2] = d.Height, d.ArraySize
	case Image1DArray:
		region[2] = d.ArraySize
	}
	return region
}

// NewImageFrom creates a 2D image with a copy of a Go image. The format is R UNORM_INT8 for an
// *image.Gray, and RGBA UNORM_INT8 for all others. The pixels of an *image.NRGBA are copied
// unchanged, not multiplied by alpha; images of other types are converted to *image.RGBA.
func (c *Context) NewImageFrom(flags MemFlags, img image.Image) (*Image, error) {
	order, pixels, pitch := pixelsOf(img)
	desc := ImageDesc{Type: Image2D, Width: img.Bounds().Dx(), Height: img.Bounds().Dy(), RowPitch: pitch}
	return c.NewImage(flags, ImageFormat{order, UNormInt8}, desc, pixels)
}

// pixelsOf returns the pixels of an image as UNORM_INT8, and the distance of rows in bytes.
func pixelsOf(img image.Image) (order ChannelOrder, pixels []byte, rowPitch int) {
	switch img := img.(type) {
	case *image.Gray:
		return ChannelR, img.Pix, img.Stride
	case *image.RGBA:
		return ChannelRGBA, img.Pix, img.Stride
	case *image.NRGBA:
		return ChannelRGBA, img.Pix, img.Stride
	}
	rgba := image.NewRGBA(img.Bounds())
	draw.Draw(rgba, rgba.Rect, img, img.Bounds().Min, draw.Src)
	return ChannelRGBA, rgba.Pix, rgba.Stride
}

// ImageFormat is the format of a pixel.
type ImageFormat struct {
	Order ChannelOrder
	Type  ChannelType
}

// String returns the format in the form "RGBA UNORM_INT8".
func (f ImageFormat) String() string { return fmt.Sprintf("%s %s", f.Order, f.Type) }

// size returns the size of a pixel in bytes, or false for a format that this package does not
// know.
func (f ImageFormat) size() (int, bool) {
	switch f.Type {
	case UNormShort565, UNormShort555:
		return 2, true
	case UNormInt101010:
		return 4, true
	}
	channels := map[ChannelOrder]int{
		ChannelR: 1, ChannelA: 1, ChannelIntensity: 1, ChannelLuminance: 1, ChannelDepth: 1, ChannelRx: 1,
		ChannelRG: 2, ChannelRA: 2, ChannelRGx: 2,
		ChannelRGB: 3, ChannelSRGB: 3, ChannelRGBx: 4, ChannelSRGBx: 4,
		ChannelRGBA: 4, ChannelBGRA: 4, ChannelARGB: 4, ChannelABGR: 4, ChannelSRGBA: 4, ChannelSBGRA: 4,
	}[f.Order]
	width := map[ChannelType]int{
		SNormInt8: 1, UNormInt8: 1, SignedInt8: 1, UnsignedInt8: 1,
		SNormInt16: 2, UNormInt16: 2, SignedInt16: 2, UnsignedInt16: 2, HalfFloat: 2,
		SignedInt32: 4, UnsignedInt32: 4, SingleFloat: 4,
	}[f.Type]
	return channels * width, channels*width > 0
}

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
	f := &api.clGetSupportedImageFormats
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	var count uint32
	if err := f.run(c.id, uintptr(flags), uintptr(t), 0, 0, uintptr(unsafe.Pointer(&count))); err != nil || count == 0 {
		return nil, err
	}
	formats := make([]ImageFormat, count)
	err := f.run(c.id, uintptr(flags), uintptr(t), uintptr(count), uintptr(unsafe.Pointer(&formats[0])), 0)
	if err != nil {
		return nil, err
	}
	return formats, nil
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
	f := &api.clCreateSampler
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
	s.own(samplerKind, id)
	return s, nil
}

// Release releases the sampler. Further calls, and calls on nil, do nothing.
func (s *Sampler) Release() { s.handle().drop() }

// handle returns the object, or nil for nil.
func (s *Sampler) handle() *object {
	if s == nil {
		return nil
	}
	return &s.object
}
