package array

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
)

// A Reduction is applied to an output and to its reference before they are compared. Sum, Min and Max of
// integers are exact integers of 64 bits (a sum beyond these wraps around); everything else is computed
// in float64. The components of vectors are reduced separately. A NaN among the elements makes the result
// NaN.
type Reduction string

// The reductions. Multiset sorts the elements, NaNs first and vectors by their first component that
// differs.
const (
	Sum      Reduction = "sum"
	Mean     Reduction = "mean"
	Min      Reduction = "min"
	Max      Reduction = "max"
	Norm     Reduction = "norm" // the square root of the sum of the squares
	Multiset Reduction = "multiset"
)

var reductions = []string{string(Sum), string(Mean), string(Min), string(Max), string(Norm), string(Multiset)}

// ParseReduction returns the reduction called s.
func ParseReduction(s string) (Reduction, error) {
	if slices.Contains(reductions, s) {
		return Reduction(s), nil
	}
	hint := cmp.Or(nearest.Hint(s, reductions), "; there are "+strings.Join(reductions, ", "))
	return "", fmt.Errorf("no reduction is called %q%s", s, hint)
}

// KeepsLength reports whether the result has as many elements as the array: the elements are compared
// as they are, or sorted.
func (r Reduction) KeepsLength() bool { return r == "" || r == Multiset }

// Apply reduces each of a number of rows of equal length to one element, or sorts each row for [Multiset].
// It is an error if the elements are not so many rows.
func (r Reduction) Apply(a *Array, rows int) (*Array, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if rows < 1 || a.Len() < rows || a.Len()%rows != 0 {
		return nil, fmt.Errorf("%d elements are not %d rows of one length", a.Len(), rows)
	}
	a = a.aligned()
	if a.Type.Scalar() == Float16 {
		a = widened(a)
	}
	by := reducers[a.Type.Scalar()]
	switch r {
	case Multiset:
		return by.sort(a, rows), nil
	case Mean, Norm:
		return by.inFloats(a, rows, r), nil
	}
	return by.exactly(a, rows, r), nil
}

// widened returns an array of halves as float32.
func widened(a *Array) *Array {
	wide := New(Float32.Vector(a.Type.Lanes()), a.Len())
	to := scalars[float32](wide)
	for i, h := range scalars[Half](a) {
		to[i] = float32(h.Float())
	}
	return wide
}

// reducers holds the reductions of each scalar type: to the widest type of its kind, and to float64.
var reducers = [...]struct {
	exactly, inFloats func(*Array, int, Reduction) *Array
	sort              func(*Array, int) *Array
}{
	Int8:    {reduce[int8, int64], reduce[int8, float64], sortRows[int8]},
	Int16:   {reduce[int16, int64], reduce[int16, float64], sortRows[int16]},
	Int32:   {reduce[int32, int64], reduce[int32, float64], sortRows[int32]},
	Int64:   {reduce[int64, int64], reduce[int64, float64], sortRows[int64]},
	Uint8:   {reduce[uint8, uint64], reduce[uint8, float64], sortRows[uint8]},
	Uint16:  {reduce[uint16, uint64], reduce[uint16, float64], sortRows[uint16]},
	Uint32:  {reduce[uint32, uint64], reduce[uint32, float64], sortRows[uint32]},
	Uint64:  {reduce[uint64, uint64], reduce[uint64, float64], sortRows[uint64]},
	Float32: {reduce[float32, float64], reduce[float32, float64], sortRows[float32]},
	Float64: {reduce[float64, float64], reduce[float64, float64], sortRows[float64]},
}

// number is an Element with arithmetic.
type number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

func reduce[T number, W int64 | uint64 | float64](a *Array, rows int, r Reduction) *Array {
	stride := a.Type.stride()
	reduced := New(typeOf[W]().Vector(a.Type.Lanes()), rows)
	from, to := scalars[T](a), scalars[W](reduced)
	width := len(from) / rows
	for row := range rows {
		for lane := range a.Type.Lanes() {
			to[row*stride+lane] = reduceLane[T, W](from[row*width:][:width], lane, stride, r)
		}
	}
	return reduced
}

// reduceLane reduces the scalars lane, lane+stride, lane+2·stride and so on.
func reduceLane[T number, W int64 | uint64 | float64](from []T, lane, stride int, r Reduction) W {
	if r == Norm {
		return W(norm(from, lane, stride))
	}
	result := W(from[lane])
	for i := lane + stride; i < len(from); i += stride {
		switch v := W(from[i]); r {
		case Min:
			result = min(result, v)
		case Max:
			result = max(result, v)
		default:
			result += v
		}
	}
	if r == Mean {
		return result / W(len(from)/stride)
	}
	return result
}

// norm divides by the largest magnitude first, so that no square overflows.
func norm[T number](from []T, lane, stride int) float64 {
	largest := 0.0
	for i := lane; i < len(from); i += stride {
		largest = max(largest, math.Abs(float64(from[i])))
	}
	if largest == 0 || math.IsInf(largest, 0) || math.IsNaN(largest) {
		return largest
	}
	sum := 0.0
	for i := lane; i < len(from); i += stride {
		v := float64(from[i]) / largest
		sum += v * v
	}
	return largest * math.Sqrt(sum)
}

func sortRows[T number](a *Array, rows int) *Array {
	sorted := a.Clone()
	all, lanes, stride := scalars[T](sorted), a.Type.Lanes(), a.Type.stride()
	width := len(all) / rows
	for row := range rows {
		values := all[row*width:][:width]
		if lanes == 1 {
			slices.Sort(values)
			continue
		}
		vectors := slices.Collect(slices.Chunk(slices.Clone(values), stride))
		slices.SortFunc(vectors, func(v, w []T) int { return slices.CompareFunc(v[:lanes], w[:lanes], cmp.Compare) })
		for i, v := range vectors {
			copy(values[i*stride:], v)
		}
	}
	return sorted
}

// Explain describes the difference of two reduced arrays of so many rows, in one line.
func (r Reduction) Explain(m *Mismatch, rows int) string {
	described := *m
	switch {
	case r == Multiset && rows > 1:
		return "each row sorted, " + described.String()
	case r == Multiset:
		return "sorted, " + described.String()
	case rows > 1:
		described.noun, described.unit = fmt.Sprintf("the %s of row", r), "row"
	default:
		described.noun, described.unit = fmt.Sprintf("the %s", r), "result"
	}
	return described.String()
}
