package matmul

import (
	"bytes"
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
func right(s Shape) *Matrices {
	m := NewMatrices(s, Float)
	Multiply(floats(m.C), floats(m.A), floats(m.B), m.M, m.N, m.K)
	return m
}

func TestCheck(t *testing.T) {
	for _, s := range []Shape{Square(1), Square(2), Square(31), Square(200), {33, 65, 97}, {1, 300, 7}, {130, 1, 2}} {
		if err := right(s).Check(); err != nil {
			t.Errorf("%v: %v", s, err)
		}
	}
}

// TestCheckFinds: whatever a kernel does wrong, it is found.
func TestCheckFinds(t *testing.T) {
	const n = 200
	element := func(m *Matrices, i int) *float32 { return &floats(m.C)[i] }
	for name, spoil := range map[string]func(m *Matrices){
		"nothing computed":     func(m *Matrices) { m.spoil() },
		"one element missing":  func(m *Matrices) { *element(m, 57*n+11) = float32(math.NaN()) },
		"one element infinite": func(m *Matrices) { *element(m, 57*n+11) = float32(math.Inf(1)) },
		"one term missing":     func(m *Matrices) { *element(m, 57*n+11) -= floats(m.A)[57*n+3] * floats(m.B)[3*n+11] },
		"all zero":             func(m *Matrices) { clear(m.C) },
		"added twice":          func(m *Matrices) { change(m, func(_, _ int, c *float32) { *c *= 2 }) },
		"transposed": func(m *Matrices) {
			for i := range n {
				for j := range i {
					c := floats(m.C)
					c[i*n+j], c[j*n+i] = c[j*n+i], c[i*n+j]
				}
			}
		},
		"operands exchanged":  func(m *Matrices) { Multiply(floats(m.C), floats(m.B), floats(m.A), n, n, n) },
		"last column missing": func(m *Matrices) { change(m, func(_, j int, c *float32) { *c *= float32(min(1, n-1-j)) }) },
		"last term missing": func(m *Matrices) {
			change(m, func(i, j int, c *float32) { *c -= floats(m.A)[i*n+n-1] * floats(m.B)[(n-1)*n+j] })
		},
		"a row of B for other": func(m *Matrices) {
			change(m, func(i, j int, c *float32) { *c += floats(m.A)[i*n+5] * (floats(m.B)[6*n+j] - floats(m.B)[5*n+j]) })
		},
	} {
		m := right(Square(n))
		spoil(m)
		if err := m.Check(); err == nil {
			t.Errorf("%s: not found", name)
		}
	}
}

func change(m *Matrices, do func(i, j int, c *float32)) {
	for i := range m.N {
		for j := range m.N {
			do(i, j, &floats(m.C)[i*m.N+j])
		}
	}
}

// cut is a number as TF32 has it, cut off at 10 bits of its fraction.
func cut(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1<<13 - 1)) }

func TestToleranceTF32(t *testing.T) {
	for _, n := range []int{16, 64, 300} {
		m := NewMatrices(Square(n), TF32)
		a, b := make([]float32, n*n), make([]float32, n*n)
		for i := range a {
			a[i], b[i] = cut(floats(m.A)[i]), cut(floats(m.B)[i])
		}
		Multiply(floats(m.C), a, b, n, n, n)
		if err := m.Check(); err != nil {
			t.Errorf("N = %d: %v", n, err)
		}
		m.Precision = Float
		if err := m.Check(); err == nil {
			t.Errorf("N = %d: TF32 passes for float", n)
		}
		m.Precision = TF32
		change(m, func(i, j int, c *float32) { // 8 terms less
			for p := range 8 {
				*c -= floats(m.A)[i*n+p] * floats(m.B)[p*n+j]
			}
		})
		if err := m.Check(); err == nil {
			t.Errorf("N = %d: 8 terms are missing, which is not found", n)
		}
	}
}

func TestMatricesAreTheSameForAll(t *testing.T) {
	x, y := NewMatrices(Square(70), Float), NewMatrices(Square(70), TF32)
	sum := 0.0
	if !bytes.Equal(x.A, y.A) || !bytes.Equal(x.B, y.B) {
		t.Error("they differ")
	}
	for i, v := range floats(x.A) {
		if c := floats(x.C)[i]; c == c {
			t.Fatalf("element %d of C is %v, not NaN", i, c)
		}
		sum += float64(v) * float64(v)
	}
	if variance := sum / float64(70*70); variance < 0.9 || variance > 1.1 {
		t.Errorf("A has the variance %v", variance)
	}
}

// TestPrecisions: a result of sums in double, rounded to the elements, passes in every precision, and one with an error of
// a term does not. The errors are those of rounding, and of the term.
func TestPrecisions(t *testing.T) {
	s := Shape{20, 30, 40}
	for _, p := range []Precision{Half, TF32, Float, Double} {
		for _, d := range allData {
			m := NewMatrices(s, p)
			m.Fill(d)
			for i := range s.M {
				for j := range s.N {
					sum, _ := dot(m.rowOfA(i), m.columnOfB(j))
					m.element.put(m.at(m.C, i*s.N+j), sum)
				}
			}
			if err := m.Check(); err != nil && d == Normal {
				t.Errorf("%s: %v", p, err)
			}
			unit := map[Precision]float64{Half: 0x1p-11, TF32: 0x1p-24, Float: 0x1p-24, Double: 0x1p-53}[p]
			if e := m.Errors(); e.Max > unit || e.RMS > e.Max || p == Half && e.RMS < unit/100 {
				t.Errorf("%s: %+v", p, e)
			}
			at := m.at(m.C, 7*s.N+7)
			a, b := m.rowOfA(7), m.columnOfB(7)
			m.element.put(at, m.element.get(at)-a[3]*b[3])
			if err := m.Check(); err == nil && d == Normal {
				t.Errorf("%s: a missing term is not found", p)
			}
			_, magnitude := dot(a, b)
			want := math.Abs(a[3]*b[3]) / magnitude
			if e := m.Errors(); math.Abs(e.Max-want) > 2*unit || math.Abs(e.RMS-want/math.Sqrt(600)) > 2*unit {
				t.Errorf("%s, %s: %+v, want %v", p, d, e, want)
			}
			m.spoil()
			if e := m.Errors(); !math.IsNaN(e.Max) || !math.IsNaN(e.RMS) {
				t.Errorf("%s, %s: the errors of NaN are %+v", p, d, e)
			}
		}
	}
}

// TestDot sums products that cancel out in double precision.
func TestDot(t *testing.T) {
	sum, magnitude := dot([]float64{1e17, 1, -1e17, 1 + 0x1p-30}, []float64{1, 1, 1, 1 + 0x1p-30})
	if want := 2 + 0x1p-29; sum != want || magnitude < 2e17 {
		t.Errorf("%v, %v, want %v", sum, magnitude, want)
	}
}

func TestParseShape(t *testing.T) {
	for text, want := range map[string]Shape{"64": Square(64), " 33x65x97": {33, 65, 97}, "1×4096×4096": {1, 4096, 4096}, "46340": Square(46340)} {
		if s, err := ParseShape(text); err != nil || s != want {
			t.Errorf("%s: %v, %v", text, s, err)
		}
		if s, err := ParseShape(want.String()); err != nil || s != want {
			t.Errorf("%v: %v, %v", want, s, err)
		}
	}
	for _, text := range []string{"", "0", "-3", "4x4", "4x4x", "4x4x0", "1x2x3x4", "46341", "65536x32768x1", "1x65536x32768", "64.5"} {
		if s, err := ParseShape(text); err == nil {
			t.Errorf("%q is %v", text, s)
		}
	}
}
