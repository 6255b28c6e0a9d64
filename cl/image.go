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

// imageFunction returns clCreateImage, or the function that OpenCL 1.1 has in its place.
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

// Release releases the image; commands that use it still run. Further calls, and calls on nil,
// do nothing.
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
