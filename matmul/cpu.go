package matmul

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

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

// openblasNames are the file names of OpenBLAS: of Debian, Fedora (with threads), Homebrew and
// the project's own builds.
func openblasNames() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"libopenblas.dylib", "/opt/homebrew/opt/openblas/lib/libopenblas.dylib", "/usr/local/opt/openblas/lib/libopenblas.dylib"}
	case "windows":
		return []string{"libopenblas.dll", "openblas.dll"}
	}
	return []string{"libopenblas.so.0", "libopenblasp.so.0", "libopenblas.so"}
}

const installOpenBLAS = "Debian, Ubuntu: apt install libopenblas0; Fedora: dnf install openblas-threads; macOS: brew install openblas; or name it with --library"

// The values of cblas.h, of the C interface to the BLAS (BLAS Technical Forum Standard, 2001).
const (
	cblasRowMajor = 101
	cblasNoTrans  = 111
)

// An openblas is the library OpenBLAS, whose threads are as many as it takes by itself: all
// cores, unless the environment says otherwise (OPENBLAS_NUM_THREADS).
type openblas struct {
	path string

	sgemm func(order, transA, transB, m, n, k int32, alpha float32, a []float32, lda int32, b []float32, ldb int32, beta float32, c []float32, ldc int32)

	threads func() int32
	config  func() string
}

func openOpenBLAS(e Entrant) (multiplier, error) {
	handle, path, err := librarySearch{openblasNames(), e.Libraries}.open()
	if err != nil {
		return nil, &MissingError{fmt.Sprintf("%v (%s)", err, installOpenBLAS)}
	}
	o := &openblas{path: path}
	return o, bind(handle, path, map[string]any{
		"cblas_sgemm": &o.sgemm, "openblas_get_num_threads": &o.threads, "openblas_get_config": &o.config,
	})
}

func (o *openblas) about() string {
	text := fmt.Sprintf("%d threads", o.threads())
	if o.threads() == 1 {
		text = "1 thread"
	}
	return text + ", " + o.config() + ", " + o.path + environmentOf("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
}

// environmentOf says which variables are set that change how fast a library is: a comparison
// with one that is held back by them must not pass for one with the library as it comes.
func environmentOf(names ...string) string {
	text := ""
	for _, name := range names {
		if value := os.Getenv(name); value != "" {
			text += fmt.Sprintf("; set in the environment: %s=%s", name, value)
		}
	}
	return text
}

func (o *openblas) tolerance(n int) Tolerance { return ToleranceFloat32(n) }

func (o *openblas) prepare(m *Matrices, _ []string) (prepared, error) {
	n := int32(m.N)
	return onHost{func() {
		o.sgemm(cblasRowMajor, cblasNoTrans, cblasNoTrans, n, n, n, 1, m.A, n, m.B, n, 0, m.C, n)
	}}, nil
}
