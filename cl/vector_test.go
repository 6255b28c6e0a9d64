package cl_test

import (
	"math"
	"testing"

	"github.com/ndtune/ndtune/cl"
)

func TestHalfValues(t *testing.T) {
	for _, c := range []struct {
		f    float64
		bits cl.Half
	}{
		{0, 0}, {math.Copysign(0, -1), 0x8000}, {1, 0x3c00}, {-2, 0xc000}, {0.1, 0x2e66}, {65504, 0x7bff},
		{65519.99, 0x7bff}, {65520, 0x7c00}, {1e10, 0x7c00}, {math.Inf(-1), 0xfc00},
		{0x1p-14, 0x0400}, {0x1p-24, 0x0001}, {0x1p-25, 0}, {0x1.8p-25, 0x0001}, {0x1p-26, 0},
		{1 + 0x1p-11, 0x3c00}, {1 + 3*0x1p-11, 0x3c02}, // ties to even
	} {
		if got := cl.NewHalf(float32(c.f)); got != c.bits {
			t.Errorf("%g: %#04x, want %#04x", c.f, uint16(got), uint16(c.bits))
		}
	}
	if nan := cl.NewHalf(float32(math.NaN())); !math.IsNaN(float64(nan.Float32())) {
		t.Errorf("NaN: %#04x", uint16(nan))
	}
}

// Every half is itself after a way through single precision.
func TestHalfRoundTrip(t *testing.T) {
	for bits := range 1 << 16 {
		h := cl.Half(bits)
		f := h.Float32()
		if f != f {
			continue
		}
		if back := cl.NewHalf(f); back != h {
			t.Fatalf("%#04x: %g, %#04x", bits, f, uint16(back))
		}
	}
}
