package array

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/regular"
)

// The layout of a .npy file (NumPy Enhancement Proposal 1): the magic string, a
// version of two bytes, the length of the header (2 bytes in version 1, 4 in
// version 2), a Python dict as text, padded to a multiple of 64, the data.
const npyMagic = "\x93NUMPY"

// maxNPYHeader bounds what is read before the header is known to be one.
const maxNPYHeader = 1 << 16

// ReadNPY reads a NumPy .npy file, version 1 or 2, in C order and
// little-endian, and returns its data as scalars with their shape (no
// dimension for a single value; [Array.As] makes vectors of scalars). Everything else is
// refused with the reason: Fortran order, big-endian numbers, objects,
// structures, strings, complex numbers, bool, files that hold less or more
// than their shape says.
func ReadNPY(path string) (a *Array, shape []int, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("read .npy file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("read .npy file: %w", err)
	}
	a, shape, err = readNPY(bufio.NewReader(f), info.Size())
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", path, err)
	}
	return a, shape, nil
}

// readNPY reads a file of the given size.
func readNPY(r io.Reader, size int64) (*Array, []int, error) {
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
	// Compared before memory is taken: a broken header must not ask for all of it.
	switch need, have := int64(n*t.Size()), size-start; {
	case have < need:
		return nil, nil, fmt.Errorf("the file is truncated: a shape of %v needs %d bytes of data, it has %d", h.shape, need, max(0, have))
	case have > need:
		return nil, nil, fmt.Errorf("the file is too long: a shape of %v needs %d bytes of data, it has %d", h.shape, need, have)
	}
	a := New(t, n)
	if _, err := io.ReadFull(r, a.Bytes); err != nil {
		return nil, nil, fmt.Errorf("data: %w", err)
	}
	return a, h.shape, nil
}

// readNPYHeader returns the dict as text, and where the data begin.
func readNPYHeader(r io.Reader) (text string, start int64, err error) {
	var prefix [8]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil || string(prefix[:6]) != npyMagic {
		return "", 0, errors.New("it is no .npy file: it does not begin with the word NUMPY")
	}
	sizeBytes := 2
	switch version := prefix[6]; version {
	case 1:
	case 2:
		sizeBytes = 4
	default:
		return "", 0, fmt.Errorf("version %d.%d of the format is not known, only 1 and 2", version, prefix[7])
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

// WriteNPY writes a as a .npy file of version 1, readable by numpy.load. The
// shape counts elements; nil stands for one dimension of all. Vectors get one
// more dimension with their lanes as in memory: 4 for 3-vectors.
func WriteNPY(path string, a *Array, shape []int) error {
	header, err := npyHeader(a, shape)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write .npy file: %w", err)
	}
	defer f.Close() // for the returns in between; the second Close does no harm
	if _, err := f.WriteString(header); err != nil {
		return fmt.Errorf("write .npy file: %w", err)
	}
	if _, err := f.Write(a.Bytes); err != nil {
		return fmt.Errorf("write .npy file: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("write .npy file: %w", err)
	}
	return nil
}

// npyHeader returns all that stands before the data.
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
	var dims strings.Builder
	for _, n := range shape {
		fmt.Fprintf(&dims, "%d, ", n)
	}
	if a.Type.stride() > 1 {
		fmt.Fprintf(&dims, "%d, ", a.Type.stride())
	}
	list := dims.String()
	if strings.Count(list, ",") > 1 { // (3,) keeps its comma, (3, 4) has none at the end
		list = strings.TrimSuffix(list, ", ")
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr(a.Type.Scalar()), strings.TrimSpace(list))
	const prefix = len(npyMagic) + 4
	dict += strings.Repeat(" ", 63-(prefix+len(dict))%64) + "\n"
	if len(dict) > math.MaxUint16 {
		return "", fmt.Errorf("a shape of %d dimensions is too long for a header", len(shape))
	}
	return npyMagic + "\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(dict)))) + dict, nil
}

// descr returns NumPy's short name of a scalar type: <f4, |u1.
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
	return 0, fmt.Errorf("the array holds %q, which is no number type of an OpenCL kernel", s)
}

// product returns the elements of a shape; not ok when it overflows or a
// dimension is negative.
func product(shape []int) (n int, ok bool) {
	total := uint64(1)
	for _, d := range shape {
		if d < 0 {
			return 0, false
		}
		high, low := bits.Mul64(total, uint64(d))
		if high != 0 || low > math.MaxInt {
			return 0, false
		}
		total = low
	}
	return int(total), true
}
