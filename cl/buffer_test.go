package cl_test

import (
	"bytes"
	"errors"
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
	r.check(r.queue.Write(part, 0, bytes.Repeat([]byte{0xAA}, part.Size())))
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

func TestBytes(t *testing.T) {
	if got := cl.Bytes([]uint16{0x0101, 0x0202}); !bytes.Equal(got, []byte{1, 1, 2, 2}) {
		t.Error(got)
	}
	if cl.Bytes([]float32(nil)) != nil || len(cl.Bytes(make([]float64, 2))) != 16 {
		t.Error("sizes")
	}
}
