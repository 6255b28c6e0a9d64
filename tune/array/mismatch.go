package array

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Mismatch says where and by how much an output differs from its reference.
// Indices count scalars in memory, as in [Array.Float].
type Mismatch struct {
	First     int     // index of the first scalar that differs
	Got, Want float64 // its values in the output and in the reference
	Error     float64 // |Got − Want|; +Inf when either is NaN or infinite
	Bound     float64 // the error allowed there, atol + rtol·|Want|
	Count     int     // scalars that differ, of Total
	Total     int
	MaxError  float64 // the largest error of those that differ
	MaxIndex  int     // where it is
	Type      Type    // the element type of both arrays

	got, want string // as their type prints them: 0.1 for the float32 0.100000001490116
}

// String says it in one line: element 1234: got 3.5, want 3.25 (off by 0.25,
// tolerance 0.0001); 17 of 4096 elements differ, the largest error is 0.5 at 2000.
func (m *Mismatch) String() string {
	var b strings.Builder
	got, want := m.got, m.want
	if got == "" || want == "" {
		got, want = short(m.Got), short(m.Want)
	}
	fmt.Fprintf(&b, "element %s: got %s, want %s", m.place(m.First), got, want)
	if math.IsInf(m.Error, 0) {
		fmt.Fprintf(&b, "; ")
	} else {
		fmt.Fprintf(&b, " (off by %s, tolerance %s); ", short(m.Error), short(m.Bound))
	}
	unit := "elements"
	if m.Type.Lanes() > 1 {
		unit = "components"
	}
	differ := "differ"
	if m.Count == 1 {
		differ = "differs"
	}
	fmt.Fprintf(&b, "%d of %d %s %s", m.Count, m.Total, unit, differ)
	switch {
	case m.Count == 1, math.IsInf(m.Error, 0): // the element named first says it
	case math.IsInf(m.MaxError, 0):
		fmt.Fprintf(&b, ", NaN or infinite at %s", m.place(m.MaxIndex))
	default:
		fmt.Fprintf(&b, ", the largest error is %s at %s", short(m.MaxError), m.place(m.MaxIndex))
	}
	return b.String()
}

// place names scalar i: 12 in an array of scalars, 3.s0 in one of 4-vectors.
func (m *Mismatch) place(i int) string {
	if m.Type.Lanes() == 1 {
		return strconv.Itoa(i)
	}
	stride := m.Type.stride()
	return fmt.Sprintf("%d.s%x", i/stride, i%stride)
}

func short(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// add counts one more scalar that differs.
func (m *Mismatch) add(index int, err float64) {
	m.merge(Mismatch{First: index, Error: err, Count: 1, MaxError: err, MaxIndex: index})
}

// merge adds what was found in another part of the arrays. Parts may come in any
// order: of equal errors the first is kept.
func (m *Mismatch) merge(o Mismatch) {
	switch {
	case o.Count == 0:
		return
	case m.Count == 0:
		*m = o
		return
	}
	m.Count += o.Count
	if o.First < m.First {
		m.First, m.Error = o.First, o.Error
	}
	if o.MaxError > m.MaxError || o.MaxError == m.MaxError && o.MaxIndex < m.MaxIndex {
		m.MaxError, m.MaxIndex = o.MaxError, o.MaxIndex
	}
}

// describe fills in the values at the first difference.
func (m *Mismatch) describe(out, ref *Array, limit tolerance) {
	m.Got, m.Want = out.Float(m.First), ref.Float(m.First)
	m.Bound = limit.bound(m.Want)
	m.got, m.want = out.text(m.First), ref.text(m.First)
}

// text returns scalar i as its type prints it, in full.
func (a *Array) text(i int) string {
	s := a.Type.Scalar()
	bits := getBits(a.Bytes[i*s.Size():], s.Size())
	switch {
	case s == Float64:
		return strconv.FormatFloat(s.decode(bits), 'g', -1, 64)
	case s.isFloat():
		return strconv.FormatFloat(s.decode(bits), 'g', -1, 32)
	case s == Uint64:
		return strconv.FormatUint(bits, 10)
	case s == Int64:
		return strconv.FormatInt(int64(bits), 10)
	}
	return strconv.FormatInt(int64(s.decode(bits)), 10)
}
