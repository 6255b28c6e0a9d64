package matmul

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/ndtune/ndtune/tune/array"
)

// A Precision is the type of the elements and the way in which they are multiplied.
type Precision string

// The precisions. Products are summed as floats, or as doubles with [Double].
const (
	Half   Precision = "half"   // halves; C is rounded to half
	TF32   Precision = "tf32"   // floats, of which the upper 11 significant bits are multiplied
	Float  Precision = "float"  // floats
	Double Precision = "double" // doubles
)

// An element is how a number is stored in a matrix.
type element struct {
	bytes int
	kind  array.Type
	get   func(from []byte) float64
	put   func(to []byte, v float64)
}

var floatElement = element{4, array.Float32,
	func(from []byte) float64 { return float64(math.Float32frombits(binary.NativeEndian.Uint32(from))) },
	func(to []byte, v float64) { binary.NativeEndian.PutUint32(to, math.Float32bits(float32(v))) }}

var elements = map[Precision]element{
	Half: {2, array.Float16,
		func(from []byte) float64 { return array.Half(binary.NativeEndian.Uint16(from)).Float() },
		func(to []byte, v float64) { binary.NativeEndian.PutUint16(to, uint16(array.HalfOf(v))) }},
	TF32:  floatElement,
	Float: floatElement,
	Double: {8, array.Float64,
		func(from []byte) float64 { return math.Float64frombits(binary.NativeEndian.Uint64(from)) },
		func(to []byte, v float64) { binary.NativeEndian.PutUint64(to, math.Float64bits(v)) }},
}

// floats returns a matrix of floats as such.
func floats(matrix []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(matrix))), len(matrix)/4)
}

// A Tolerance bounds the effect of rounding on an element c of a result, by Absolute + Relative·|c|.
type Tolerance struct{ Absolute, Relative float64 }

// Tolerance returns the tolerance for sums of k products of normally distributed numbers.
//
// Float: derived in kernels/matmul/matmul_reference.yaml: the rounding errors of the sum, with a margin that no element of
// large matrices uses up. Double: the same for its longer numbers.
//
// TF32 keeps 10 bits of the fractions of A and B, and sums in float. Truncation changes an element by at most a relative 2⁻¹⁰,
// and a product by twice that. A sum of k products changes by a relative 2⁻¹⁰, since all are truncated towards zero, and by a
// random walk of k steps with a standard deviation of 0.6·2⁻¹⁰ times a product of standard deviation 1; 8 standard
// deviations are 5·2⁻¹⁰·√k. With few terms, a single product of large numbers counts: 0.02, as in matmul_tf32.yaml. For k = 4096
// the tolerance is 0.3: the check finds a lost block of products, but not always a single lost product.
//
// Half: as in matmul_half.yaml: tensor cores do not round sums to the nearest, and C is rounded to half, by at most 2⁻¹¹ of
// itself.
func (p Precision) Tolerance(k int) Tolerance {
	terms := float64(k + 16)
	switch p {
	case Half:
		return Tolerance{Absolute: 4e-6 * terms, Relative: 1e-3}
	case TF32:
		return Tolerance{Absolute: 1e-6*terms + 5*0x1p-10*math.Sqrt(float64(k)) + 0.02, Relative: 0x1p-9}
	case Double:
		return Tolerance{Absolute: 2e-15 * terms, Relative: 1e-15}
	}
	return Tolerance{Absolute: 1e-6 * terms, Relative: 1e-6}
}
