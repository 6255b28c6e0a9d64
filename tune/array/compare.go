package array

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
)

// Compare returns nil if every scalar of out is close to the scalar of ref at the
// same place, |out − ref| ≤ atol + rtol·|ref|, and otherwise a description of the
// differences. An infinity is close only to the same infinity. A NaN is close to
// nothing, not even to a NaN. Differences of integers are exact. The unused lane of
// 3-vectors is ignored.
//
// It is an error if the types or lengths of the arrays differ, or if a tolerance is
// negative or NaN.
func Compare(out, ref *Array, atol, rtol float64) (*Mismatch, error) {
	if err := checkComparable(out, ref, atol, rtol); err != nil {
		return nil, fmt.Errorf("compare output with reference: %w", err)
	}
	out, ref = out.aligned(), ref.aligned()
	limit := tolerance{atol, rtol}
	m := comparers[out.Type.Scalar()](out, ref, limit)
	if m.Count == 0 {
		return nil, nil
	}
	m.Got, m.Want = out.Float(m.First), ref.Float(m.First)
	m.got, m.want = out.Text(m.First), ref.Text(m.First)
	m.Bound = limit.bound(m.Want)
	return &m, nil
}

// checkComparable returns an error if the arrays cannot be compared.
func checkComparable(out, ref *Array, atol, rtol float64) error {
	if err := out.check(); err != nil {
		return fmt.Errorf("the output: %w", err)
	}
	if err := ref.check(); err != nil {
		return fmt.Errorf("the reference: %w", err)
	}
	if out.Type != ref.Type {
		return fmt.Errorf("the output is %v, the reference %v", out.Type, ref.Type)
	}
	if out.Len() != ref.Len() {
		return fmt.Errorf("the output has %d elements, the reference %d", out.Len(), ref.Len())
	}
	if !(atol >= 0) || !(rtol >= 0) {
		return fmt.Errorf("tolerances must not be negative: atol %v, rtol %v", atol, rtol)
	}
	return nil
}

type tolerance struct{ atol, rtol float64 }

// bound returns the largest error that is allowed where the reference is want.
func (t tolerance) bound(want float64) float64 {
	if t.rtol == 0 { // 0·∞ is NaN
		return t.atol
	}
	return t.atol + t.rtol*math.Abs(want)
}

// comparers holds the comparison of each scalar type.
var comparers = [...]func(out, ref *Array, limit tolerance) Mismatch{
	Int8:    comparer(scanIntegers[int8]),
	Int16:   comparer(scanIntegers[int16]),
	Int32:   comparer(scanIntegers[int32]),
	Int64:   comparer(scanIntegers[int64]),
	Uint8:   comparer(scanIntegers[uint8]),
	Uint16:  comparer(scanIntegers[uint16]),
	Uint32:  comparer(scanIntegers[uint32]),
	Uint64:  comparer(scanIntegers[uint64]),
	Float16: comparer(scanHalves),
	Float32: comparer(scanFloats[float32]),
	Float64: comparer(scanFloats[float64]),
}

// comparer returns a function that compares two arrays of one length, all scalars of
// which are of type T, in parallel.
func comparer[T Element](next scan[T]) func(a, b *Array, limit tolerance) Mismatch {
	return func(a, b *Array, limit tolerance) Mismatch {
		out, ref := scalars[T](a), scalars[T](b)
		all := Mismatch{Type: a.Type, Total: a.Len() * a.Type.Lanes()}
		var mutex sync.Mutex
		forChunks(len(out), func(_, from, to int) {
			var m Mismatch
			for i := from; i < to; i++ {
				n, e := next(out[i:to], ref[i:to], limit)
				i += n
				if i == to {
					break
				}
				if a.Type.Lanes() == 3 && i%4 == 3 {
					continue
				}
				if math.IsNaN(e) {
					e = math.Inf(1)
				}
				m.merge(Mismatch{First: i, Error: e, Count: 1, MaxError: e, MaxIndex: i})
			}
			mutex.Lock()
			defer mutex.Unlock()
			all.merge(m)
		})
		return all
	}
}

// A scan returns the index and the error of the first scalar of out that is not close
// to the scalar of ref at the same index, or len(out) if all are close. The slices have
// the same length. There is a scan for each kind of number because [Compare] spends its
// time here.
type scan[T Element] func(out, ref []T, limit tolerance) (int, float64)

func scanFloats[T float32 | float64](out, ref []T, limit tolerance) (int, float64) {
	ref = ref[:len(out)]
	for i, got := range out {
		want := ref[i]
		if got == want {
			continue
		}
		// A NaN fails this test, and so does an infinity that differs.
		e := math.Abs(float64(got) - float64(want))
		if e <= limit.bound(float64(want)) && e <= math.MaxFloat64 {
			continue
		}
		return i, e
	}
	return len(out), 0
}

func scanHalves(out, ref []Half, limit tolerance) (int, float64) {
	for i, got := range out {
		if got == ref[i] && got&^halfSign <= halfInf {
			continue
		}
		a, b := got.Float(), ref[i].Float()
		e := math.Abs(a - b)
		if a == b || e <= limit.bound(b) && e <= math.MaxFloat64 {
			continue
		}
		return i, e
	}
	return len(out), 0
}

func scanIntegers[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](out, ref []T, limit tolerance) (int, float64) {
	for i, got := range out {
		want := ref[i]
		if got == want {
			continue
		}
		// The difference of two's complements is exact where that of int64s would overflow.
		e := float64(uint64(max(got, want)) - uint64(min(got, want)))
		if e <= limit.bound(float64(want)) {
			continue
		}
		return i, e
	}
	return len(out), 0
}

// Mismatch describes where and by how much an output differs from its reference.
// Indices count scalars in memory, as for [Array.Float].
type Mismatch struct {
	First     int     // index of the first scalar that differs
	Got, Want float64 // its values in the output and in the reference
	Error     float64 // |Got − Want|; +Inf if either is NaN or infinite
	Bound     float64 // the error that is allowed there, atol + rtol·|Want|
	Count     int     // number of scalars that differ
	Total     int     // number of scalars compared
	MaxError  float64 // the largest error; +Inf as for Error
	MaxIndex  int     // index of the scalar with the largest error
	Type      Type    // the element type of both arrays

	got, want  string // Got and Want with the digits of their type: 0.1, not 0.100000001490116
	noun, unit string // of an element: what comes before its place, and what is counted; "": element
}

// String describes m in one line: element 1234: got 3.5, want 3.25 (off by 0.25,
// tolerance 0.0001); 17 of 4096 elements differ, the largest error is 0.5 at 2000.
func (m *Mismatch) String() string {
	var b strings.Builder
	where := cmp.Or(m.noun, "element")
	if m.unit == "" || m.Total > m.Type.Lanes() || m.Type.Lanes() > 1 {
		where += " " + m.Place()
	}
	fmt.Fprintf(&b, "%s: got %s, want %s", where, m.got, m.want)
	if !math.IsInf(m.Error, 0) {
		fmt.Fprintf(&b, " (off by %s, tolerance %s)", short(m.Error), short(m.Bound))
	}
	if m.Total == 1 && m.unit != "" {
		return b.String()
	}
	unit := cmp.Or(m.unit, "element") + "s"
	if m.Type.Lanes() > 1 {
		unit = "components"
	}
	differ := "differ"
	if m.Count == 1 {
		differ = "differs"
	}
	fmt.Fprintf(&b, "; %d of %d %s %s", m.Count, m.Total, unit, differ)
	switch {
	case m.Count == 1, math.IsInf(m.Error, 0): // the first element is all there is to say
	case math.IsInf(m.MaxError, 0):
		fmt.Fprintf(&b, ", NaN or infinite at %s", m.place(m.MaxIndex))
	default:
		fmt.Fprintf(&b, ", the largest error is %s at %s", short(m.MaxError), m.place(m.MaxIndex))
	}
	return b.String()
}

// Place returns the name of the first scalar that differs: 12 in an array of scalars, 3.s0 in one of 4-vectors.
func (m *Mismatch) Place() string { return m.place(m.First) }

// place returns the name of scalar i: 12 in an array of scalars, 3.s0 in one of 4-vectors.
func (m *Mismatch) place(i int) string {
	if m.Type.Lanes() == 1 {
		return strconv.Itoa(i)
	}
	stride := m.Type.stride()
	return fmt.Sprintf("%d.s%x", i/stride, i%stride)
}

func short(f float64) string { return strconv.FormatFloat(f, 'g', 6, 64) }

// merge adds the differences in another part of the arrays. Parts may come in any
// order: among equal errors, the lowest index is kept.
func (m *Mismatch) merge(o Mismatch) {
	if o.Count == 0 {
		return
	}
	if m.Count == 0 || o.First < m.First {
		m.First, m.Error = o.First, o.Error
	}
	if m.Count == 0 || o.MaxError > m.MaxError || o.MaxError == m.MaxError && o.MaxIndex < m.MaxIndex {
		m.MaxError, m.MaxIndex = o.MaxError, o.MaxIndex
	}
	m.Count += o.Count
}

// Text returns scalar i in decimal, with the digits that its type needs.
func (a *Array) Text(i int) string {
	s := a.Type.Scalar()
	bits := a.bits(i)
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

// A Deviation says how far an output is from its reference, over all its scalars but the unused lanes of 3-vectors.
// Both figures are relative to the reference as a whole, not to each of its scalars: where a reference passes through 0,
// the error relative to its scalar says nothing about the output (Higham, «Accuracy and Stability of Numerical
// Algorithms», 2002, chapter 6).
type Deviation struct {
	Max float64 // max |out − ref| / max |ref|
	RMS float64 // √(Σ (out − ref)² / Σ ref²)
}

// DeviationOf compares an output with its reference. If the reference is 0 throughout, the figures are the largest
// and the root mean square error themselves. Infinities at the same places are no error. It is an error if the types
// or lengths of the arrays differ.
func DeviationOf(out, ref *Array) (Deviation, error) {
	if err := checkComparable(out, ref, 0, 0); err != nil {
		return Deviation{}, fmt.Errorf("compare output with reference: %w", err)
	}
	type part struct{ count, most, mostRef, squares, squaresRef float64 }
	out, ref = out.aligned(), ref.aligned()
	n := len(out.Bytes) / out.Type.Scalar().Size()
	parts := make([]part, (n+chunkScalars-1)/chunkScalars) // whose sum does not depend on the number of processors
	forChunks(n, func(chunk, from, to int) {
		var p part
		for i := from; i < to; i++ {
			got, want := out.Float(i), ref.Float(i)
			if out.Type.Lanes() == 3 && i%4 == 3 || got == want && math.IsInf(want, 0) {
				continue
			}
			e := math.Abs(got - want)
			p.count++
			p.most, p.mostRef = max(p.most, e), max(p.mostRef, math.Abs(want))
			p.squares, p.squaresRef = p.squares+e*e, p.squaresRef+want*want
		}
		parts[chunk] = p
	})
	var all part
	for _, p := range parts {
		all.count += p.count
		all.most, all.mostRef = max(all.most, p.most), max(all.mostRef, p.mostRef)
		all.squares, all.squaresRef = all.squares+p.squares, all.squaresRef+p.squaresRef
	}
	if all.mostRef == 0 {
		return Deviation{all.most, math.Sqrt(all.squares / max(1, all.count))}, nil
	}
	return Deviation{all.most / all.mostRef, math.Sqrt(all.squares / all.squaresRef)}, nil
}
