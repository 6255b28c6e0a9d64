package array

import (
	"fmt"
	"math"
	"sync"
)

// Compare returns nil when every scalar of out is close to that of ref,
// |out − ref| ≤ atol + rtol·|ref|, and otherwise what is wrong. Equal infinities
// are close; an infinity and anything else are not; a NaN is close to nothing,
// not even to a NaN. The difference of integers is taken exactly. The unused
// lane of 3-vectors is not looked at.
//
// The error is for arrays that cannot be compared (types or lengths differ) and
// tolerances that are negative or NaN.
func Compare(out, ref *Array, atol, rtol float64) (*Mismatch, error) {
	if err := checkComparable(out, ref, atol, rtol); err != nil {
		return nil, fmt.Errorf("compare output with reference: %w", err)
	}
	out, ref = out.aligned(), ref.aligned()
	limit := tolerance{atol, rtol}
	var m Mismatch
	switch t := out.Type; t.Scalar() {
	case Int8:
		m = compareAll(scalars[int8](out), scalars[int8](ref), t, limit, scanSigned)
	case Int16:
		m = compareAll(scalars[int16](out), scalars[int16](ref), t, limit, scanSigned)
	case Int32:
		m = compareAll(scalars[int32](out), scalars[int32](ref), t, limit, scanSigned)
	case Int64:
		m = compareAll(scalars[int64](out), scalars[int64](ref), t, limit, scanSigned)
	case Uint8:
		m = compareAll(scalars[uint8](out), scalars[uint8](ref), t, limit, scanUnsigned)
	case Uint16:
		m = compareAll(scalars[uint16](out), scalars[uint16](ref), t, limit, scanUnsigned)
	case Uint32:
		m = compareAll(scalars[uint32](out), scalars[uint32](ref), t, limit, scanUnsigned)
	case Uint64:
		m = compareAll(scalars[uint64](out), scalars[uint64](ref), t, limit, scanUnsigned)
	case Float16:
		m = compareAll(scalars[Half](out), scalars[Half](ref), t, limit, scanHalves)
	case Float32:
		m = compareAll(scalars[float32](out), scalars[float32](ref), t, limit, scanFloats)
	case Float64:
		m = compareAll(scalars[float64](out), scalars[float64](ref), t, limit, scanFloats)
	}
	if m.Count == 0 {
		return nil, nil
	}
	m.describe(out, ref, limit)
	return &m, nil
}

// checkComparable returns why two arrays cannot be compared.
func checkComparable(out, ref *Array, atol, rtol float64) error {
	if err := out.check(); err != nil {
		return fmt.Errorf("the output: %w", err)
	}
	if err := ref.check(); err != nil {
		return fmt.Errorf("the reference: %w", err)
	}
	if out.Type != ref.Type {
		return fmt.Errorf("the output is %v, the reference %v", out.Type, ref.Type)
	}
	if out.Len() != ref.Len() {
		return fmt.Errorf("the output has %d elements, the reference %d", out.Len(), ref.Len())
	}
	if !(atol >= 0) || !(rtol >= 0) {
		return fmt.Errorf("tolerances must not be negative: atol %v, rtol %v", atol, rtol)
	}
	return nil
}

type tolerance struct{ atol, rtol float64 }

// bound returns the error allowed where the reference is want.
func (t tolerance) bound(want float64) float64 {
	if t.rtol == 0 { // 0·∞ is NaN
		return t.atol
	}
	return t.atol + t.rtol*math.Abs(want)
}

// compareAll compares two slices of one length, chunk by chunk.
func compareAll[T Element](out, ref []T, t Type, limit tolerance, next scan[T]) Mismatch {
	var (
		mutex sync.Mutex
		all   Mismatch
	)
	forChunks(len(out), func(_, from, to int) {
		var m Mismatch
		for i := from; i < to; i++ {
			n, e := next(out[i:to], ref[i:to], limit)
			i += n
			if i == to {
				break
			}
			if t.Lanes() == 3 && i%4 == 3 {
				continue
			}
			if math.IsNaN(e) {
				e = math.Inf(1)
			}
			m.add(i, e)
		}
		mutex.Lock()
		defer mutex.Unlock()
		all.merge(m)
	})
	all.Type = t
	all.Total = len(out) / t.stride() * t.Lanes()
	return all
}
