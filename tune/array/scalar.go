package array

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
)

// ScalarBytes returns the bytes of one kernel argument of type t with value v:
// a Go integer, float or bool (1 or 0), for vectors a slice with one of them a
// lane. The fourth lane in memory of a 3-vector is zero.
//
// A value must fit: 300 is refused for uint8, 1.5 and NaN for int32, 1e300 for
// float32. Floats take integers and are rounded to the nearest value of their
// type; infinities and NaN pass as they are; integers take whole floats.
func ScalarBytes(t Type, v any) ([]byte, error) {
	if !t.valid() {
		return nil, fmt.Errorf("value %v: its type is none of package array", v)
	}
	lanes, err := lanesOf(t, v)
	if err != nil {
		return nil, err
	}
	size := t.Scalar().Size()
	bytes := make([]byte, t.Size())
	for i, lane := range lanes {
		bits, err := encodeExact(t.Scalar(), lane)
		if err != nil {
			if len(lanes) > 1 {
				return nil, fmt.Errorf("lane %d of %v: %w", i, t, err)
			}
			return nil, err
		}
		putBits(bytes[i*size:], size, bits)
	}
	return bytes, nil
}

// lanesOf returns the lanes of v, which are as many as t has.
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

// encodeExact returns the bits of v as a scalar of type t, or why t cannot hold v.
func encodeExact(t Type, v any) (uint64, error) {
	if h, ok := v.(Half); ok {
		return encodeFloat(t, h.Float())
	}
	r := reflect.ValueOf(v)
	switch {
	case !r.IsValid():
		return 0, fmt.Errorf("%v needs a number, not nothing", t)
	case r.Kind() == reflect.Bool && r.Bool():
		return encodeUint(t, 1)
	case r.Kind() == reflect.Bool:
		return encodeUint(t, 0)
	case r.CanInt() && r.Int() < 0:
		return encodeNegative(t, r.Int())
	case r.CanInt():
		return encodeUint(t, uint64(r.Int()))
	case r.CanUint():
		return encodeUint(t, r.Uint())
	case r.CanFloat():
		return encodeFloat(t, r.Float())
	}
	return 0, fmt.Errorf("%v needs a number, not %v (%T)", t, v, v)
}

func encodeUint(t Type, v uint64) (uint64, error) {
	if t.isFloat() {
		return encodeFloat(t, float64(v))
	}
	if _, high := t.integerRange(); v > high {
		return 0, rangeError(t, v)
	}
	return v, nil
}

func encodeNegative(t Type, v int64) (uint64, error) {
	if t.isFloat() {
		return encodeFloat(t, float64(v))
	}
	if low, _ := t.integerRange(); v < low {
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

// encode returns the bits of f in scalar type t: floats are rounded to the
// nearest, integers are rounded to the nearest (ties to even) and kept within
// their range; NaN becomes 0 there.
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

// decode returns the value of the bits of a scalar of type t.
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

func putBits(b []byte, size int, bits uint64) {
	switch size {
	case 1:
		b[0] = byte(bits)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(bits))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(bits))
	case 8:
		binary.LittleEndian.PutUint64(b, bits)
	default:
		panic(errors.New("array: no scalar of this size"))
	}
}

func getBits(b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	}
	panic(errors.New("array: no scalar of this size"))
}
