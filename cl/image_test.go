package cl_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/cl"
)

var rgba8 = cl.ImageFormat{Order: cl.ChannelRGBA, Type: cl.UNormInt8}

func newImageRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	if r.info.Images == nil {
		t.Skipf("%s has no images", r.device)
	}
	return r
}

func (r *rig) image(i *cl.Image, err error) *cl.Image {
	r.t.Helper()
	r.check(err)
	r.t.Cleanup(i.Release)
	return i
}

func TestSupportedImageFormats(t *testing.T) {
	r := newImageRig(t)
	formats := must(r.context.SupportedImageFormats(cl.ReadWrite, cl.Image2D))(t)
	t.Log(formats)
	if !slices.Contains(formats, rgba8) {
		t.Errorf("%s is missing in %s", rgba8, formats)
	}
}

func TestImage2D(t *testing.T) {
	r := newImageRig(t)
	const w, h = 7, 5
	data := pattern(w * h * 4)
	i := r.image(r.context.NewImage2D(cl.ReadWrite, rgba8, w, h, data))
	if i.PixelSize() != 4 || i.Format() != rgba8 || i.Desc().Width != w {
		t.Errorf("%d bytes a pixel, %s, %+v", i.PixelSize(), i.Format(), i.Desc())
	}
	got := make([]byte, len(data))
	r.check(r.queue.ReadImage(i, [3]int{}, [3]int{w, h, 1}, got, 0, 0))
	if !bytes.Equal(got, data) {
		t.Error("an image made from data does not hold it")
	}
	box := bytes.Repeat([]byte{1, 2, 3, 4}, 6)
	r.check(r.queue.WriteImage(i, [3]int{2, 1, 0}, [3]int{3, 2, 1}, box, 0, 0))
	r.done(r.queue.EnqueueReadImage(i, [3]int{}, [3]int{w, h, 1}, got, 0, 0))
	for y := range h {
		for x := range w {
			at := (y*w + x) * 4
			want := data[at : at+4]
			if x >= 2 && x < 5 && y >= 1 && y < 3 {
				want = box[:4]
			}
			if !bytes.Equal(got[at:at+4], want) {
				t.Fatalf("pixel %d,%d: %v, want %v", x, y, got[at:at+4], want)
			}
		}
	}
}

func TestImage3D(t *testing.T) {
	r := newImageRig(t)
	const w, h, d = 4, 3, 2
	i := r.image(r.context.NewImage3D(cl.ReadWrite, rgba8, w, h, d, nil))
	data := pattern(w * h * d * 4)
	r.done(r.queue.EnqueueWriteImage(i, [3]int{}, [3]int{w, h, d}, data, 0, 0))
	got := make([]byte, w*4*2)
	r.check(r.queue.ReadImage(i, [3]int{0, 1, 1}, [3]int{w, 2, 1}, got, 0, 0))
	if want := data[(1*h+1)*w*4:]; !bytes.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestMapImage(t *testing.T) {
	r := newImageRig(t)
	const w, h = 6, 4
	data := pattern(w * h * 4)
	i := r.image(r.context.NewImage2D(cl.ReadWrite, rgba8, w, h, data))
	m := must(r.queue.MapImage(i, cl.MapRead|cl.MapWrite, [3]int{1, 1, 0}, [3]int{3, 2, 1}))(t)
	if m.RowPitch < 3*4 || len(m.Bytes) != m.RowPitch+3*4 {
		t.Fatalf("row pitch %d, %d bytes", m.RowPitch, len(m.Bytes))
	}
	if !bytes.Equal(m.Bytes[m.RowPitch:], data[(2*w+1)*4:(2*w+4)*4]) {
		t.Error("mapped memory differs from the image")
	}
	m.Bytes[m.RowPitch] = 0xEE
	r.check(m.Unmap())
	got := make([]byte, len(data))
	r.check(r.queue.ReadImage(i, [3]int{}, [3]int{w, h, 1}, got, 0, 0))
	if got[(2*w+1)*4] != 0xEE {
		t.Error("what was written to mapped memory does not show in the image")
	}
}

func TestFillAndCopyImage(t *testing.T) {
	r := newImageRig(t)
	const w, h = 4, 4
	whole := [3]int{w, h, 1}
	format := cl.ImageFormat{Order: cl.ChannelRGBA, Type: cl.UnsignedInt8}
	a := r.image(r.context.NewImage2D(cl.ReadWrite, format, w, h, nil))
	b := r.image(r.context.NewImage2D(cl.ReadWrite, format, w, h, pattern(w*h*4)))
	r.done(r.queue.EnqueueFillImage(a, cl.UInt4{5, 6, 7, 8}, [3]int{}, whole))
	r.done(r.queue.EnqueueCopyImage(b, a, [3]int{0, 1, 0}, [3]int{0, 2, 0}, [3]int{w, 1, 1}))
	out := r.buffer(make([]byte, 16+w*h*4))
	r.done(r.queue.EnqueueCopyImageToBuffer(a, out, [3]int{}, whole, 16))
	want := bytes.Repeat([]byte{5, 6, 7, 8}, w*h)
	copy(want[2*w*4:], pattern(w * h * 4)[w*4:2*w*4])
	if got := r.read(out)[16:]; !bytes.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	r.done(r.queue.EnqueueCopyBufferToImage(out, b, 16, [3]int{}, whole))
	got := make([]byte, w*h*4)
	r.check(r.queue.ReadImage(b, [3]int{}, whole, got, 0, 0))
	if !bytes.Equal(got, want) {
		t.Errorf("from the buffer: %v, want %v", got, want)
	}
	if _, err := r.queue.EnqueueFillImage(a, 7, [3]int{}, whole); !errors.Is(err, cl.InvalidValue) {
		t.Errorf("a color of type int: %v", err)
	}
}

// A kernel reads an image through a sampler and writes another.
func TestImagesAndSamplersInKernels(t *testing.T) {
	r := newImageRig(t)
	const n = 8
	k := r.kernel(`
		kernel void mirror(read_only image2d_t in, write_only image2d_t out, sampler_t s) {
			int2 at = (int2)(get_global_id(0), get_global_id(1));
			write_imageui(out, at, read_imageui(in, s, (int2)(get_global_size(0) - 1 - at.x, at.y)));
		}`, "mirror")
	format := cl.ImageFormat{Order: cl.ChannelRGBA, Type: cl.UnsignedInt8}
	data := pattern(n * n * 4)
	in := r.image(r.context.NewImage2D(cl.ReadOnly, format, n, n, data))
	out := r.image(r.context.NewImage2D(cl.WriteOnly, format, n, n, nil))
	s := must(r.context.NewSampler(false, cl.AddressClampToEdge, cl.FilterNearest))(t)
	r.check(k.SetArgs(in, out, s))
	r.done(r.queue.EnqueueKernel(k, nil, []int{n, n}, nil))
	got := make([]byte, len(data))
	r.check(r.queue.ReadImage(out, [3]int{}, [3]int{n, n, 1}, got, 0, 0))
	for y := range n {
		for x := range n {
			if at, from := (y*n+x)*4, (y*n+n-1-x)*4; !bytes.Equal(got[at:at+4], data[from:from+4]) {
				t.Fatalf("pixel %d,%d: %v, want %v", x, y, got[at:at+4], data[from:from+4])
			}
		}
	}
	s.Release()
	s.Release()
	if _, err := r.queue.EnqueueKernel(k, nil, []int{n, n}, nil); !errors.Is(err, cl.ErrReleased) || !errors.Is(err, cl.InvalidSampler) {
		t.Errorf("a launch with a released sampler: %v", err)
	}
}

// What would make the driver read or write beyond Go's memory is refused.
func TestImageRanges(t *testing.T) {
	r := newImageRig(t)
	const w, h = 4, 4
	if _, err := r.context.NewImage2D(cl.ReadWrite, rgba8, w, h, make([]byte, w*h*4-1)); !errors.Is(err, cl.InvalidValue) {
		t.Errorf("data too short: %v", err)
	}
	if _, err := r.context.NewImage2D(cl.ReadWrite, rgba8, -1, h, nil); !errors.Is(err, cl.InvalidImageSize) {
		t.Errorf("negative width: %v", err)
	}
	i := r.image(r.context.NewImage2D(cl.ReadWrite, rgba8, w, h, nil))
	data := make([]byte, w*h*4)
	for _, c := range []struct {
		origin, region [3]int
		rowPitch       int
	}{
		{[3]int{-1, 0, 0}, [3]int{1, 1, 1}, 0},
		{[3]int{1, 0, 0}, [3]int{w, 1, 1}, 0},
		{[3]int{}, [3]int{w, h, 2}, 0},
		{[3]int{}, [3]int{w, h, 0}, 0},
		{[3]int{}, [3]int{w, h, 1}, w*4 + 4},
		{[3]int{}, [3]int{w, h, 1}, w*4 - 4},
		{[3]int{}, [3]int{w, h, 1}, -4},
	} {
		if err := r.queue.ReadImage(i, c.origin, c.region, data, c.rowPitch, 0); !errors.Is(err, cl.InvalidValue) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestImageFromGoImage(t *testing.T) {
	r := newImageRig(t)
	whole := image.NewRGBA(image.Rect(0, 0, 9, 6))
	copy(whole.Pix, pattern(len(whole.Pix)))
	part := whole.SubImage(image.Rect(2, 1, 7, 5)).(*image.RGBA)
	paletted := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.RGBA{10, 20, 30, 255}})
	for _, img := range []image.Image{whole, part, paletted} {
		if img == image.Image(part) && r.simulated() {
			continue // takes no notice of the pitch of rows
		}
		i := r.image(r.context.NewImageFrom(cl.ReadOnly, img))
		size := img.Bounds().Size()
		got := make([]byte, size.X*size.Y*4)
		r.check(r.queue.ReadImage(i, [3]int{}, [3]int{size.X, size.Y, 1}, got, 0, 0))
		for y := range size.Y {
			for x := range size.X {
				c := color.RGBAModel.Convert(img.At(img.Bounds().Min.X+x, img.Bounds().Min.Y+y)).(color.RGBA)
				if pixel := got[(y*size.X+x)*4:][:4]; !bytes.Equal(pixel, []byte{c.R, c.G, c.B, c.A}) {
					t.Fatalf("%T, pixel %d,%d: %v, want %v", img, x, y, pixel, c)
				}
			}
		}
	}
	gray := image.NewGray(image.Rect(0, 0, 4, 4))
	if i := r.image(r.context.NewImageFrom(cl.ReadOnly, gray)); i.PixelSize() != 1 {
		t.Errorf("gray: %d bytes a pixel", i.PixelSize())
	}
}

// An image that lies in a buffer shares its bytes, and only such an image has a buffer.
func TestImageOfABuffer(t *testing.T) {
	r := newImageRig(t)
	format := cl.ImageFormat{Order: cl.ChannelR, Type: cl.UnsignedInt8}
	b := r.buffer(pattern(64))
	i := r.image(r.context.NewImage(cl.ReadWrite, format, cl.ImageDesc{Type: cl.Image1DBuffer, Width: 64, Buffer: b}, nil))
	// The other buffer is for PoCL 3.1, which crashes in the launch of a kernel with no other memory.
	k := r.kernel(`kernel void turn(write_only image1d_buffer_t i, global int *other) {
		other[get_global_id(0)] = 1;
		write_imageui(i, (int)get_global_id(0), (uint4)(get_global_id(0) + 100)); }`, "turn")
	r.check(k.SetArgs(i, r.buffer(pattern(64*4))))
	r.done(r.queue.EnqueueKernel(k, nil, []int{64}, nil))
	if got := r.read(b); got[5] != 105 || got[63] != 163 {
		t.Errorf("the buffer holds %v", got)
	}
	for name, desc := range map[string]cl.ImageDesc{
		"no buffer":               {Type: cl.Image1DBuffer, Width: 64},
		"a buffer for a 2D image": {Type: cl.Image2D, Width: 8, Height: 8, Buffer: b},
	} {
		if _, err := r.context.NewImage(cl.ReadWrite, format, desc, nil); !errors.Is(err, cl.InvalidImageDescriptor) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
