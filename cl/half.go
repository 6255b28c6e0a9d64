package cl

import "math"

// Half is a number of half precision (IEEE 754 binary16), as its bits.
type Half uint16

// NewHalf returns the half nearest to f, ties to even; what is too large becomes infinite.
func NewHalf(f float32) Half {
	const (
		mantissa    = 1<<23 - 1
		hidden      = 1 << 23
		infinity    = 0x7c00
		quietNaN    = 0x7e00
		shift       = 23 - 10
		normalLow   = 127 - 14 // the biased float32 exponent of the smallest normal half
		overflowing = 127 + 16
	)
	b := math.Float32bits(f)
	sign := uint32(b >> 16 & 0x8000)
	exponent := int(b >> 23 & 0xff)
	m := b & mantissa
	switch {
	case exponent == 0xff && m != 0:
		return Half(sign | quietNaN | m>>shift)
	case exponent >= overflowing:
		return Half(sign | infinity)
	case exponent >= normalLow:
		// A carry out of the mantissa goes on into the exponent, which is right.
		return Half(sign | roundShift(uint32(exponent-normalLow+1)<<23|m, shift))
	case exponent < normalLow-11:
		return Half(sign)
	}
	return Half(sign | roundShift(hidden|m, uint(shift+normalLow-exponent)))
}

// roundShift shifts to the right and rounds to the nearest, ties to even.
func roundShift(x uint32, by uint) uint32 {
	kept, rest, tie := x>>by, x&(1<<by-1), uint32(1)<<(by-1)
	if rest > tie || rest == tie && kept&1 == 1 {
		kept++
	}
	return kept
}

// Float32 returns the same number in single precision.
func (h Half) Float32() float32 {
	sign := uint32(h&0x8000) << 16
	exponent := uint32(h >> 10 & 0x1f)
	m := uint32(h & 0x3ff)
	switch exponent {
	case 0:
		f := float32(m) / (1 << 24)
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 0x1f:
		return math.Float32frombits(sign | 0xff<<23 | m<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | m<<13)
}
