package array

import (
	"math"

	"github.com/x448/float16"
)

// Half is an IEEE 754 binary16 number (OpenCL's half, NumPy's float16) as its
// bits. The largest finite value is 65504, the smallest above zero 2⁻²⁴.
type Half uint16

const (
	halfInf  Half = 0x7c00
	halfSign Half = 0x8000
)

// HalfOf rounds f to the nearest Half, ties to even. Values from 65520 on become
// infinite, values up to 2⁻²⁵ become zero, and NaN stays NaN (quiet).
func HalfOf(f float64) Half {
	// Rounding to a float32 and then to a Half may round the wrong way at a tie. Rounded to
	// odd instead (cut off, with the last bit set when inexact), the float32 still tells on
	// which side of a tie f lies (Boldo and Melquiond, «When double rounding is odd», 2005).
	const dropped = 1<<29 - 1 // the bits of a float64's fraction that a float32 lacks
	bits := math.Float64bits(f)
	if bits&dropped != 0 {
		bits = bits&^dropped | (dropped + 1)
	}
	return Half(float16.Fromfloat32(float32(math.Float64frombits(bits))))
}

// Float returns the value of h, which a float64 holds exactly.
func (h Half) Float() float64 { return float64(float16.Frombits(uint16(h)).Float32()) }
