package array

import (
	"math"
	"math/rand/v2"
	"testing"
)

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
