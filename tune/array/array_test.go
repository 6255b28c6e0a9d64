package array

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestOfAndSlice(t *testing.T) {
	a := Of([]float32{1.5, -2, float32(math.Inf(1))})
	if a.Type != Float32 || a.Len() != 3 || !slices.Equal(a.Bytes[:4], []byte{0, 0, 0xc0, 0x3f}) {
		t.Fatalf("Of gives %v × %d: % x", a.Type, a.Len(), a.Bytes)
	}
	view, err := Slice[float32](a)
	if err != nil {
		t.Fatal(err)
	}
	view[1] = 7
	if a.Float(1) != 7 {
		t.Error("the view is a copy")
	}
	if _, err := Slice[int32](a); err == nil {
		t.Error("float32 is viewed as int32")
	}
	if halves, err := Slice[uint16](Of([]Half{0x3c00})); err != nil || halves[0] != 0x3c00 {
		t.Errorf("the bits of float16: %v, %v", halves, err)
	}
	c := a.Clone()
	view[0] = 99
	if c.Float(0) != 1.5 {
		t.Error("the clone shares memory")
	}
}

func TestFrom(t *testing.T) {
	type metres float32
	for _, c := range []struct {
		v    any
		want Type
	}{
		{[]int8{-1, 2}, Int8}, {[]int16{-1, 2}, Int16}, {[]int32{-1, 2}, Int32}, {[]int64{-1, 2}, Int64},
		{[]uint8{255, 2}, Uint8}, {[]uint16{65535, 2}, Uint16}, {[]uint32{1, 2}, Uint32}, {[]uint64{1, 2}, Uint64},
		{[]float32{-1, 2}, Float32}, {[]float64{-1, 2}, Float64}, {[]Half{0xbc00, 0x4000}, Float16},
		{[]metres{-1, 2}, Float32}, {Of([]int32{-1, 2}), Int32},
	} {
		a, err := From(c.v)
		if err != nil || a.Type != c.want || a.Len() != 2 || a.Float(1) != 2 {
			t.Errorf("From(%T): %v, %v", c.v, a, err)
		}
	}
	if a, err := From([]float64{}); err != nil || a.Len() != 0 {
		t.Errorf("From of an empty slice: %v, %v", a, err)
	}
	for _, c := range []struct {
		v    any
		want string
	}{
		{nil, "not from <nil>"}, {3, "not from int"}, {[]int{1}, "depends on the host"}, {[]any{1.5}, "no element type"},
		{[]bool{true}, "no element type"}, {[3]float32{}, "not from [3]float32"}, {(*Array)(nil), "not from *array.Array"},
	} {
		if _, err := From(c.v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("From(%T): %v; want an error with %q", c.v, err, c.want)
		}
	}
}

func TestFloatOfVectors(t *testing.T) {
	a := New(Int16.Vector(3), 2)
	if a.Len() != 2 || len(a.Bytes) != 16 {
		t.Fatalf("two short3 take %d bytes", len(a.Bytes))
	}
	lanes, err := Slice[int16](a)
	if err != nil {
		t.Fatal(err)
	}
	lanes[5] = -7
	if a.Float(5) != -7 {
		t.Errorf("lane 1 of element 1 is %v", a.Float(5))
	}
	b, err := a.As(Int16.Vector(4))
	if err != nil || b.Len() != 2 {
		t.Errorf("short3 as short4: %v, %v", b, err)
	}
	if _, err := a.As(Uint16); err == nil {
		t.Error("int16 is viewed as uint16")
	}
	if _, err := Of([]float32{1, 2, 3}).As(Float32.Vector(2)); err == nil {
		t.Error("three floats are viewed as float2")
	}
}

func TestUnalignedMemory(t *testing.T) {
	a := New(Float32, 5)
	odd := &Array{Type: Float32, Bytes: a.Bytes[1:17]}
	if _, err := Slice[float32](odd); err == nil {
		t.Error("unaligned memory is viewed as a slice")
	}
	if m, err := Compare(odd, New(Float32, 4), 0, 0); m != nil || err != nil {
		t.Errorf("unaligned memory compares as %v, %v", m, err)
	}
}
