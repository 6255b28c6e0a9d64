package array

import "math"

// Half is an IEEE 754 binary16 number (OpenCL's half, NumPy's float16) by its
// bits: a sign, 5 bits of exponent, 10 of fraction. The largest finite value is
// 65504, the smallest above zero 2⁻²⁴.
type Half uint16

const (
	halfInf  Half = 0x7c00
	halfSign Half = 0x8000
)

// HalfOf rounds f to the nearest Half, ties to even. From 65520 on the result
// is infinite, up to 2⁻²⁵ it is zero; NaN stays NaN (quiet, with the upper bits
// of its payload).
func HalfOf(f float64) Half {
	const (
		fraction = 52                // bits of a float64's fraction
		drop     = fraction - 10     // those that a normal Half has no room for
		infinite = 0x7ff << fraction // the bits of +Inf
		normal   = (1023 - 14)       // biased exponent of 2⁻¹⁴, the smallest normal Half
		implicit = uint64(1) << fraction
	)
	bits := math.Float64bits(f)
	sign := Half(bits>>48) & halfSign
	bits &^= 1 << 63
	if bits > infinite {
		return sign | halfInf | 0x200 | Half(bits>>drop)&0x3ff
	}
	exponent := int(bits >> fraction)
	if exponent >= normal {
		if exponent > 1023+15 {
			return sign | halfInf
		}
		// Rounding up may carry into the exponent, up to infinity: as it should.
		return sign | Half(roundShift(bits-(normal-1)<<fraction, drop))
	}
	shift := drop + normal - exponent
	if shift > fraction+1 {
		return sign // less than half of the smallest subnormal
	}
	return sign | Half(roundShift(bits&(implicit-1)|implicit, shift))
}

// roundShift returns v / 2ⁿ rounded to the nearest integer, ties to even.
func roundShift(v uint64, n int) uint64 {
	quotient, rest, half := v>>n, v&(1<<n-1), uint64(1)<<(n-1)
	if rest > half || rest == half && quotient&1 == 1 {
		quotient++
	}
	return quotient
}

// Float returns the value of h, which a float64 holds exactly.
func (h Half) Float() float64 {
	exponent, fraction := int(h>>10)&0x1f, float64(h&0x3ff)
	var f float64
	switch {
	case exponent == 0x1f && fraction != 0:
		// The payload goes along, so that the way there and back is exact.
		return math.Float64frombits(uint64(h&halfSign)<<48 | 0x7ff<<52 | uint64(h&0x3ff)<<42)
	case exponent == 0x1f:
		f = math.Inf(1)
	case exponent == 0:
		f = math.Ldexp(fraction, -24)
	default:
		f = math.Float64frombits(uint64(exponent+1023-15)<<52 | uint64(h&0x3ff)<<42)
	}
	if h&halfSign != 0 {
		return -f
	}
	return f
}
