package matmul

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// shapes are m, n, k: the smallest, thin ones, and some at random.
func shapes(r *rand.Rand) [][3]int {
	all := [][3]int{{1, 1, 1}, {1, 7, 1}, {7, 1, 3}, {1, 1, 50}, {2, 3, 4}, {33, 17, 65}}
	for range 20 {
		all = append(all, [3]int{1 + r.IntN(40), 1 + r.IntN(40), 1 + r.IntN(40)})
	}
	return all
}

func TestMultiply(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range shapes(r) {
		m, n, k := s[0], s[1], s[2]
		a, b, c := random(r, m*k), random(r, k*n), random(r, m*n) // C is not zero before
		Multiply(c, a, b, m, n, k)
		near(t, fmt.Sprint(s), c, exact(a, b, m, n, k), k)
	}
}

// right are matrices with the result of the loop.
func right(n int) *Matrices {
	m := NewMatrices(n)
	Multiply(m.C, m.A, m.B, n, n, n)
	return m
}

func TestCheck(t *testing.T) {
	for _, n := range []int{1, 2, 3, 31, 64, 200} {
		if err := right(n).Check(ToleranceFloat32(n)); err != nil {
			t.Errorf("N = %d: %v", n, err)
		}
	}
}

// TestCheckFinds: whatever a kernel does wrong, it is found.
func TestCheckFinds(t *testing.T) {
	const n = 200
	for name, spoil := range map[string]func(m *Matrices){
		"nothing computed":     func(m *Matrices) { m.spoil() },
		"one element missing":  func(m *Matrices) { m.C[57*n+11] = float32(math.NaN()) },
		"one element infinite": func(m *Matrices) { m.C[57*n+11] = float32(math.Inf(1)) },
		"one term missing":     func(m *Matrices) { m.C[57*n+11] -= m.A[57*n+3] * m.B[3*n+11] },
		"all zero":             func(m *Matrices) { clear(m.C) },
		"added twice":          func(m *Matrices) { each(m, func(_, _ int, c *float32) { *c *= 2 }) },
		"transposed": func(m *Matrices) {
			for i := range n {
				for j := range i {
					m.C[i*n+j], m.C[j*n+i] = m.C[j*n+i], m.C[i*n+j]
				}
			}
		},
		"operands exchanged":  func(m *Matrices) { Multiply(m.C, m.B, m.A, n, n, n) },
		"last column missing": func(m *Matrices) { each(m, func(_, j int, c *float32) { *c *= float32(min(1, n-1-j)) }) },
		"last term missing":   func(m *Matrices) { each(m, func(i, j int, c *float32) { *c -= m.A[i*n+n-1] * m.B[(n-1)*n+j] }) },
		"a row of B for other": func(m *Matrices) {
			each(m, func(i, j int, c *float32) { *c += m.A[i*n+5] * (m.B[6*n+j] - m.B[5*n+j]) })
		},
	} {
		m := right(n)
		spoil(m)
		if err := m.Check(ToleranceFloat32(n)); err == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

func each(m *Matrices, do func(i, j int, c *float32)) {
	for i := range m.N {
		for j := range m.N {
			do(i, j, &m.C[i*m.N+j])
		}
	}
}

// cut is a number as TF32 has it, cut off at 10 bits of its fraction.
func cut(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1<<13 - 1)) }

func TestToleranceTF32(t *testing.T) {
	for _, n := range []int{16, 64, 300} {
		m := NewMatrices(n)
		a, b := make([]float32, n*n), make([]float32, n*n)
		for i := range a {
			a[i], b[i] = cut(m.A[i]), cut(m.B[i])
		}
		Multiply(m.C, a, b, n, n, n)
		if err := m.Check(ToleranceTF32(n)); err != nil {
			t.Errorf("N = %d: %v", n, err)
		}
		if err := m.Check(ToleranceFloat32(n)); err == nil {
			t.Errorf("N = %d: TF32 passes for float32", n)
		}
		each(m, func(i, j int, c *float32) { // 8 terms less
			for p := range 8 {
				*c -= m.A[i*n+p] * m.B[p*n+j]
			}
		})
		if err := m.Check(ToleranceTF32(n)); err == nil {
			t.Errorf("N = %d: 8 terms are missing, which is not found", n)
		}
	}
}

func TestMatricesAreTheSameForAll(t *testing.T) {
	x, y := NewMatrices(70), NewMatrices(70)
	sum := 0.0
	for i := range x.A {
		if x.A[i] != y.A[i] || x.B[i] != y.B[i] {
			t.Fatalf("element %d differs", i)
		}
		if x.C[i] == x.C[i] {
			t.Fatalf("element %d of C is %v, not NaN", i, x.C[i])
		}
		sum += float64(x.A[i]) * float64(x.A[i])
	}
	if variance := sum / float64(len(x.A)); variance < 0.9 || variance > 1.1 {
		t.Errorf("A has the variance %v", variance)
	}
}
