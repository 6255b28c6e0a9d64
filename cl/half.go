package cl

import "github.com/x448/float16"

// Half is a number of half precision (IEEE 754 binary16), as its bits.
type Half uint16

// NewHalf returns the half nearest to f, ties to even. Values from 65520 on become infinite.
func NewHalf(f float32) Half { return Half(float16.Fromfloat32(f)) }

// Float32 returns the same number in single precision, which is exact.
func (h Half) Float32() float32 { return float16.Frombits(uint16(h)).Float32() }
