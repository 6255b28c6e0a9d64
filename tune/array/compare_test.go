package array

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestCompareRules(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		got, want, atol, rtol float64
		ok                    bool
	}{
		{1, 1, 0, 0, true}, {1, 1.5, 0, 0, false}, {1, 1.5, 0.5, 0, true}, {1, 1.5, 0.25, 0, false},
		{3, 2, 0, 0.5, true}, {2, 3, 0, 0.25, false}, {-3, -2, 0, 0.5, true}, {0, math.Copysign(0, -1), 0, 0, true},
		{nan, nan, inf, 1, false}, {nan, 1, inf, 0, false}, {1, nan, inf, 1, false},
		{inf, inf, 0, 0, true}, {inf, inf, 0, 1, true}, {-inf, -inf, 1, 1, true},
		{inf, -inf, inf, 1, false}, {1, inf, 1, 1, false}, {inf, 1, 1, 1, false}, {1, inf, 0, 0, false},
	} {
		for _, pair := range [][2]*Array{
			{Of([]float64{c.got}), Of([]float64{c.want})},
			{Of([]float32{float32(c.got)}), Of([]float32{float32(c.want)})},
			{Of([]Half{HalfOf(c.got)}), Of([]Half{HalfOf(c.want)})},
		} {
			m, err := Compare(pair[0], pair[1], c.atol, c.rtol)
			if err != nil || (m == nil) != c.ok {
				t.Errorf("%v: got %v, want %v, atol %v, rtol %v: %v, %v", pair[0].Type, c.got, c.want, c.atol, c.rtol, m, err)
			}
		}
	}
}

func TestCompareIntegers(t *testing.T) {
	big := Of([]int64{math.MaxInt64, math.MinInt64, 1<<53 + 1})
	m, err := Compare(big, Of([]int64{math.MaxInt64 - 1, math.MinInt64, 1 << 53}), 0, 0)
	if err != nil || m == nil || m.Count != 2 || m.Error != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	if want := "element 0: got 9223372036854775807, want 9223372036854775806 (off by 1, tolerance 0); 2 of 3 elements differ, the largest error is 1 at 0"; m.String() != want {
		t.Errorf("%s", m)
	}
	if m, _ := Compare(Of([]int64{math.MaxInt64}), Of([]int64{math.MinInt64}), 0x1p63, 0); m == nil || m.Error != 0x1p64 {
		t.Errorf("the whole range apart: %+v", m)
	}
	if m, _ := Compare(Of([]uint8{0}), Of([]uint8{255}), 254, 0); m == nil || m.Error != 255 {
		t.Errorf("uint8: %+v", m)
	}
	if m, _ := Compare(Of([]int8{-128}), Of([]int8{127}), 254, 0); m == nil || m.Error != 255 {
		t.Errorf("int8: %+v", m)
	}
	if m, _ := Compare(Of([]int8{-128}), Of([]int8{127}), 0, 255./127); m != nil {
		t.Errorf("int8 within tolerance: %+v", m)
	}
}

func TestMismatchString(t *testing.T) {
	ref, out := New(Float32, 4096), New(Float32, 4096)
	r, _ := Slice[float32](ref)
	o, _ := Slice[float32](out)
	for i := range r {
		r[i], o[i] = 3.25, 3.25
	}
	o[1234], o[2000], o[4000] = 3.5, 3.75, 3
	m, err := Compare(out, ref, 1e-4, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := "element 1234: got 3.5, want 3.25 (off by 0.25, tolerance 0.0001); 3 of 4096 elements differ, the largest error is 0.5 at 2000"; m.String() != want {
		t.Errorf("%s", m)
	}
	o[3000] = float32(math.NaN())
	m, _ = Compare(out, ref, 1e-4, 0)
	if want := "4 of 4096 elements differ, NaN or infinite at 3000"; !strings.HasSuffix(m.String(), want) {
		t.Errorf("%s", m)
	}
	o[5] = o[3000]
	m, _ = Compare(out, ref, 1e-4, 0)
	if want := "element 5: got NaN, want 3.25; 5 of 4096 elements differ"; m.String() != want {
		t.Errorf("%s", m)
	}
	m, _ = Compare(Of([]float32{0.1}), Of([]float32{0.3}), 0, 0)
	if want := "element 0: got 0.1, want 0.3 (off by 0.2, tolerance 0); 1 of 1 elements differs"; m.String() != want {
		t.Errorf("%s", m)
	}
	v := New(Int32.Vector(4), 3)
	lanes, _ := Slice[int32](v)
	lanes[6] = 5
	m, _ = Compare(v, New(Int32.Vector(4), 3), 0, 0)
	if want := "element 1.s2: got 5, want 0 (off by 5, tolerance 0); 1 of 12 components differs"; m.String() != want {
		t.Errorf("%s", m)
	}
}

func TestCompareIgnoresUnusedLanes(t *testing.T) {
	a, b := New(Float32.Vector(3), 4), New(Float32.Vector(3), 4)
	s, _ := Slice[float32](a)
	s[7] = float32(math.NaN())
	if m, err := Compare(a, b, 0, 0); m != nil || err != nil {
		t.Errorf("%v, %v", m, err)
	}
	s[8] = 1
	if m, _ := Compare(a, b, 0, 0); m == nil || m.Count != 1 || m.Total != 12 || m.First != 8 {
		t.Errorf("%+v", m)
	}
}

func TestCompareErrors(t *testing.T) {
	a := New(Float32, 2)
	for _, c := range []struct {
		out, ref   *Array
		atol, rtol float64
		want       string
	}{
		{a, New(Float64, 2), 0, 0, "the output is float32, the reference float64"},
		{a, New(Float32, 3), 0, 0, "2 elements, the reference 3"},
		{a, a, -1, 0, "negative"}, {a, a, 0, math.NaN(), "negative"},
		{nil, a, 0, 0, "no array"}, {a, &Array{}, 0, 0, "without a type"},
		{a, &Array{Type: Float32, Bytes: make([]byte, 7)}, 0, 0, "7 bytes"},
	} {
		if _, err := Compare(c.out, c.ref, c.atol, c.rtol); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want an error with %q", err, c.want)
		}
	}
}

// compareNaively is the rule of Compare, one scalar after the other.
func compareNaively(out, ref *Array, atol, rtol float64) *Mismatch {
	var m *Mismatch
	for i := range len(out.Bytes) / out.Type.Scalar().Size() {
		got, want := out.Float(i), ref.Float(i)
		e, bound := math.Abs(got-want), atol
		if rtol > 0 {
			bound += rtol * math.Abs(want)
		}
		if got == want || !math.IsInf(e, 0) && e <= bound {
			continue
		}
		if math.IsNaN(e) {
			e = math.Inf(1)
		}
		if m == nil {
			m = &Mismatch{First: i, Got: got, Want: want, Error: e, Bound: bound, MaxError: -1}
		}
		m.Count++
		if e > m.MaxError {
			m.MaxError, m.MaxIndex = e, i
		}
	}
	return m
}

func checkAgainstModel(t *testing.T, out, ref *Array, atol, rtol float64) {
	t.Helper()
	got, err := Compare(out, ref, atol, rtol)
	if err != nil {
		t.Fatal(err)
	}
	want := compareNaively(out, ref, atol, rtol)
	if (got == nil) != (want == nil) {
		t.Fatalf("%v: %v, the model says %v", out.Type, got, want)
	}
	if got == nil {
		return
	}
	same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	if got.First != want.First || got.Count != want.Count || got.MaxIndex != want.MaxIndex || got.MaxError != want.MaxError ||
		got.Error != want.Error || !same(got.Got, want.Got) || !same(got.Want, want.Want) || !same(got.Bound, want.Bound) {
		t.Fatalf("%v: %+v, the model says %+v", out.Type, got, want)
	}
}

func TestCompareAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	special := []float64{0, 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 100, 1e-3}
	for round := range 300 {
		s := Int8 + Type(round)%Float64
		n := 1 + r.IntN(50)
		if round%20 == 0 {
			n = 2*chunkScalars + r.IntN(1000)
		}
		ref := New(s, n)
		for i := range n {
			ref.setBits(i, s.encode(100*r.Float64()))
		}
		out := ref.Clone()
		for range r.IntN(6) {
			for _, a := range []*Array{out, ref} {
				a.setBits(r.IntN(n), s.encode(special[r.IntN(len(special))]))
			}
		}
		checkAgainstModel(t, out, ref, []float64{0, 1e-3, 2}[r.IntN(3)], []float64{0, 0.01}[r.IntN(2)])
	}
}

func FuzzCompare(f *testing.F) {
	f.Add([]byte{0, 0, 0xc0, 0x7f, 1, 2, 3, 4}, []byte{0, 0, 0x80, 0x7f, 1, 2, 3, 5}, 0.5, 0.1)
	f.Add(make([]byte, 64), make([]byte, 64), 0.0, 0.0)
	f.Fuzz(func(t *testing.T, x, y []byte, atol, rtol float64) {
		if !(atol >= 0) || !(rtol >= 0) || math.IsInf(rtol, 0) {
			t.Skip()
		}
		n := min(len(x), len(y)) / 8 * 8
		for _, s := range []Type{Int8, Uint16, Int32, Float16, Float32, Float64} {
			checkAgainstModel(t, &Array{Type: s, Bytes: x[:n]}, &Array{Type: s, Bytes: y[:n]}, atol, rtol)
		}
	})
}

func BenchmarkCompare(b *testing.B) {
	const n = 16 << 20
	for _, typ := range []Type{Float32, Float64, Float16, Int32} {
		ref, err := Fill{Kind: Random, Low: 1, High: 100}.Make(typ, n, 1)
		if err != nil {
			b.Fatal(err)
		}
		near := ref.Clone()
		for i := 0; i < len(near.Bytes); i += typ.Size() {
			near.Bytes[i] ^= 1 // the last bit of each: unequal, within the tolerance
		}
		b.Run(typ.String(), func(b *testing.B) {
			b.SetBytes(int64(2 * len(ref.Bytes)))
			for b.Loop() {
				if m, err := Compare(near, ref, 1, 1e-2); m != nil || err != nil {
					b.Fatal(m, err)
				}
			}
		})
	}
}
