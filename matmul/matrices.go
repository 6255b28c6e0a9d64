package matmul

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
)

// MaxSize is the largest N: the bundled kernels use int for indices of elements, so N² must be below
// 2³¹.
const MaxSize = 46340

// Matrices holds the operands and the result of a multiplication of size N.
type Matrices struct {
	N       int
	A, B, C []float32 // row-major, N × N
}

// seed is the seed of all matrices: every entrant multiplies the same.
const seed = 1

// NewMatrices makes matrices of normally distributed numbers. C is full of NaNs, so that a check finds
// elements that were not written.
func NewMatrices(n int) *Matrices {
	m := &Matrices{N: n, A: make([]float32, n*n), B: make([]float32, n*n), C: make([]float32, n*n)}
	eachRow(n, func(i int) {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		for _, row := range [][]float32{m.A[i*n : (i+1)*n], m.B[i*n : (i+1)*n]} {
			for j := range row {
				row[j] = float32(r.NormFloat64())
			}
		}
	})
	m.spoil()
	return m
}

// spoil fills C with NaNs.
func (m *Matrices) spoil() {
	for i := range m.C {
		m.C[i] = float32(math.NaN())
	}
}

// A Tolerance bounds the effect of rounding on an element c of a result, by Absolute + Relative·|c|.
type Tolerance struct{ Absolute, Relative float64 }

// ToleranceFloat32 returns the tolerance of a multiplication in float32, derived in
// kernels/matmul/matmul_reference.yaml: the rounding errors of a sum of n normally distributed
// products, with a margin that no element of large matrices uses up.
func ToleranceFloat32(n int) Tolerance {
	return Tolerance{Absolute: 1e-6 * float64(n+16), Relative: 1e-6}
}

// ToleranceTF32 returns the tolerance of TF32, which keeps 10 bits of the fractions of A and B, and
// sums in float32. Truncation changes an element by at most a relative 2⁻¹⁰, and a product by twice
// that. A sum of n products changes by a relative 2⁻¹⁰, since all are truncated towards zero, and by
// a random walk of n steps with a standard deviation of 0.6·2⁻¹⁰ times a product of standard
// deviation 1; 8 standard deviations are 5·2⁻¹⁰·√n. For n = 4096 this is 0.3: the check finds a
// lost block of products, but not always a single lost product.
func ToleranceTF32(n int) Tolerance {
	t := ToleranceFloat32(n)
	return Tolerance{Absolute: t.Absolute + 5*0x1p-10*math.Sqrt(float64(n)), Relative: 0x1p-9}
}

// samples is the number of elements that Check computes.
const samples = 256

// Check compares C with A·B.
//
// It multiplies both by a vector x of random signs, in double precision (R. Freivalds, Fast
// probabilistic algorithms, MFCS 1979): C·x and A·(B·x) take 3·N² operations and involve every
// element of C. The errors of a row add up with random signs, so the tolerance of a sum is √N times
// that of an element. This finds blocks that were not computed, or were read from or written to a
// wrong place. To find errors of single elements, Check computes 256 dot products in double
// precision, with those of the corners.
func (m *Matrices) Check(t Tolerance) error {
	if err := m.checkRows(t); err != nil {
		return err
	}
	return m.checkSamples(t)
}

func (m *Matrices) checkRows(t Tolerance) error {
	n := m.N
	signs := rand.New(rand.NewPCG(seed, math.MaxUint64))
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(2*signs.IntN(2) - 1)
	}
	bx, want, got := make([]float64, n), make([]float64, n), make([]float64, n)
	eachRow(n, func(i int) { bx[i] = dot(m.B[i*n:(i+1)*n], x) })
	eachRow(n, func(i int) {
		want[i], got[i] = dot(m.A[i*n:(i+1)*n], bx), dot(m.C[i*n:(i+1)*n], x)
	})
	for i := range n {
		allowed := math.Sqrt(float64(n))*t.Absolute + t.Relative*math.Abs(want[i])
		if off := math.Abs(got[i] - want[i]); !(off <= allowed) {
			return fmt.Errorf("the result is wrong: the elements of row %d, summed with random signs, are %.6g and should be %.6g; rounding may do %.2g", i, got[i], want[i], allowed)
		}
	}
	return nil
}

func (m *Matrices) checkSamples(t Tolerance) error {
	n := m.N
	r := rand.New(rand.NewPCG(seed, math.MaxUint64-1))
	for s := range samples {
		i, j := r.IntN(n), r.IntN(n)
		if s < 4 {
			i, j = s/2*(n-1), s%2*(n-1)
		}
		want := 0.0
		for p := range n {
			want += float64(m.A[i*n+p]) * float64(m.B[p*n+j])
		}
		got, allowed := float64(m.C[i*n+j]), t.Absolute+t.Relative*math.Abs(want)
		if off := math.Abs(got - want); !(off <= allowed) {
			return fmt.Errorf("the result is wrong: the element in row %d, column %d is %.8g and should be %.8g; rounding may do %.2g", i, j, got, want, allowed)
		}
	}
	return nil
}

func dot(row []float32, x []float64) float64 {
	sum := 0.0
	for i, v := range row {
		sum += float64(v) * x[i]
	}
	return sum
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
