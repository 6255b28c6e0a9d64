package array

import "math"

// A scan returns the index of the first scalar of out that is not close to that
// of ref, and its error, or len(out) when all are close. The slices are of one
// length. Scans are what Compare spends its time in, hence one for each kind of
// number.
type scan[T Element] func(out, ref []T, limit tolerance) (int, float64)

func scanFloats[T float32 | float64](out, ref []T, limit tolerance) (int, float64) {
	ref = ref[:len(out)]
	for i, got := range out {
		want := ref[i]
		if got == want {
			continue
		}
		// A NaN, or an infinity that only one of them is, fails this test.
		e := math.Abs(float64(got) - float64(want))
		if e <= limit.bound(float64(want)) && e <= math.MaxFloat64 {
			continue
		}
		return i, e
	}
	return len(out), 0
}

func scanHalves(out, ref []Half, limit tolerance) (int, float64) {
	for i, got := range out {
		if got == ref[i] && got&^halfSign <= halfInf {
			continue
		}
		a, b := got.Float(), ref[i].Float()
		e := math.Abs(a - b)
		if a == b || e <= limit.bound(b) && e <= math.MaxFloat64 {
			continue
		}
		return i, e
	}
	return len(out), 0
}

func scanSigned[T int8 | int16 | int32 | int64](out, ref []T, limit tolerance) (int, float64) {
	for i, got := range out {
		want := ref[i]
		if got == want {
			continue
		}
		// Exact also where int64 would overflow.
		e := float64(uint64(int64(max(got, want))) - uint64(int64(min(got, want))))
		if e <= limit.bound(float64(want)) {
			continue
		}
		return i, e
	}
	return len(out), 0
}

func scanUnsigned[T uint8 | uint16 | uint32 | uint64](out, ref []T, limit tolerance) (int, float64) {
	for i, got := range out {
		want := ref[i]
		if got == want {
			continue
		}
		e := float64(max(got, want) - min(got, want))
		if e <= limit.bound(float64(want)) {
			continue
		}
		return i, e
	}
	return len(out), 0
}
