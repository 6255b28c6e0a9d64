package matmul

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// Multiply computes C = A·B on one thread: A is m × k, B is k × n, C is m × n, all row-major.
//
// It has the three nested loops of an introduction, in the order i, k, j. With the sum over k
// innermost, as in the formula, it would read B by columns, a cache line for each element. It is
// neither blocked nor vectorised (the Go compiler does not vectorise). It represents the loop that
// people write, not the speed of a CPU; OpenBLAS represents that.
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

// openblasNames returns the file names of OpenBLAS: of Debian, Fedora (with threads), Homebrew and
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

const installOpenBLAS = "Debian, Ubuntu: apt install libopenblas0; Fedora: dnf install openblas-threads; macOS: brew install openblas; " +
	"or name it with --library"

// Constants of cblas.h, the C interface to the BLAS (BLAS Technical Forum Standard, 2001).
const (
	cblasRowMajor = 101
	cblasNoTrans  = 111
)

// An openblas is the library OpenBLAS. It chooses its number of threads: all cores, unless the
// environment says otherwise (OPENBLAS_NUM_THREADS).
type openblas struct {
	about string
	sgemm func(
		order, transA, transB, m, n, k int32, alpha float32, a []float32, lda int32, b []float32, ldb int32,
		beta float32, c []float32, ldc int32,
	)
}

func openOpenBLAS(e Entrant) (*openblas, error) {
	found, err := librarySearch{openblasNames(), e.Libraries}.open()
	if err != nil {
		return nil, &MissingError{fmt.Sprintf("%v (%s)", err, installOpenBLAS)}
	}
	o := &openblas{}
	var threads func() int32
	var config func() string
	err = errors.Join(
		found.Bind(&o.sgemm, "cblas_sgemm"), found.Bind(&threads, "openblas_get_num_threads"), found.Bind(&config, "openblas_get_config"),
	)
	if err != nil {
		return nil, err
	}
	o.about = fmt.Sprintf("%d threads", threads())
	if threads() == 1 {
		o.about = "1 thread"
	}
	o.about += ", " + config() + ", " + found.Path +
		environmentOf("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
	return o, nil
}

func (o *openblas) multiplier() *multiplier {
	return onHost(o.about, func(m *Matrices) {
		n, k := int32(m.N), int32(m.K)
		o.sgemm(cblasRowMajor, cblasNoTrans, cblasNoTrans, int32(m.M), n, k, 1, floats(m.A), k, floats(m.B), n, 0, floats(m.C), n)
	})
}

// environmentOf returns a text about the environment variables that are set and change the speed of
// a library: a library that they slow down must not look like the library as installed.
func environmentOf(names ...string) string {
	text := ""
	for _, name := range names {
		if value := os.Getenv(name); value != "" {
			text += fmt.Sprintf("; set in the environment: %s=%s", name, value)
		}
	}
	return text
}
