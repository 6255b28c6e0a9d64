package matmul

import "time"

// Multiply computes C = A·B on one thread: A is m × k, B is k × n, C is m × n, all row-major.
//
// It is the three nested loops of any introduction, in the order i, k, j: with the sum over k
// innermost, as the formula has it, B would be read down its columns, a cache line for each
// element. It is neither blocked nor vectorised (the Go compiler does not vectorise), so that
// it stands for a loop as one writes it, not for what a CPU can do; OpenBLAS does that.
func Multiply(c, a, b []float32, m, n, k int) {
	for i := range m {
		row := c[i*n : (i+1)*n]
		clear(row)
		for p := range k {
			factor := a[i*k+p]
			for j, v := range b[p*n : (p+1)*n] {
				row[j] += factor * v
			}
		}
	}
}

// A loop is Multiply as an entrant.
type loop struct{}

func (loop) about() string             { return "one thread" }
func (loop) tolerance(n int) Tolerance { return ToleranceFloat32(n) }

func (loop) prepare(m *Matrices, _ []string) (prepared, error) {
	return onHost{func() { Multiply(m.C, m.A, m.B, m.N, m.N, m.N) }}, nil
}

// An onHost is a multiplication on the CPU.
type onHost struct{ multiply func() }

func (h onHost) run(times int) ([]float64, error) {
	took := make([]float64, times)
	for i := range took {
		began := time.Now()
		h.multiply()
		took[i] = milliseconds(time.Since(began))
	}
	return took, nil
}

func (h onHost) roundTrip() (float64, error) { panic("matmul: a round trip on the CPU") }
func (h onHost) fetch() error                { return nil }
func (h onHost) configuration() string       { return "" }
func (h onHost) hostTimer() bool             { return false } // it is the only clock there is
func (h onHost) close()                      {}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
