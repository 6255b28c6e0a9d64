// Package half converts between float64 and the bits of IEEE 754 binary16 numbers
// (OpenCL's half, NumPy's float16): a sign, 5 bits of exponent, 10 of fraction. The largest
// finite value is 65504, the smallest above zero 2⁻²⁴.
package half

import "math"

const (
	infinity = uint16(0x7c00)
	signBit  = uint16(0x8000)
)

// FromFloat64 rounds f to the nearest binary16, ties to even. From 65520 on the result is
// infinite, up to 2⁻²⁵ it is zero; NaN stays NaN (quiet, with the upper bits of its
// payload).
func FromFloat64(f float64) uint16 {
	const (
		fraction = 52                // bits of a float64's fraction
		drop     = fraction - 10     // those that a normal binary16 has no room for
		infinite = 0x7ff << fraction // the bits of +Inf
		normal   = (1023 - 14)       // biased exponent of 2⁻¹⁴, the smallest normal binary16
		implicit = uint64(1) << fraction
	)
	bits := math.Float64bits(f)
	sign := uint16(bits>>48) & signBit
	bits &^= 1 << 63
	if bits > infinite {
		return sign | infinity | 0x200 | uint16(bits>>drop)&0x3ff
	}
	exponent := int(bits >> fraction)
	if exponent >= normal {
		if exponent > 1023+15 {
			return sign | infinity
		}
		// Rounding up may carry into the exponent, up to infinity: as it should.
		return sign | uint16(roundShift(bits-(normal-1)<<fraction, drop))
	}
	shift := drop + normal - exponent
	if shift > fraction+1 {
		return sign // less than half of the smallest subnormal
	}
	return sign | uint16(roundShift(bits&(implicit-1)|implicit, shift))
}

// roundShift is v / 2ⁿ rounded to the nearest integer, ties to even.
func roundShift(v uint64, n int) uint64 {
	quotient, rest, tie := v>>n, v&(1<<n-1), uint64(1)<<(n-1)
	if rest > tie || rest == tie && quotient&1 == 1 {
		quotient++
	}
	return quotient
}

// ToFloat64 is the value of a binary16, which a float64 holds exactly. The payload of a NaN
// goes along, so that the way there and back is exact.
func ToFloat64(h uint16) float64 {
	exponent, fraction := int(h>>10)&0x1f, float64(h&0x3ff)
	var f float64
	switch {
	case exponent == 0x1f && fraction != 0:
		return math.Float64frombits(uint64(h&signBit)<<48 | 0x7ff<<52 | uint64(h&0x3ff)<<42)
	case exponent == 0x1f:
		f = math.Inf(1)
	case exponent == 0:
		f = math.Ldexp(fraction, -24)
	default:
		f = math.Float64frombits(uint64(exponent+1023-15)<<52 | uint64(h&0x3ff)<<42)
	}
	if h&signBit != 0 {
		return -f
	}
	return f
}
