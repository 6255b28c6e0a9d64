package matmul

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/device"
)

// TestMain lets the tests open processes: they are this test binary, started again. The tests run on the stand-in, or with
// NDTUNE_TEST_OPENCL=system on the drivers of this system.
func TestMain(m *testing.M) {
	Main()
	standin.Use()
	os.Exit(m.Run()) // not standin.Main: an entrant is released with its process
}

// testDevice is the device that NDTUNE_TEST_DEVICE selects, else the first CPU, else any. Without a device a test is skipped, or
// fails where NDTUNE_REQUIRE_OPENCL is set.
func testDevice(t *testing.T) device.Listed {
	t.Helper()
	all, err := device.List()
	if err != nil {
		if os.Getenv("NDTUNE_REQUIRE_OPENCL") != "" {
			t.Fatalf("no OpenCL device: %v", err)
		}
		t.Skipf("no OpenCL device: %v", err)
	}
	selector := os.Getenv("NDTUNE_TEST_DEVICE")
	if selector == "" {
		if listed, err := device.Select(all, "cpu"); err == nil {
			return listed
		}
	}
	listed, err := device.Select(all, selector)
	if err != nil {
		t.Fatal(err)
	}
	return listed
}

// testLibraries are the places where the libraries of tests are looked for: a list of folders
// in NDTUNE_TEST_LIBRARIES, and wherever the system looks.
func testLibraries() []string { return filepath.SplitList(os.Getenv("NDTUNE_TEST_LIBRARIES")) }

// openLibraryEntrant opens a library, or skips the test if it is not installed.
func openLibraryEntrant[T any](t *testing.T, open func(Entrant) (T, error), e Entrant) T {
	t.Helper()
	e.Libraries = testLibraries()
	with, err := open(e)
	var missing *MissingError
	if errors.As(err, &missing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return with
}

func random(r *rand.Rand, n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(r.NormFloat64())
	}
	return values
}

// exact is A·B in double precision.
func exact(a, b []float32, m, n, k int) []float64 {
	c := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for p := range k {
				c[i*n+j] += float64(a[i*k+p]) * float64(b[p*n+j])
			}
		}
	}
	return c
}

// near fails where an element of c is further from want than rounding explains.
func near(t *testing.T, name string, c []float32, want []float64, k int) {
	t.Helper()
	allowed := Float.Tolerance(k)
	for i := range want {
		off := float64(c[i]) - want[i]
		if !(off <= allowed.Absolute && -off <= allowed.Absolute) {
			t.Fatalf("%s: element %d is %v, want %v", name, i, c[i], want[i])
		}
	}
}
