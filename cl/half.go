package cl

import "github.com/ndtune/ndtune/internal/half"

// Half is a number of half precision (IEEE 754 binary16), as its bits.
type Half uint16

// NewHalf returns the half nearest to f, ties to even; what is too large becomes infinite.
func NewHalf(f float32) Half { return Half(half.FromFloat64(float64(f))) }

// Float32 returns the same number in single precision.
func (h Half) Float32() float32 { return float32(half.ToFloat64(uint16(h))) }
