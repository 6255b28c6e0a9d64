package cl_test

import (
	"bytes"
	"errors"
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
	i := r.image(r.context.NewImage(cl.ReadWrite, rgba8, cl.ImageDesc{Type: cl.Image2D, Width: w, Height: h}))
	r.check(r.queue.WriteImage(i, [3]int{}, [3]int{w, h, 1}, data))
	got := make([]byte, len(data))
	r.check(r.queue.ReadImage(i, [3]int{}, [3]int{w, h, 1}, got))
	if !bytes.Equal(got, data) {
		t.Error("an image does not hold what was written")
	}
	box := bytes.Repeat([]byte{1, 2, 3, 4}, 6)
	r.check(r.queue.WriteImage(i, [3]int{2, 1, 0}, [3]int{3, 2, 1}, box))
	r.check(r.queue.ReadImage(i, [3]int{}, [3]int{w, h, 1}, got))
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
	i := r.image(r.context.NewImage(cl.ReadWrite, rgba8, cl.ImageDesc{Type: cl.Image3D, Width: w, Height: h, Depth: d}))
	data := pattern(w * h * d * 4)
	r.check(r.queue.WriteImage(i, [3]int{}, [3]int{w, h, d}, data))
	got := make([]byte, w*4*2)
	r.check(r.queue.ReadImage(i, [3]int{0, 1, 1}, [3]int{w, 2, 1}, got))
	if want := data[(1*h+1)*w*4:]; !bytes.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
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
	square := cl.ImageDesc{Type: cl.Image2D, Width: n, Height: n}
	in := r.image(r.context.NewImage(cl.ReadOnly, format, square))
	r.check(r.queue.WriteImage(in, [3]int{}, [3]int{n, n, 1}, data))
	out := r.image(r.context.NewImage(cl.WriteOnly, format, square))
	s := must(r.context.NewSampler(false, cl.AddressClampToEdge, cl.FilterNearest))(t)
	r.check(k.SetArgs(in, out, s))
	r.done(r.queue.EnqueueKernel(k, nil, []int{n, n}, nil))
	got := make([]byte, len(data))
	r.check(r.queue.ReadImage(out, [3]int{}, [3]int{n, n, 1}, got))
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
	negative := cl.ImageDesc{Type: cl.Image2D, Width: -1, Height: h}
	if _, err := r.context.NewImage(cl.ReadWrite, rgba8, negative); !errors.Is(err, cl.InvalidImageSize) {
		t.Errorf("negative width: %v", err)
	}
	i := r.image(r.context.NewImage(cl.ReadWrite, rgba8, cl.ImageDesc{Type: cl.Image2D, Width: w, Height: h}))
	data := make([]byte, w*h*4)
	for _, c := range []struct {
		origin, region [3]int
	}{
		{[3]int{-1, 0, 0}, [3]int{1, 1, 1}},
		{[3]int{1, 0, 0}, [3]int{w, 1, 1}},
		{[3]int{}, [3]int{w, h, 2}},
		{[3]int{}, [3]int{w, h, 0}},
	} {
		if err := r.queue.ReadImage(i, c.origin, c.region, data); !errors.Is(err, cl.InvalidValue) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	short := data[:len(data)-1]
	if err := r.queue.WriteImage(i, [3]int{}, [3]int{w, h, 1}, short); !errors.Is(err, cl.InvalidValue) {
		t.Errorf("data too short: %v", err)
	}
	b := r.buffer(data)
	for _, offset := range []int{-1, 1} {
		if _, err := r.queue.EnqueueCopyBufferToImage(b, i, offset, [3]int{}, [3]int{w, h, 1}); !errors.Is(err, cl.InvalidValue) {
			t.Errorf("from %d bytes of a buffer: %v", offset, err)
		}
	}
	copy(data, pattern(len(data)))
	r.check(r.queue.Write(b, 0, data))
	r.done(r.queue.EnqueueCopyBufferToImage(b, i, 0, [3]int{}, [3]int{w, h, 1}))
	got := make([]byte, len(data))
	r.check(r.queue.ReadImage(i, [3]int{}, [3]int{w, h, 1}, got))
	if !bytes.Equal(got, data) {
		t.Errorf("from the buffer: %v, want %v", got, data)
	}
}

// An image that lies in a buffer shares its bytes, and only such an image has a buffer.
func TestImageOfABuffer(t *testing.T) {
	r := newImageRig(t)
	format := cl.ImageFormat{Order: cl.ChannelR, Type: cl.UnsignedInt8}
	b := r.buffer(pattern(64))
	i := r.image(r.context.NewImage(cl.ReadWrite, format, cl.ImageDesc{Type: cl.Image1DBuffer, Width: 64, Buffer: b}))
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
		if _, err := r.context.NewImage(cl.ReadWrite, format, desc); !errors.Is(err, cl.InvalidImageDescriptor) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
