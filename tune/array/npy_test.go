package array

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/files"
)

// npyFile returns a file of version 1 with the given dict and data.
func npyFile(dict string, data []byte) []byte {
	b := append([]byte(npyMagic+"\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(b[8:], uint16(len(dict)))
	return append(append(b, dict...), data...)
}

func TestNPYThereAndBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	for _, c := range []struct {
		t           Type
		shape, want []int
	}{
		{Float32, []int{3, 4}, []int{3, 4}},
		{Float32, nil, []int{12}},
		{Float16, []int{12}, []int{12}},
		{Uint8, []int{2, 2, 3}, []int{2, 2, 3}},
		{Int64, []int{12, 1}, []int{12, 1}},
		{Float32.Vector(4), []int{6, 2}, []int{6, 2, 4}},
		{Float64.Vector(3), nil, []int{12, 4}},
	} {
		a := make1(t, Fill{Kind: Random}, c.t, 12, 1)
		if err := WriteNPY(path, a, c.shape); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if (len(file)-len(a.Bytes))%64 != 0 {
			t.Errorf("%v: the data begin at %d, no multiple of 64", c.t, len(file)-len(a.Bytes))
		}
		b, shape, err := ReadNPY(path)
		if err != nil || !slices.Equal(shape, c.want) || b.Type != c.t.Scalar() || !bytes.Equal(a.Bytes, b.Bytes) {
			t.Errorf("%v %v: %v, shape %v, %v", c.t, c.shape, b, shape, err)
		}
	}
	if err := WriteNPY(path, New(Float32, 1), []int{}); err != nil {
		t.Fatal(err)
	}
	if a, shape, err := ReadNPY(path); err != nil || len(shape) != 0 || a.Len() != 1 {
		t.Errorf("a single value: %v, %v, %v", a, shape, err)
	}
	for _, shape := range [][]int{{3}, {-1, -2}, {}, {1 << 40, 1 << 40}} {
		if err := WriteNPY(path, New(Float32, 2), shape); err == nil {
			t.Errorf("two elements are written with shape %v", shape)
		}
	}
}

func TestReadNPYHeaders(t *testing.T) {
	four := []byte{1, 0, 0, 0, 2, 0, 0, 0}
	for _, dict := range []string{
		"{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }   \n",
		`{"shape":(1,2),"fortran_order":False,"descr":"<i4"}`,
		" { 'descr' : '<i4' , 'fortran_order' : False , 'shape' : ( 2 , 1 , ) } ",
	} {
		file := npyFile(dict, four)
		a, _, err := readNPY(bytes.NewReader(file), int64(len(file)), &Array{})
		if err != nil || a.Type != Int32 || a.Float(1) != 2 {
			t.Errorf("%s: %v, %v", dict, a, err)
		}
	}
	v1 := npyFile("{'descr': '|u1', 'fortran_order': False, 'shape': (8,), }", four)
	v2 := append([]byte(npyMagic+"\x02\x00"), v1[8], v1[9], 0, 0)
	v2 = append(v2, v1[10:]...)
	if a, _, err := readNPY(bytes.NewReader(v2), int64(len(v2)), &Array{}); err != nil || a.Len() != 8 {
		t.Errorf("version 2: %v, %v", a, err)
	}
}

func TestReadNPYErrors(t *testing.T) {
	dict := func(descr, order, shape string) string {
		return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }"
	}
	data := make([]byte, 8)
	good := npyFile(dict("'<f4'", "False", "(2,)"), data)
	version3 := slices.Clone(good)
	version3[6] = 3
	for _, c := range []struct {
		file []byte
		want string
	}{
		{nil, "no .npy file"},
		{[]byte("PK\x03\x04 a zip"), "no .npy file"},
		{version3, "version 3.0"},
		{good[:9], "truncated in its header"},
		{good[:30], "truncated in its header"},
		{good[:len(good)-1], "truncated: a shape of [2] needs 8 bytes of data, it has 7"},
		{append(slices.Clone(good), 0), "too long"},
		{npyFile(dict("'<f4'", "True", "(2,)"), data), "Fortran order"},
		{npyFile(dict("'>f4'", "False", "(2,)"), data), "big-endian"},
		{npyFile(dict("'|O'", "False", "(1,)"), data), "Python objects"},
		{npyFile(dict("'|O8'", "False", "(1,)"), data), "Python objects"},
		{npyFile(dict("'<c8'", "False", "(1,)"), data), "complex"},
		{npyFile(dict("'|b1'", "False", "(8,)"), data), "uint8"},
		{npyFile(dict("'<U2'", "False", "(1,)"), data), "no number type"},
		{npyFile(dict("''", "False", "(1,)"), data), "no number type"},
		{npyFile(dict("[('a', '<f4'), ('b', '<f4')]", "False", "(1,)"), data), "structures"},
		{npyFile(dict("'<f4'", "False", "(9223372036854775807, 4)"), data), "too large"},
		{npyFile(dict("'<f4'", "False", "(9223372036854775807,)"), data), "too large"},
		{npyFile(dict("'<f4'", "False", "(99999999999999999999,)"), data), "too large"},
		{npyFile(dict("'<f4'", "False", "(1000000000000,)"), data), "truncated"},
		{npyFile(dict("'<f4'", "False", "(-2,)"), data), "is not {'descr'"},
		{npyFile(dict("'<f4'", "False", "(2"), data), "is not {'descr'"},
		{npyFile(dict("'<f4'", "False", "(2 3)"), data), "is not {'descr'"},
		{npyFile(dict("'<f4'", "0", "(2,)"), data), "is not {'descr'"},
		{npyFile("{'descr': '<f4', 'shape': (2,)}", data), "is not {'descr'"},
		{npyFile("{'descr': '<f4', 'descr': '<f4'}", data), "is not {'descr'"},
		{npyFile("{'descr': '<f4', 'other': '<f4'}", data), "is not {'descr'"},
		{npyFile("{'descr': '<f4", data), "is not {'descr'"},
		{npyFile("{'descr'", data), "is not {'descr'"},
		{npyFile("{", data), "is not {'descr'"},
		{npyFile("", data), "is not {'descr'"},
		{npyFile(dict("'<f4'", "False", "(2,)")+"x", data), "is not {'descr'"},
	} {
		path := filepath.Join(t.TempDir(), "a.npy")
		if err := os.WriteFile(path, c.file, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := ReadNPY(path)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v; want an error with the path and %q", c.file, err, c.want)
		}
	}
	if _, _, err := ReadNPY(filepath.Join(t.TempDir(), "none.npy")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func FuzzReadNPY(f *testing.F) {
	f.Add(npyFile("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", make([]byte, 8)))
	f.Add(npyFile("{'descr': '|u1', 'fortran_order': False, 'shape': (), }", []byte{1}))
	f.Add(npyFile("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (0, 3), }", nil))
	f.Add([]byte(npyMagic + "\x02\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, file []byte) {
		a, shape, err := readNPY(bytes.NewReader(file), int64(len(file)), &Array{})
		if err != nil {
			return
		}
		if n, ok := product(shape); !ok || n != a.Len() || len(a.Bytes) > len(file) {
			t.Fatalf("shape %v, %d elements from %d bytes", shape, a.Len(), len(file))
		}
		// What was read is written and read back as it is.
		header, err := npyHeader(a, shape)
		if err != nil {
			t.Fatal(err)
		}
		again := append([]byte(header), a.Bytes...)
		b, back, err := readNPY(bytes.NewReader(again), int64(len(again)), &Array{})
		if err != nil || !slices.Equal(shape, back) || b.Type != a.Type || !bytes.Equal(a.Bytes, b.Bytes) {
			t.Fatalf("%v comes back as %v, %v", shape, back, err)
		}
	})
}

// TestFilesInMemory: a large file below /dev/shm is mapped when it is read.
func TestFilesInMemory(t *testing.T) {
	folder, err := os.MkdirTemp("/dev/shm", "ndtune-test-")
	if runtime.GOOS != "linux" || err != nil {
		t.Skip("no files in memory: ", err)
	}
	defer os.RemoveAll(folder)
	defer files.Unmap()
	large := New(Uint32, 1<<18)
	large.Bytes[4] = 7
	write := func(path string, a *Array, shape ...int) string {
		if err := WriteNPY(path, a, shape); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := write(filepath.Join(folder, "a.npy"), large, 2, 1<<17)
	a, shape, err := ReadNPY(path)
	if err != nil || a.File != path || len(shape) != 2 || a.Len() != 1<<18 || scalars[uint32](a)[1] != 7 {
		t.Fatal(a.File, shape, a.Len(), err)
	}
	a.Bytes[4] = 8 // a copy of its page
	if b, _, err := ReadNPY(path); err != nil || b.Bytes[4] != 7 {
		t.Error("what was written to a mapped array is in the file", err)
	}
	write(path, New(Uint32, 1<<18)) // which replaces the file, and leaves the old one to those who have mapped it
	if a.Bytes[4] != 8 || a.Bytes[5] != 0 || scalars[uint32](a)[1] != 8 {
		t.Error("a mapped array changed with its file")
	}
	for _, path := range []string{write(filepath.Join(folder, "small.npy"), New(Uint32, 4)), write(filepath.Join(t.TempDir(), "a.npy"), large)} {
		if b, _, err := ReadNPY(path); err != nil || b.File != "" {
			t.Errorf("%s was mapped from %q, %v", path, b.File, err)
		}
	}
}
