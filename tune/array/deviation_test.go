package array

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDeviation compares the figures of long arrays with sums in one loop, and special cases with their values.
func TestDeviation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	out, ref := New(Float32, 3*chunkScalars+5), New(Float32, 3*chunkScalars+5)
	var most, mostRef, squares, squaresRef float64
	o, r := scalars[float32](out), scalars[float32](ref)
	for i := range r {
		r[i] = float32(rng.NormFloat64())
		o[i] = r[i] * float32(1+1e-3*rng.NormFloat64())
		e, want := math.Abs(float64(o[i])-float64(r[i])), float64(r[i])
		most, mostRef = max(most, e), max(mostRef, math.Abs(want))
		squares, squaresRef = squares+e*e, squaresRef+want*want
	}
	d, err := DeviationOf(out, ref)
	if err != nil || d.Max != most/mostRef || math.Abs(d.RMS-math.Sqrt(squares/squaresRef)) > 1e-12 {
		t.Errorf("%+v, %v; want %v, %v", d, err, most/mostRef, math.Sqrt(squares/squaresRef))
	}
	inf := math.Inf(1)
	three := Type(Float32).Vector(3)
	for _, c := range []struct {
		out, ref *Array
		want     Deviation
	}{
		{Of([]float64{1, 2, 3}), Of([]float64{1, 2, 3}), Deviation{}},
		{Of([]float64{1, inf, 0}), Of([]float64{2, inf, 0}), Deviation{0.5, 0.5}},
		{Of([]int32{3, -4}), Of([]int32{0, 0}), Deviation{4, math.Sqrt(12.5)}}, // absolute
		{Of([]uint8{255, 0}), Of([]uint8{0, 100}), Deviation{2.55, math.Hypot(255, 100) / 100}},
		{vector(three, 1, 2, 3, 99), vector(three, 1, 2, 4, -7), Deviation{0.25, 1 / math.Sqrt(21)}},
		{New(Float32, 0), New(Float32, 0), Deviation{}},
	} {
		got, err := DeviationOf(c.out, c.ref)
		if err != nil || math.Abs(got.Max-c.want.Max) > 1e-15 || math.Abs(got.RMS-c.want.RMS) > 1e-15 {
			t.Errorf("%v of %v: %+v, %v; want %+v", c.out.Bytes, c.ref.Bytes, got, err, c.want)
		}
	}
	if _, err := DeviationOf(Of([]float64{1}), Of([]float64{1, 2})); err == nil {
		t.Error("arrays of two lengths were compared")
	}
}

// vector is an array of a vector type with these scalars.
func vector(t Type, scalars ...float32) *Array {
	a := Of(scalars)
	return &Array{Type: t, Bytes: a.Bytes}
}
