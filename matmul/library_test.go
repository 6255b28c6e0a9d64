package matmul

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOpenBLASAnyShape calls the library with every argument in play: sizes that differ, and
// numbers other than 0 and 1 for the factors, which go by value.
func TestOpenBLASAnyShape(t *testing.T) {
	o := openLibraryEntrant(t, openOpenBLAS, Entrant{Kind: OpenBLAS})
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range shapes(r) {
		m, n, k := s[0], s[1], s[2]
		a, b, c := random(r, m*k), random(r, k*n), random(r, m*n)
		want := exact(a, b, m, n, k)
		for i := range want {
			want[i] = 2.5*want[i] - 0.25*float64(c[i])
		}
		o.sgemm(cblasRowMajor, cblasNoTrans, cblasNoTrans, int32(m), int32(n), int32(k), 2.5, a, int32(k), b, int32(n), -0.25, c, int32(n))
		near(t, fmt.Sprint(s), c, want, 4*k)
	}
}

// TestColumnMajor makes the call that cuBLAS gets, whose matrices are column-major, to OpenBLAS,
// which can take them so.
func TestColumnMajor(t *testing.T) {
	const cblasColumnMajor = 102
	o := openLibraryEntrant(t, openOpenBLAS, Entrant{Kind: OpenBLAS})
	r := rand.New(rand.NewPCG(5, 6))
	for _, s := range shapes(r) {
		m, n, k := s[0], s[1], s[2]
		a, b, c := random(r, m*k), random(r, k*n), random(r, m*n)
		g := columnMajor(m, n, k)
		o.sgemm(cblasColumnMajor, cblasNoTrans, cblasNoTrans, int32(g.m), int32(g.n), int32(g.k),
			1, b, int32(g.leadingB), a, int32(g.leadingA), 0, c, int32(g.leadingC))
		near(t, fmt.Sprint(s), c, exact(a, b, m, n, k), k)
	}
}

// TestLibraries measures with the libraries that are there, at sizes that fit nothing.
func TestLibraries(t *testing.T) {
	for _, e := range []Entrant{
		{Kind: OpenBLAS, Precision: Float}, {Kind: CuBLAS, Precision: Float}, {Kind: CuBLAS, Precision: TF32},
		{Kind: CuBLAS, Precision: Half}, {Kind: CuBLAS, Precision: Double},
	} {
		t.Run(string(e.Kind)+" "+string(e.Precision), func(t *testing.T) {
			with := openLibraryEntrant(t, open, e)
			t.Log(with.about)
			for _, s := range []Shape{Square(1), Square(17), Square(128), {333, 100, 65}} {
				e.Iterations, e.Errors = 3, true
				m, err := measure(e, with, s, Candidates{})
				if err != nil {
					t.Fatalf("%v: %v", s, err)
				}
				if len(m.Alone) < 3 || (len(m.RoundTrips) > 0) == e.OnCPU() || m.Time() <= 0 || m.Shape != s || len(m.Errors) != len(allData) {
					t.Errorf("%v: %+v", s, m)
				}
			}
		})
	}
}

// TestEnvironmentIsSaid: a library that the environment holds back says so.
func TestEnvironmentIsSaid(t *testing.T) {
	t.Setenv("OPENBLAS_CORETYPE", "Haswell")
	t.Setenv("OPENBLAS_NUM_THREADS", "")
	got := environmentOf("OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE")
	if got != "; set in the environment: OPENBLAS_CORETYPE=Haswell" {
		t.Errorf("%q", got)
	}
}

func TestMissingLibrary(t *testing.T) {
	_, err := librarySearch{names: []string{"libnosuch.so.1", "libnosuch.so"}}.open()
	if err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("%v", err)
	}
	// One that the user names is not passed over for one that the system has.
	broken := filepath.Join(t.TempDir(), "libopenblas.so.0")
	if err := os.WriteFile(broken, []byte("no library"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = librarySearch{[]string{"libopenblas.so.0"}, []string{filepath.Dir(broken)}}.open()
	if err == nil || errors.Is(err, errNotThere) || !strings.Contains(err.Error(), broken) {
		t.Errorf("a file that is no library: %v", err)
	}
}

// TestLibraryPlaces: a file, a folder, and the folder of pip's packages.
func TestLibraryPlaces(t *testing.T) {
	folder := t.TempDir()
	packed := filepath.Join(folder, "nvidia", "cublas", "lib")
	if err := os.MkdirAll(packed, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(folder, "liba.so.1"), filepath.Join(packed, "liba.so.2")} {
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"liba.so.2", "liba.so.1"}
	for _, test := range []struct {
		places, want []string
	}{
		{nil, nil},
		{[]string{folder}, []string{filepath.Join(packed, "liba.so.2"), filepath.Join(folder, "liba.so.1")}},
		{[]string{filepath.Join(folder, "liba.so.1")}, []string{filepath.Join(folder, "liba.so.1")}},
		{[]string{packed}, []string{filepath.Join(packed, "liba.so.2")}},
		{[]string{filepath.Join(folder, "libb.so.1")}, nil},
	} {
		if got := (librarySearch{names, test.places}).placed(); !slices.Equal(got, test.want) {
			t.Errorf("%v: %v, want %v", test.places, got, test.want)
		}
	}
}
