package array

import "github.com/ndtune/ndtune/internal/half"

// Half is an IEEE 754 binary16 number (OpenCL's half, NumPy's float16) by its
// bits.
type Half uint16

const (
	halfInf  Half = 0x7c00
	halfSign Half = 0x8000
)

// HalfOf rounds f to the nearest Half, ties to even. From 65520 on the result
// is infinite, up to 2⁻²⁵ it is zero; NaN stays NaN.
func HalfOf(f float64) Half { return Half(half.FromFloat64(f)) }

// Float returns the value of h, which a float64 holds exactly.
func (h Half) Float() float64 { return half.ToFloat64(uint16(h)) }
