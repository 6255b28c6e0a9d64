package array

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/x448/float16"
)

// ScalarBytes returns the bytes of a kernel argument of type t with the value v:
// a Go integer, its decimal digits if they are above the largest int64, a float, [Half] or bool (1 or 0), or for a vector a slice of one
// such value per lane. The unused fourth lane of a 3-vector is zero.
//
// It is an error if t cannot hold the value: 300 for uint8, 1.5 or NaN for
// int32, 1e300 for float32. Float types accept integers, infinities and NaN, and
// round to the nearest value; integer types accept floats with a whole value.
func ScalarBytes(t Type, v any) ([]byte, error) {
	if !t.valid() {
		return nil, fmt.Errorf("value %v: its type is none of package array", v)
	}
	lanes, err := lanesOf(t, v)
	if err != nil {
		return nil, err
	}
	a := New(t, 1)
	for i, lane := range lanes {
		bits, err := encodeExact(t.Scalar(), lane)
		if err != nil {
			if len(lanes) > 1 {
				return nil, fmt.Errorf("lane %d of %v: %w", i, t, err)
			}
			return nil, err
		}
		a.setBits(i, bits)
	}
	return a.Bytes, nil
}

// lanesOf returns the lanes of v, or an error if t has another number of lanes.
func lanesOf(t Type, v any) ([]any, error) {
	r := reflect.ValueOf(v)
	isList := r.IsValid() && (r.Kind() == reflect.Slice || r.Kind() == reflect.Array)
	if !isList {
		if t.Lanes() > 1 {
			return nil, fmt.Errorf("%v needs a list of %d values, not %v", t, t.Lanes(), v)
		}
		return []any{v}, nil
	}
	if t.Lanes() == 1 {
		return nil, fmt.Errorf("%v needs a single value, not a list", t)
	}
	if r.Len() != t.Lanes() {
		return nil, fmt.Errorf("%v needs %d values, not %d", t, t.Lanes(), r.Len())
	}
	lanes := make([]any, r.Len())
	for i := range lanes {
		lanes[i] = r.Index(i).Interface()
	}
	return lanes, nil
}

// encodeExact returns the bits of v as a scalar of type t, or an error if t cannot
// hold v.
func encodeExact(t Type, v any) (uint64, error) {
	if h, ok := v.(Half); ok {
		return encodeFloat(t, h.Float())
	}
	r := reflect.ValueOf(v)
	switch {
	case !r.IsValid():
		return 0, fmt.Errorf("%v needs a number, not nothing", t)
	case r.Kind() == reflect.Bool && r.Bool():
		return t.encode(1), nil
	case r.Kind() == reflect.Bool:
		return 0, nil
	case r.CanInt():
		return encodeInteger(t, r.Int(), r.Int() >= 0)
	case r.CanUint():
		return encodeInteger(t, r.Uint(), true)
	case r.CanFloat():
		return encodeFloat(t, r.Float())
	}
	if u, err := strconv.ParseUint(fmt.Sprint(v), 10, 64); err == nil && u > math.MaxInt64 {
		return encodeInteger(t, u, true)
	}
	return 0, fmt.Errorf("%v needs a number, not %v (%T)", t, v, v)
}

// encodeInteger returns the bits of v, whose bits as a uint64 are its value if it is not negative.
func encodeInteger[T int64 | uint64](t Type, v T, natural bool) (uint64, error) {
	if t.isFloat() {
		return encodeFloat(t, float64(v))
	}
	low, high := t.integerRange()
	if natural && uint64(v) > high || !natural && int64(v) < low {
		return 0, rangeError(t, v)
	}
	return uint64(v), nil
}

func encodeFloat(t Type, f float64) (uint64, error) {
	if t.isFloat() {
		bits := t.encode(f)
		if math.IsInf(t.decode(bits), 0) && !math.IsInf(f, 0) {
			return 0, fmt.Errorf("%v is out of the range of %v", f, t)
		}
		return bits, nil
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, fmt.Errorf("%v is no value of %v", f, t)
	}
	if f != math.Trunc(f) {
		return 0, fmt.Errorf("%v is no whole number, as %v needs", f, t)
	}
	low, high := t.integerRange()
	if f < float64(low) || f >= float64(high/2+1)*2 {
		return 0, rangeError(t, f)
	}
	return t.encode(f), nil
}

func rangeError(t Type, v any) error {
	low, high := t.integerRange()
	return fmt.Errorf("%v is out of the range of %v (%d … %d)", v, t, low, high)
}

// integerRange returns the smallest and the largest value of an integer type.
func (t Type) integerRange() (low int64, high uint64) {
	bits := 8 * t.Scalar().Size()
	if t.isSigned() {
		return -1 << (bits - 1), 1<<(bits-1) - 1
	}
	return 0, math.MaxUint64 >> (64 - bits)
}

// encode returns the bits of f as a scalar of type t. It rounds to the nearest
// value, ties to even. Integers saturate at the ends of their range, and NaN
// becomes 0.
func (t Type) encode(f float64) uint64 {
	switch t {
	case Float16:
		return uint64(HalfOf(f))
	case Float32:
		return uint64(math.Float32bits(float32(f)))
	case Float64:
		return math.Float64bits(f)
	}
	low, high := t.integerRange()
	f = math.RoundToEven(f)
	switch {
	case math.IsNaN(f):
		return 0
	case f <= float64(low):
		return uint64(low)
	case f >= float64(high/2+1)*2: // high + 1, which a float64 holds
		return high
	case f < 0:
		return uint64(int64(f))
	}
	return uint64(f)
}

// decode returns the value of a scalar of type t from its bits.
func (t Type) decode(bits uint64) float64 {
	switch t {
	case Float16:
		return Half(bits).Float()
	case Float32:
		return float64(math.Float32frombits(uint32(bits)))
	case Float64:
		return math.Float64frombits(bits)
	}
	if t.isSigned() {
		unused := 64 - 8*t.Size()
		return float64(int64(bits<<unused) >> unused)
	}
	return float64(bits)
}

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
