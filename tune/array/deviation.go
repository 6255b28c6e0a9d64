package array

import (
	"fmt"
	"math"
)

// A Deviation says how far an output is from its reference, over all its scalars but the unused lanes of 3-vectors.
// Both figures are relative to the reference as a whole, not to each of its scalars: where a reference passes through 0,
// the error relative to its scalar says nothing about the output (Higham, «Accuracy and Stability of Numerical
// Algorithms», 2002, chapter 6).
type Deviation struct {
	Max float64 // max |out − ref| / max |ref|
	RMS float64 // √(Σ (out − ref)² / Σ ref²)
}

// DeviationOf compares an output with its reference. If the reference is 0 throughout, the figures are the largest
// and the root mean square error themselves. Infinities at the same places are no error. It is an error if the types
// or lengths of the arrays differ.
func DeviationOf(out, ref *Array) (Deviation, error) {
	if err := checkComparable(out, ref, 0, 0); err != nil {
		return Deviation{}, fmt.Errorf("compare output with reference: %w", err)
	}
	type part struct{ count, most, mostRef, squares, squaresRef float64 }
	out, ref = out.aligned(), ref.aligned()
	n := len(out.Bytes) / out.Type.Scalar().Size()
	parts := make([]part, (n+chunkScalars-1)/chunkScalars) // whose sum does not depend on the number of processors
	forChunks(n, func(chunk, from, to int) {
		var p part
		for i := from; i < to; i++ {
			got, want := out.Float(i), ref.Float(i)
			if out.Type.Lanes() == 3 && i%4 == 3 || got == want && math.IsInf(want, 0) {
				continue
			}
			e := math.Abs(got - want)
			p.count++
			p.most, p.mostRef = max(p.most, e), max(p.mostRef, math.Abs(want))
			p.squares, p.squaresRef = p.squares+e*e, p.squaresRef+want*want
		}
		parts[chunk] = p
	})
	var all part
	for _, p := range parts {
		all.count += p.count
		all.most, all.mostRef = max(all.most, p.most), max(all.mostRef, p.mostRef)
		all.squares, all.squaresRef = all.squares+p.squares, all.squaresRef+p.squaresRef
	}
	if all.mostRef == 0 {
		return Deviation{all.most, math.Sqrt(all.squares / max(1, all.count))}, nil
	}
	return Deviation{all.most / all.mostRef, math.Sqrt(all.squares / all.squaresRef)}, nil
}
