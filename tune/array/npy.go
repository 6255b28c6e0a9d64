package array

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/files"
)

// A .npy file (NumPy Enhancement Proposal 1) consists of the magic string, a
// version of two bytes, the length of the header (2 bytes in version 1, 4 in
// version 2), the header, which is a Python dict as text, padded to a multiple of
// 64 bytes, and the data.
const npyMagic = "\x93NUMPY"

// maxNPYHeader is the largest header that is read, in bytes.
const maxNPYHeader = 1 << 16

// ReadNPY reads a NumPy .npy file of version 1 or 2 and returns its data as
// scalars, in C order, with their shape, which is empty for a single value. Use
// [Array.As] to make vectors of the scalars.
//
// It is an error, which states the reason, if the array is in Fortran order or
// big-endian, if its elements are objects, structures, strings, complex numbers
// or bool, or if the file holds less or more data than its shape says.
func ReadNPY(path string) (a *Array, shape []int, err error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read .npy file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("read .npy file: %w", err)
	}
	if a, shape, err = readNPY(bufio.NewReader(f), info.Size(), &Array{Bytes: files.Map(f, info.Size()), File: path}); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", path, err)
	}
	return a, shape, nil
}

// readNPY reads a file of size bytes. If mapped has any, they are the content of the file.
func readNPY(r io.Reader, size int64, mapped *Array) (*Array, []int, error) {
	text, start, err := readNPYHeader(r)
	if err != nil {
		return nil, nil, err
	}
	h, err := parseNPYHeader(text)
	if err != nil {
		return nil, nil, fmt.Errorf("header: %w", err)
	}
	t, err := parseDescr(h.descr)
	if err != nil {
		return nil, nil, err
	}
	if h.fortran {
		return nil, nil, errors.New("the array is in Fortran order; save it in C order (numpy.ascontiguousarray)")
	}
	n, ok := product(h.shape)
	if !ok || n > math.MaxInt/t.Size() {
		return nil, nil, fmt.Errorf("a shape of %v is too large", h.shape)
	}
	// Checked before the allocation: a damaged header must not exhaust the memory.
	switch need, have := int64(n*t.Size()), size-start; {
	case have < need:
		return nil, nil, fmt.Errorf("the file is truncated: a shape of %v needs %d bytes of data, it has %d", h.shape, need, max(0, have))
	case have > need:
		return nil, nil, fmt.Errorf("the file is too long: a shape of %v needs %d bytes of data, it has %d", h.shape, need, have)
	}
	if mapped.Bytes != nil && start%64 == 0 { // as the format wants it
		return &Array{Type: t, Bytes: mapped.Bytes[start:], File: mapped.File}, h.shape, nil
	}
	a := New(t, n)
	if _, err := io.ReadFull(r, a.Bytes); err != nil {
		return nil, nil, fmt.Errorf("data: %w", err)
	}
	return a, h.shape, nil
}

// readNPYHeader returns the header and the offset of the data in bytes.
func readNPYHeader(r io.Reader) (text string, start int64, err error) {
	var prefix [8]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil || string(prefix[:6]) != npyMagic {
		return "", 0, errors.New("it is no .npy file: it does not begin with \\x93NUMPY")
	}
	sizeBytes := 2
	switch version := prefix[6]; version {
	case 1:
	case 2:
		sizeBytes = 4
	default:
		return "", 0, fmt.Errorf("unknown version %d.%d of the format; versions 1 and 2 are known", version, prefix[7])
	}
	var count [4]byte
	if _, err := io.ReadFull(r, count[:sizeBytes]); err != nil {
		return "", 0, errors.New("the file is truncated in its header")
	}
	n := binary.LittleEndian.Uint32(count[:])
	if n > maxNPYHeader {
		return "", 0, fmt.Errorf("a header of %d bytes is too long (%d are allowed)", n, maxNPYHeader)
	}
	header := make([]byte, n)
	if _, err := io.ReadFull(r, header); err != nil {
		return "", 0, errors.New("the file is truncated in its header")
	}
	return string(header), int64(8 + sizeBytes + len(header)), nil
}

// WriteNPY writes a to a .npy file of version 1. The shape counts elements; nil
// means one dimension. For vectors, the shape in the file has one more dimension,
// the lanes in memory: 4 for 3-vectors.
func WriteNPY(path string, a *Array, shape []int) error {
	header, err := npyHeader(a, shape)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	err = files.Write(path, func(w io.Writer) error {
		_, err := io.Copy(w, io.MultiReader(strings.NewReader(header), bytes.NewReader(a.Bytes)))
		return err
	})
	if err != nil {
		return fmt.Errorf("write .npy file: %w", err)
	}
	return nil
}

// npyHeader returns the file's content up to the data.
func npyHeader(a *Array, shape []int) (string, error) {
	if err := a.check(); err != nil {
		return "", err
	}
	if shape == nil {
		shape = []int{a.Len()}
	}
	if n, ok := product(shape); !ok || n != a.Len() {
		return "", fmt.Errorf("a shape of %v does not fit %d elements", shape, a.Len())
	}
	if a.Type.stride() > 1 {
		shape = append(slices.Clip(shape), a.Type.stride())
	}
	tuple := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", ", ")
	if len(shape) == 1 {
		tuple += "," // (3,), but (3, 4)
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr(a.Type.Scalar()), tuple)
	const prefix = len(npyMagic) + 4
	dict += strings.Repeat(" ", 63-(prefix+len(dict))%64) + "\n"
	if len(dict) > math.MaxUint16 {
		return "", fmt.Errorf("a shape of %d dimensions is too long for a header", len(shape))
	}
	return npyMagic + "\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(dict)))) + dict, nil
}

// descr returns NumPy's name of a scalar type in .npy files: <f4, |u1.
func descr(t Type) string {
	order, kind := "<", "u"
	switch {
	case t.isFloat():
		kind = "f"
	case t.isSigned():
		kind = "i"
	}
	if t.Size() == 1 {
		order = "|"
	}
	return order + kind + strconv.Itoa(t.Size())
}

func parseDescr(s string) (Type, error) {
	order, kind := "", s
	if s != "" && strings.Contains("<>|=", s[:1]) {
		order, kind = s[:1], s[1:]
	}
	for t := Int8; t <= Float64; t++ {
		if descr(t)[1:] != kind {
			continue
		}
		if order == ">" && t.Size() > 1 {
			return 0, fmt.Errorf("the numbers (%s) are big-endian; save them little-endian (a.astype(%q))", s, "<"+kind)
		}
		return t, nil
	}
	switch {
	case strings.HasPrefix(kind, "O"):
		return 0, errors.New("the array holds Python objects, not numbers")
	case kind == "b1":
		return 0, errors.New("the array holds bool; save it as uint8")
	case strings.HasPrefix(kind, "c"):
		return 0, fmt.Errorf("the array holds complex numbers (%s); save them as pairs of floats (a.view(float32))", s)
	}
	return 0, fmt.Errorf("the array holds %q, which is no number type of OpenCL", s)
}

// product returns the number of elements of a shape; ok is false if it overflows
// or a dimension is negative.
func product(shape []int) (n int, ok bool) {
	n = 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > math.MaxInt/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// npyDict is the header of a .npy file.
type npyDict struct {
	descr   string
	fortran bool
	shape   []int
}

// The entries of the Python dict in a header, such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
var (
	npyStructs = regexp.MustCompile(`['"]descr['"]\s*:\s*\[`)
	npyEntries = []*regexp.Regexp{
		regexp.MustCompile(`['"](descr)['"]\s*:\s*['"]([^'"\\]*)['"]\s*[,}]`),
		regexp.MustCompile(`['"](fortran_order)['"]\s*:\s*(True|False)\s*[,}]`),
		regexp.MustCompile(`['"](shape)['"]\s*:\s*\(((?:\s*\d+\s*,)*\s*\d*\s*)\)\s*[,}]`),
	}
)

// parseNPYHeader parses a header. Each of its three keys must be there once, in any order, and nothing else.
func parseNPYHeader(text string) (d npyDict, err error) {
	if npyStructs.MatchString(text) {
		return d, errors.New("the array holds structures (a list of fields), not numbers")
	}
	values, rest := map[string]string{}, text
	for _, entry := range npyEntries {
		if found := entry.FindStringSubmatch(rest); found != nil {
			values[found[1]] = found[2]
			rest = strings.Replace(rest, found[0], "", 1)
		}
	}
	if len(values) < len(npyEntries) || strings.Trim(rest, "{}, \t\r\n") != "" {
		return d, fmt.Errorf("%q is not {'descr': '…', 'fortran_order': True or False, 'shape': (…)}", excerpt.Of(text))
	}
	d = npyDict{descr: values["descr"], fortran: values["fortran_order"] == "True", shape: []int{}}
	for length := range strings.FieldsFuncSeq(values["shape"], func(c rune) bool { return !unicode.IsDigit(c) }) {
		n, err := strconv.Atoi(length)
		if err != nil {
			return d, fmt.Errorf("the length %s is too large", length)
		}
		d.shape = append(d.shape, n)
	}
	return d, nil
}
