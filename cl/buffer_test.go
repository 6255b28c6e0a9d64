package cl_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/ndtune/ndtune/cl"
)

func TestBufferRoundTrip(t *testing.T) {
	r := newRig(t)
	b := must(r.context.NewBuffer(cl.ReadWrite, 1000))(t)
	defer b.Release()
	data := pattern(1000)
	r.check(r.queue.Write(b, 0, data))
	if !bytes.Equal(r.read(b), data) {
		t.Error("read differs from write")
	}
	r.check(r.queue.Write(b, 500, data[:100]))
	part := make([]byte, 100)
	r.check(r.queue.Read(b, 500, part))
	if !bytes.Equal(part, data[:100]) {
		t.Error("read of a part differs from write")
	}
	if !bytes.Equal(r.read(r.buffer(data)), data) {
		t.Error("a buffer made from data does not hold it")
	}
}

func TestBufferRanges(t *testing.T) {
	r := newRig(t)
	b := r.buffer(pattern(64))
	data := make([]byte, 32)
	for _, offset := range []int{-1, 33, 64, 1 << 62} {
		if err := r.queue.Read(b, offset, data); !errors.Is(err, cl.InvalidValue) {
			t.Errorf("read at %d: %v", offset, err)
		}
		if err := r.queue.Write(b, offset, data); !errors.Is(err, cl.InvalidValue) {
			t.Errorf("write at %d: %v", offset, err)
		}
		if _, err := r.queue.EnqueueRead(b, offset, data); !errors.Is(err, cl.InvalidValue) {
			t.Errorf("enqueued read at %d: %v", offset, err)
		}
		if _, err := r.queue.Map(b, cl.MapRead, offset, 32); !errors.Is(err, cl.InvalidValue) {
			t.Errorf("map at %d: %v", offset, err)
		}
	}
	if err := r.queue.Read(b, 0, nil); !errors.Is(err, cl.InvalidValue) {
		t.Errorf("read of nothing: %v", err)
	}
	if err := r.queue.Read(nil, 0, data); !errors.Is(err, cl.InvalidMemObject) {
		t.Errorf("read of nil: %v", err)
	}
	for _, size := range []int{0, -1} {
		if _, err := r.context.NewBuffer(0, size); !errors.Is(err, cl.InvalidBufferSize) {
			t.Errorf("buffer of %d bytes: %v", size, err)
		}
	}
	if _, err := r.context.NewBuffer(1<<3, 64); !errors.Is(err, cl.InvalidValue) {
		t.Errorf("CL_MEM_USE_HOST_PTR: %v", err)
	}
}

func TestSubBuffer(t *testing.T) {
	r := newRig(t)
	align := max(r.info.BaseAddressAlign/8, 1)
	b := r.buffer(pattern(4 * align))
	part := must(b.Sub(0, align, 2*align))(t)
	defer part.Release()
	if part.Size() != 2*align || !bytes.Equal(r.read(part), pattern(4 * align)[align:3*align]) {
		t.Error("a part differs from its range of the whole")
	}
	r.done(r.queue.EnqueueWrite(part, 0, bytes.Repeat([]byte{0xAA}, part.Size())))
	whole := r.read(b)
	if whole[align-1] == 0xAA || whole[align] != 0xAA || whole[3*align-1] != 0xAA {
		t.Error("a write to a part does not show in the whole")
	}
	if _, err := b.Sub(0, 2*align, 3*align); !errors.Is(err, cl.InvalidValue) {
		t.Errorf("a part beyond the end: %v", err)
	}
	b.Release() // the part keeps the memory
	if r.read(part)[0] != 0xAA {
		t.Error("the part lost its memory with the whole")
	}
}

func TestFill(t *testing.T) {
	r := newRig(t)
	b := r.buffer(make([]byte, 256))
	for _, n := range []int{1, 2, 4, 8, 16, 32, 64, 128} {
		want := pattern(n)
		r.done(r.queue.EnqueueFill(b, want, 0, 256))
		if !bytes.Equal(r.read(b), bytes.Repeat(want, 256/n)) {
			t.Errorf("a pattern of %d bytes", n)
		}
	}
	for _, n := range []int{0, 3, 256} {
		if _, err := r.queue.EnqueueFill(b, make([]byte, n), 0, 256); !errors.Is(err, cl.InvalidValue) {
			t.Errorf("a pattern of %d bytes: %v", n, err)
		}
	}
}

func TestCopy(t *testing.T) {
	r := newRig(t)
	src, dst := r.buffer(pattern(64)), r.buffer(make([]byte, 64))
	r.done(r.queue.EnqueueCopy(src, dst, 8, 16, 32))
	if !bytes.Equal(r.read(dst)[16:48], pattern(64)[8:40]) {
		t.Error("copy")
	}
	if _, err := r.queue.EnqueueCopy(src, dst, 33, 0, 32); !errors.Is(err, cl.InvalidValue) {
		t.Errorf("copy beyond the end: %v", err)
	}
}

// A model of boxes: the byte of column x, row y, slice z.
func TestRects(t *testing.T) {
	r := newRig(t)
	from := cl.Rect{Origin: [3]int{2, 1, 1}, RowPitch: 16, SlicePitch: 16 * 8}
	to := cl.Rect{Origin: [3]int{1, 2, 0}, RowPitch: 10, SlicePitch: 10 * 6}
	region := [3]int{5, 3, 2}
	at := func(p cl.Rect, x, y, z int) int {
		return (p.Origin[2]+z)*p.SlicePitch + (p.Origin[1]+y)*p.RowPitch + p.Origin[0] + x
	}
	source := pattern(16 * 8 * 4)
	want := make([]byte, 10*6*2)
	for z := range region[2] {
		for y := range region[1] {
			for x := range region[0] {
				want[at(to, x, y, z)] = source[at(from, x, y, z)]
			}
		}
	}
	b := r.buffer(source)
	got := make([]byte, len(want))
	r.done(r.queue.EnqueueReadRect(b, from, region, got, to))
	if !bytes.Equal(got, want) {
		t.Errorf("read:\n%v\n%v", got, want)
	}
	written := r.buffer(make([]byte, len(want)))
	r.done(r.queue.EnqueueWriteRect(written, to, region, source, from))
	if !bytes.Equal(r.read(written), want) {
		t.Error("write")
	}
	copied := r.buffer(make([]byte, len(want)))
	r.done(r.queue.EnqueueCopyRect(b, copied, from, to, region))
	if !bytes.Equal(r.read(copied), want) {
		t.Error("copy")
	}
	for _, bad := range []cl.Rect{
		{Origin: [3]int{-1, 0, 0}}, {RowPitch: 4}, {RowPitch: -1}, {RowPitch: 5, SlicePitch: 14},
		{Origin: [3]int{0, 0, 1 << 62}, RowPitch: 1 << 40}, {RowPitch: 100},
	} {
		if _, err := r.queue.EnqueueReadRect(b, from, region, got, bad); !errors.Is(err, cl.InvalidValue) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func TestMap(t *testing.T) {
	r := newRig(t)
	b := r.buffer(pattern(128))
	m := must(r.queue.Map(b, cl.MapRead|cl.MapWrite, 32, 64))(t)
	if !bytes.Equal(m.Bytes, pattern(128)[32:96]) {
		t.Error("mapped memory differs from the buffer")
	}
	for i := range m.Bytes {
		m.Bytes[i] = 0x55
	}
	b.Release() // takes effect at Unmap
	r.check(m.Unmap())
	r.check(m.Unmap())
	if m.Bytes != nil {
		t.Error("bytes are left after Unmap")
	}

	b = r.buffer(make([]byte, 128))
	m, e, err := r.queue.EnqueueMap(b, cl.MapWrite, 0, 128)
	r.done(e, err)
	copy(m.Bytes, pattern(128))
	r.done(m.EnqueueUnmap())
	if !bytes.Equal(r.read(b), pattern(128)) {
		t.Error("what was written to mapped memory does not show in the buffer")
	}
}

// The memory of non-blocking transfers belongs to nobody but the transfer here, while the
// garbage collector runs and other memory is written all over.
func TestTransfersUnderGarbageCollection(t *testing.T) {
	r := newRig(t)
	const n, size = 200, 64 << 10
	random := rand.New(rand.NewPCG(1, 2))
	buffers := make([]*cl.Buffer, 16)
	want := make([][]byte, len(buffers))
	for i := range buffers {
		buffers[i] = r.buffer(make([]byte, size))
		want[i] = make([]byte, size)
	}
	for range n {
		i := random.IntN(len(buffers))
		fill := byte(random.Uint32())
		for j := range want[i] {
			want[i][j] = fill
		}
		e := must(r.queue.EnqueueWrite(buffers[i], 0, bytes.Repeat([]byte{fill}, size)))(t)
		e.Release()
		if random.IntN(8) == 0 {
			runtime.GC()
		}
		_ = make([]byte, size)
	}
	var events []*cl.Event
	got := make([][]byte, len(buffers))
	for i, b := range buffers {
		got[i] = make([]byte, size)
		events = append(events, r.event(r.queue.EnqueueRead(b, 0, got[i])))
		runtime.GC()
	}
	r.check(cl.WaitForEvents(events...))
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("buffer %d", i)
		}
	}
}

func TestBytes(t *testing.T) {
	if got := cl.Bytes([]uint16{0x0101, 0x0202}); !bytes.Equal(got, []byte{1, 1, 2, 2}) {
		t.Error(got)
	}
	if cl.Bytes([]float32(nil)) != nil || len(cl.Bytes(make([]cl.Float3, 2))) != 32 {
		t.Error("sizes")
	}
}
