package array

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestScalarBytes(t *testing.T) {
	for _, c := range []struct {
		t    Type
		v    any
		want []byte
	}{
		{Uint8, 255, []byte{255}},
		{Int8, -128, []byte{0x80}},
		{Int16, int8(-2), []byte{0xfe, 0xff}},
		{Int32, 3.0, []byte{3, 0, 0, 0}},
		{Int32, true, []byte{1, 0, 0, 0}},
		{Int64, int64(math.MinInt64), []byte{0, 0, 0, 0, 0, 0, 0, 0x80}},
		{Int64, -0x1p63, []byte{0, 0, 0, 0, 0, 0, 0, 0x80}},
		{Uint64, uint64(math.MaxUint64), []byte{255, 255, 255, 255, 255, 255, 255, 255}},
		{Float32, 1, []byte{0, 0, 0x80, 0x3f}},
		{Float32, 0.225, []byte{0x66, 0x66, 0x66, 0x3e}},
		{Float32, float32(-2), []byte{0, 0, 0, 0xc0}},
		{Float32, math.Inf(1), []byte{0, 0, 0x80, 0x7f}},
		{Float64, 1, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
		{Float16, 65504, []byte{0xff, 0x7b}},
		{Float16, Half(0x3c00), []byte{0, 0x3c}},
		{Uint8.Vector(3), []any{1, 2.0, uint8(3)}, []byte{1, 2, 3, 0}},
		{Int16.Vector(2), []int{-1, 1}, []byte{255, 255, 1, 0}},
	} {
		got, err := ScalarBytes(c.t, c.v)
		if err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("ScalarBytes(%v, %v) = % x, %v; want % x", c.t, c.v, got, err, c.want)
		}
	}
}

func TestScalarBytesErrors(t *testing.T) {
	for _, c := range []struct {
		t    Type
		v    any
		want string
	}{
		{Uint8, 300, "300 is out of the range of uint8 (0 … 255)"},
		{Uint8, -1, "out of the range"},
		{Int8, 128, "out of the range of int8 (-128 … 127)"},
		{Int8, -129, "out of the range"},
		{Int32, 1.5, "no whole number"},
		{Int32, math.NaN(), "no value of int32"},
		{Int32, math.Inf(-1), "no value of int32"},
		{Int64, 0x1p63, "out of the range"},
		{Int64, uint64(1 << 63), "out of the range"},
		{Uint64, 0x1p64, "out of the range"},
		{Uint64, int64(-1), "out of the range"},
		{Float32, 1e300, "out of the range of float32"},
		{Float16, 65520, "out of the range of float16"},
		{Float32, "1", "needs a number"},
		{Float32, nil, "needs a number"},
		{Float32, []any{1}, "needs a single value"},
		{Float32.Vector(4), 1, "needs a list of 4 values"},
		{Float32.Vector(4), []any{1, 2}, "needs 4 values, not 2"},
		{Uint8.Vector(2), []any{1, 256}, "lane 1 of uint8x2: 256 is out"},
		{0, 1, "none of package array"},
	} {
		if b, err := ScalarBytes(c.t, c.v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ScalarBytes(%v, %v) = % x, %v; want an error with %q", c.t, c.v, b, err, c.want)
		}
	}
}

func FuzzScalarBytes(f *testing.F) {
	f.Add(1.5, int64(-3))
	f.Add(1e300, int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, x float64, i int64) {
		for s := Int8; s <= Float64; s++ {
			if b, err := ScalarBytes(s, x); err == nil && !s.isFloat() {
				if back := s.decode((&Array{Type: s, Bytes: b}).bits(0)); back != x {
					t.Fatalf("%v as %v is %v", x, s, back)
				}
			}
			if b, err := ScalarBytes(s, i); err == nil && s.isSigned() {
				if back := s.decode((&Array{Type: s, Bytes: b}).bits(0)); back != float64(i) {
					t.Fatalf("%v as %v is %v", i, s, back)
				}
			}
		}
	})
}

func TestHalfThereAndBack(t *testing.T) {
	for i := range 1 << 16 {
		h := Half(i)
		f := h.Float()
		want := h
		if math.IsNaN(f) {
			want |= 0x200 // a signalling NaN comes back quiet
		}
		if got := HalfOf(f); got != want {
			t.Fatalf("%#04x is %v and comes back as %#04x", i, f, uint16(got))
		}
	}
}

func TestHalfOf(t *testing.T) {
	for _, c := range []struct {
		f    float64
		want Half
	}{
		{0, 0}, {math.Copysign(0, -1), 0x8000}, {1, 0x3c00}, {-2, 0xc000}, {0.1, 0x2e66},
		{65504, 0x7bff}, {65519.99, 0x7bff}, {65520, 0x7c00}, {-1e9, 0xfc00}, {math.MaxFloat64, 0x7c00},
		{math.Inf(-1), 0xfc00},
		{0x1p-14, 0x0400}, {0x1p-24, 1}, {0x1p-25, 0}, {math.Nextafter(0x1p-25, 1), 1}, {0x1.8p-24, 2},
		{0x1p-26, 0}, {math.SmallestNonzeroFloat64, 0},
		{math.Nextafter(0x1p-14, 0), 0x0400},
		// Just above a tie by less than a float32 can hold: rounding twice would go down.
		{1 + 0x1p-11, 0x3c00}, {1 + 0x1p-11 + 0x1p-40, 0x3c01}, {1 + 0x3p-11, 0x3c02},
	} {
		if got := HalfOf(c.f); got != c.want {
			t.Errorf("HalfOf(%v) = %#04x, want %#04x", c.f, uint16(got), uint16(c.want))
		}
	}
	if h := HalfOf(math.NaN()); !math.IsNaN(h.Float()) {
		t.Errorf("NaN becomes %v", h.Float())
	}
}

// TestHalfNearest compares with a search through the neighbours.
func TestHalfNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		f := math.Ldexp(1+r.Float64(), r.IntN(44)-28)
		got := HalfOf(f)
		if f >= 65520 {
			if got != halfInf {
				t.Fatalf("HalfOf(%v) = %#04x, want infinity", f, uint16(got))
			}
			continue
		}
		e := math.Abs(got.Float() - f)
		for _, n := range []Half{got - 1, got + 1} {
			if n&halfSign != 0 || n >= halfInf {
				continue
			}
			if other := math.Abs(n.Float() - f); other < e || other == e && got&1 == 1 {
				t.Fatalf("HalfOf(%v) = %v, but %v is nearer or even", f, got.Float(), n.Float())
			}
		}
	}
}
