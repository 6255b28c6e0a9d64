package cl

import (
	"fmt"
	"image"
	"image/draw"
	"unsafe"
)

// ImageDesc is the shape and size of an image. Height is for 2D and 3D, Depth for 3D,
// ArraySize for arrays. The pitches (bytes) describe the data that an image is made from and
// are 0 without data; with data, 0 means tightly packed.
type ImageDesc struct {
	Type                 ImageType
	Width, Height, Depth int // pixels
	ArraySize            int // images
	RowPitch, SlicePitch int // bytes
}

// Image is a picture of 1 to 3 dimensions, or an array of them. It is safe for concurrent
// use as far as the host is concerned; what commands do with its pixels is ordered by queues
// and wait lists.
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

// NewImage2D makes an image of width × height pixels. With data it holds a copy of it, rows
// being tightly packed.
func (c *Context) NewImage2D(flags MemFlags, format ImageFormat, width, height int, data []byte) (*Image, error) {
	return c.NewImage(flags, format, ImageDesc{Type: Image2D, Width: width, Height: height}, data)
}

// NewImage3D makes an image of width × height × depth pixels. With data it holds a copy of
// it, rows and slices being tightly packed.
func (c *Context) NewImage3D(flags MemFlags, format ImageFormat, width, height, depth int, data []byte) (*Image, error) {
	return c.NewImage(flags, format, ImageDesc{Type: Image3D, Width: width, Height: height, Depth: depth}, data)
}

// NewImage makes an image of any shape. With data it holds a copy of it, laid out as the
// pitches of desc say. OpenCL before 1.2 has 2D and 3D images only.
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
	var status Status
	id := c.createImage(f, flags, &format, desc, data, &status)
	if err := f.made(id, status); err != nil {
		return nil, about(err, what)
	}
	const imageElementSize = 0x1111
	i := &Image{desc: desc, format: format, pixel: queryOf(clGetImageInfo, id).int(imageElementSize)}
	i.own(imageKind, id)
	return i, nil
}

// imageFunction is clCreateImage, or what OpenCL 1.1 has in its place.
func (c *Context) imageFunction(t ImageType) *function {
	if clCreateImage.addr != 0 && clCreateImage.on(c.version) == nil {
		return clCreateImage
	}
	switch t {
	case Image2D:
		return clCreateImage2D
	case Image3D:
		return clCreateImage3D
	}
	return clCreateImage
}

func (c *Context) createImage(f *function, flags MemFlags, format *ImageFormat, desc ImageDesc, data []byte, status *Status) uintptr {
	switch f {
	case clCreateImage2D:
		return f.create(c.id, uintptr(flags), uintptr(unsafe.Pointer(format)), uintptr(desc.Width), uintptr(desc.Height),
			uintptr(desc.RowPitch), uintptr(bytesOf(data)), uintptr(unsafe.Pointer(status)))
	case clCreateImage3D:
		return f.create(c.id, uintptr(flags), uintptr(unsafe.Pointer(format)), uintptr(desc.Width), uintptr(desc.Height),
			uintptr(desc.Depth), uintptr(desc.RowPitch), uintptr(desc.SlicePitch), uintptr(bytesOf(data)), uintptr(unsafe.Pointer(status)))
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
	return f.create(c.id, uintptr(flags), uintptr(unsafe.Pointer(format)), uintptr(unsafe.Pointer(d)),
		uintptr(bytesOf(data)), uintptr(unsafe.Pointer(status)))
}

// Format returns the format of the image's pixels.
func (i *Image) Format() ImageFormat { return i.format }

// Desc returns the shape and size of the image.
func (i *Image) Desc() ImageDesc { return i.desc }

// PixelSize returns the size of a pixel in bytes.
func (i *Image) PixelSize() int { return i.pixel }

// Release gives the image up; commands that use it still run. It does nothing when called
// again, or on nil.
func (i *Image) Release() {
	if i != nil {
		i.drop()
	}
}

func (i *Image) use(f *function) error {
	if i == nil {
		return imageKind.gone(f.name)
	}
	return i.object.use(f, imageKind)
}

// check refuses sizes that are no sizes, and data that is shorter than the image.
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

// layout and region give the place of the whole image in linear memory.
func (d ImageDesc) layout() Rect {
	if d.Type == Image1DArray && d.SlicePitch == 0 {
		return Rect{RowPitch: d.RowPitch, SlicePitch: d.RowPitch}
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

// size returns the size of a pixel in bytes, and false for formats that this package does
// not know.
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

// NewImageFrom makes a 2D image that holds a copy of a Go image: UNORM_INT8 with the channel
// R for an *image.Gray, and with RGBA for any other, which is converted where need be. An
// *image.NRGBA stays as it is, its colors not multiplied by alpha.
func (c *Context) NewImageFrom(flags MemFlags, img image.Image) (*Image, error) {
	order, pixels, pitch := pixelsOf(img)
	desc := ImageDesc{Type: Image2D, Width: img.Bounds().Dx(), Height: img.Bounds().Dy(), RowPitch: pitch}
	return c.NewImage(flags, ImageFormat{order, UNormInt8}, desc, pixels)
}

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
