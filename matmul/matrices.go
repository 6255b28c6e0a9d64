package matmul

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/ndtune/ndtune/tune/array"
)

// Matrices holds the operands and the result of a multiplication.
type Matrices struct {
	Shape
	Precision
	A, B, C []byte // row-major

	element element
}

// Data is the distribution of the numbers of A and B.
type Data string

// The distributions. The times are those with normally distributed numbers.
const (
	Normal  Data = "normal"  // mean 0, standard deviation 1
	Uniform Data = "uniform" // from 0 to 1
	Scaled  Data = "scaled"  // normal, each times a power of two from 2⁻³⁰ to 2³⁰, of halves from 2⁻³ to 2³
)

// allData are the distributions for which errors are measured.
var allData = []Data{Normal, Uniform, Scaled}

// seed is the seed of all matrices: every entrant multiplies the same.
const seed = 1

// NewMatrices makes matrices of normally distributed numbers. C is full of NaNs, so that a check finds
// elements that were not written.
func NewMatrices(s Shape, p Precision) *Matrices {
	e := elements[p]
	m := &Matrices{Shape: s, Precision: p, element: e,
		A: make([]byte, e.bytes*s.M*s.K), B: make([]byte, e.bytes*s.K*s.N), C: make([]byte, e.bytes*s.M*s.N)}
	m.Fill(Normal)
	m.spoil()
	return m
}

// Fill gives A and B other numbers.
func (m *Matrices) Fill(d Data) {
	largest := 30
	if m.Precision == Half {
		largest = 3 // larger elements of C would be infinite
	}
	fill := func(matrix []byte, rows, columns int, which uint64) {
		eachRow(rows, func(i int) {
			r := rand.New(rand.NewPCG(seed, 2*uint64(i)+which))
			for j := range columns {
				v := r.NormFloat64()
				switch d {
				case Uniform:
					v = r.Float64()
				case Scaled:
					v = math.Ldexp(v, r.IntN(2*largest+1)-largest)
				}
				m.element.put(m.at(matrix, i*columns+j), v)
			}
		})
	}
	fill(m.A, m.M, m.K, 0)
	fill(m.B, m.K, m.N, 1)
}

// at returns an element of a matrix in memory.
func (m *Matrices) at(matrix []byte, i int) []byte { return matrix[i*m.element.bytes:] }

// elements returns count elements from an index on, with a distance between two of them.
func (m *Matrices) elements(matrix []byte, from, count, distance int) []float64 {
	all := make([]float64, count)
	for i := range all {
		all[i] = m.element.get(m.at(matrix, from+i*distance))
	}
	return all
}

func (m *Matrices) rowOfA(i int) []float64    { return m.elements(m.A, i*m.K, m.K, 1) }
func (m *Matrices) columnOfB(j int) []float64 { return m.elements(m.B, j, m.K, m.N) }

// spoil fills C with NaNs.
func (m *Matrices) spoil() {
	eachRow(m.M, func(i int) {
		for j := range m.N {
			m.element.put(m.at(m.C, i*m.N+j), math.NaN())
		}
	})
}

// samples is the number of elements that Check computes.
const samples = 256

// Check compares C with A·B.
//
// It multiplies both by a vector x of random signs, in double precision (R. Freivalds, Fast
// probabilistic algorithms, MFCS 1979): C·x and A·(B·x) take three products of a matrix and a vector and involve every
// element of C. The errors of a row add up with random signs, so the tolerance of a sum is √N times
// that of an element. This finds blocks that were not computed, or were read from or written to a
// wrong place. To find errors of single elements, Check computes 256 dot products,
// with those of the corners.
func (m *Matrices) Check() error {
	if err := m.checkRows(); err != nil {
		return err
	}
	return m.checkSamples()
}

func (m *Matrices) checkRows() error {
	t := m.Tolerance(m.K)
	signs := rand.New(rand.NewPCG(seed, math.MaxUint64))
	x := make([]float64, m.N)
	for i := range x {
		x[i] = float64(2*signs.IntN(2) - 1)
	}
	bx, want, got, length := make([]float64, m.K), make([]float64, m.M), make([]float64, m.M), make([]float64, m.M)
	eachRow(m.K, func(i int) { bx[i], _ = dot(m.elements(m.B, i*m.N, m.N, 1), x) })
	eachRow(m.M, func(i int) {
		row := m.elements(m.C, i*m.N, m.N, 1)
		want[i], _ = dot(m.rowOfA(i), bx)
		got[i], _ = dot(row, x)
		square, _ := dot(row, row)
		length[i] = math.Sqrt(square)
	})
	for i := range m.M {
		allowed := math.Sqrt(float64(m.N))*t.Absolute + t.Relative*max(math.Abs(want[i]), length[i])
		if off := math.Abs(got[i] - want[i]); !(off <= allowed) {
			return fmt.Errorf("the result is wrong: the elements of row %d, summed with random signs, are %.6g, not %.6g; rounding may do %.2g",
				i, got[i], want[i], allowed)
		}
	}
	return nil
}

func (m *Matrices) checkSamples() error {
	t := m.Tolerance(m.K)
	r := rand.New(rand.NewPCG(seed, math.MaxUint64-1))
	var is, js [samples]int
	for s := range samples {
		is[s], js[s] = r.IntN(m.M), r.IntN(m.N)
		if s < 4 {
			is[s], js[s] = s/2*(m.M-1), s%2*(m.N-1)
		}
	}
	var wrong [samples]error
	eachRow(samples, func(s int) {
		i, j := is[s], js[s]
		want, _ := dot(m.rowOfA(i), m.columnOfB(j))
		got, allowed := m.element.get(m.at(m.C, i*m.N+j)), t.Absolute+t.Relative*math.Abs(want)
		if off := math.Abs(got - want); !(off <= allowed) {
			wrong[s] = fmt.Errorf("the result is wrong: the element in row %d, column %d is %.8g and should be %.8g; rounding may do %.2g",
				i, j, got, want, allowed)
		}
	})
	return cmp.Or(wrong[:]...)
}

// Errors are those of elements of a result, each divided by the sum of the magnitudes of its products, Σ|a·b|.
type Errors struct {
	RMS, Max float64 // the root of the mean square, and the maximum
}

// errorLines is the number of rows and of columns whose common elements Errors computes.
const errorLines = 128

// Errors compares elements of C with dot products in twice the precision of double: those of some rows and columns, or
// all of small matrices.
func (m *Matrices) Errors() (e Errors) {
	r := rand.New(rand.NewPCG(seed, math.MaxUint64-3))
	is, js := chosen(r, m.M), chosen(r, m.N)
	columns := make([][]float64, len(js))
	eachRow(len(js), func(j int) { columns[j] = m.columnOfB(js[j]) })
	squares, largest := make([]float64, len(is)), make([]float64, len(is))
	eachRow(len(is), func(i int) {
		row := m.rowOfA(is[i])
		for j, column := range columns {
			want, magnitude := dot(row, column)
			off := math.Abs(m.element.get(m.at(m.C, is[i]*m.N+js[j])) - want)
			if magnitude > 0 {
				off /= magnitude
			}
			squares[i] += off * off
			largest[i] = math.Max(largest[i], off) // NaN if one is
		}
	})
	for i := range is {
		e.RMS += squares[i]
		e.Max = math.Max(e.Max, largest[i])
	}
	e.RMS = math.Sqrt(e.RMS / float64(len(is)*len(js)))
	return e
}

// chosen returns some of n indices, or all of few.
func chosen(r *rand.Rand, n int) []int {
	if n > errorLines {
		return r.Perm(n)[:errorLines]
	}
	return r.Perm(n)
}

// dot returns a dot product as if it was computed with twice the precision of double and then rounded (T. Ogita, S. M. Rump
// and S. Oishi, Accurate sum and dot product, SIAM J. Sci. Comput. 26, 2005, algorithm Dot2), and the sum of the magnitudes of
// its products.
func dot(a, b []float64) (sum, magnitude float64) {
	lost := 0.0
	for i, v := range a {
		product := float64(v * b[i]) // rounded before it is added
		next := sum + product
		part := next - sum
		lost += math.FMA(v, b[i], -product) + ((sum - (next - part)) + (product - part))
		sum = next
		magnitude += math.Abs(product)
	}
	return sum + lost, magnitude
}

// eachRow calls do for all rows, on all cores.
func eachRow(n int, do func(i int)) {
	parts := min(n, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for part := range parts {
		all.Go(func() {
			for i := n * part / parts; i < n*(part+1)/parts; i++ {
				do(i)
			}
		})
	}
	all.Wait()
}

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

// MaxSize is the largest N: the bundled kernels use int for indices of elements, so the product of two sizes must be
// below 2³¹.
const MaxSize = 46340

// A Shape is that of C (M × N) = A (M × K) · B (K × N).
type Shape struct{ M, N, K int }

// Square returns the shape of square matrices.
func Square(n int) Shape { return Shape{n, n, n} }

// IsSquare reports whether all three matrices are square.
func (s Shape) IsSquare() bool { return s.M == s.N && s.N == s.K }

// Operations returns the number of multiplications and additions.
func (s Shape) Operations() float64 { return 2 * float64(s.M) * float64(s.N) * float64(s.K) }

// Rate returns the rate of a multiplication that takes ms milliseconds, in GFLOP/s.
func (s Shape) Rate(ms float64) float64 {
	if ms <= 0 {
		return 0
	}
	return s.Operations() / ms / 1e6
}

// String returns N of square matrices, and M×N×K of others.
func (s Shape) String() string {
	if s.IsSquare() {
		return strconv.Itoa(s.N)
	}
	return fmt.Sprintf("%d×%d×%d", s.M, s.N, s.K)
}

// ParseShape reads a shape as String returns it, also with x in place of ×.
func ParseShape(text string) (Shape, error) {
	parts := strings.Split(strings.ReplaceAll(strings.TrimSpace(text), "×", "x"), "x")
	numbers := make([]int, len(parts))
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || len(parts) != 1 && len(parts) != 3 {
			return Shape{}, fmt.Errorf("%s: want a size such as 1024, or three, M×N×K, such as 33x65x97", text)
		}
		numbers[i] = n
	}
	s := Square(numbers[0])
	if len(parts) == 3 {
		s = Shape{numbers[0], numbers[1], numbers[2]}
	}
	for _, pair := range [][2]int{{s.M, s.N}, {s.M, s.K}, {s.N, s.K}} {
		if pair[0] > (1<<31-1)/pair[1] {
			return Shape{}, fmt.Errorf("%s: the product of two sizes must be below 2³¹ (N at most %d)", text, MaxSize)
		}
	}
	return s, nil
}
