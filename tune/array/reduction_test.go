package array

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func mustApply(t *testing.T, r Reduction, a *Array, rows int) *Array {
	t.Helper()
	reduced, err := r.Apply(a, rows)
	if err != nil {
		t.Fatal(err)
	}
	return reduced
}

func TestReductions(t *testing.T) {
	nan := float32(math.NaN())
	vectors, err := Of([]int32{1, 10, 2, 20, -5, 30, 4, 40}).As(Int32.Vector(2))
	if err != nil {
		t.Fatal(err)
	}
	threes, err := Of([]int32{1, 2, 3, 99, 4, 5, 6, 99}).As(Int32.Vector(3))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r    Reduction
		a    *Array
		rows int
		want string
	}{
		{Sum, Of([]float32{1, 2, 3, 4}), 1, "float64 10"},
		{Sum, Of([]float32{1, 2, 3, 4}), 2, "float64 3 7"},
		{Sum, Of([]float32{1 << 24, 1, 1, 1}), 1, "float64 1.6777219e+07"}, // float32 would lose the ones
		{Sum, Of([]uint8{255, 255, 255}), 1, "uint64 765"},
		{Sum, Of([]int8{-128, -128, 1}), 1, "int64 -255"},
		{Sum, Of([]uint64{math.MaxUint64, 2}), 1, "uint64 1"},
		{Mean, Of([]uint8{1, 2}), 1, "float64 1.5"},
		{Min, Of([]int64{3, math.MinInt64, 4}), 1, "int64 -9223372036854775808"},
		{Max, Of([]uint64{3, math.MaxUint64, 4}), 1, "uint64 18446744073709551615"},
		{Max, Of([]float64{-3, -1}), 1, "float64 -1"},
		{Max, Of([]float32{1, nan, 2}), 1, "float64 NaN"},
		{Norm, Of([]float64{3e300, -4e300}), 1, "float64 5e+300"},
		{Norm, Of([]int8{-3, 4, -128, 0}), 2, "float64 5 128"},
		{Norm, Of([]float32{0, 0}), 1, "float64 0"},
		{Norm, Of([]float32{1, nan, 2}), 1, "float64 NaN"},
		{Sum, Of([]Half{0x3c00, 0x4000}), 1, "float64 3"},
		{Sum, vectors, 1, "int64x2 2 100"},
		{Min, vectors, 2, "int64x2 1 10 -5 30"},
		{Sum, threes, 1, "int64x3 5 7 9 0"},
		{Multiset, Of([]float32{2, nan, -1}), 1, "float32 NaN -1 2"},
		{Multiset, Of([]int32{3, 1, 2, 0}), 2, "int32 1 3 0 2"},
		{Multiset, Of([]Half{0x4000, 0xbc00}), 1, "float32 -1 2"},
		{Multiset, vectors, 1, "int32x2 -5 30 1 10 2 20 4 40"},
	} {
		before := c.a.Clone()
		reduced := mustApply(t, c.r, c.a, c.rows)
		got := reduced.Type.String()
		for i := range len(reduced.Bytes) / reduced.Type.Scalar().Size() {
			got += " " + reduced.Text(i)
		}
		if got != c.want {
			t.Errorf("%s over %d rows of %v: %s, want %s", c.r, c.rows, c.a, got, c.want)
		}
		if string(before.Bytes) != string(c.a.Bytes) {
			t.Errorf("%s changed its array", c.r)
		}
	}
}

func TestReductionsRefuseWhatAreNoRows(t *testing.T) {
	for _, rows := range []int{0, -1, 3, 8} {
		if _, err := Sum.Apply(Of([]int32{1, 2, 3, 4}), rows); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("4 elements are not %d rows", rows)) {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}

func TestParseReduction(t *testing.T) {
	if r, err := ParseReduction("norm"); r != Norm || err != nil {
		t.Errorf("%q %v", r, err)
	}
	for text, want := range map[string]string{"summ": `did you mean "sum"?`, "blurred": "; there are sum, mean, min, max, norm, multiset"} {
		if _, err := ParseReduction(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestAMultisetIsTheSameInAnyOrder shuffles arrays of every order-sensitive kind of element.
func TestAMultisetIsTheSameInAnyOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]float32, 1000)
	for i := range values {
		values[i] = float32(random.IntN(50)) - 25
	}
	want := mustApply(t, Multiset, Of(values), 1)
	random.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	if m, err := Compare(mustApply(t, Multiset, Of(values), 1), want, 0, 0); m != nil || err != nil {
		t.Errorf("%v %v", m, err)
	}
	values[500]++
	if m, err := Compare(mustApply(t, Multiset, Of(values), 1), want, 0, 0); m == nil || err != nil {
		t.Errorf("one more and one less are the same: %v", err)
	}
}

func TestExplainSaysWhatDiffersAndWhere(t *testing.T) {
	for _, c := range []struct {
		r        Reduction
		out, ref []int32
		rows     int
		want     string
	}{
		{Sum, []int32{1, 2}, []int32{4}, 1, "the sum: got 3, want 4 (off by 1, tolerance 0)"},
		{Max, []int32{1, 2, 3, 4}, []int32{2, 5}, 2, "the max of row 1: got 4, want 5 (off by 1, tolerance 0); 1 of 2 rows differs"},
		{Multiset, []int32{5, 2}, []int32{2, 4}, 1, "sorted, element 1: got 5, want 4 (off by 1, tolerance 0); 1 of 2 elements differs"},
	} {
		m, err := Compare(mustApply(t, c.r, Of(c.out), c.rows), mustApply(t, c.r, Of(c.ref), c.rows), 0, 0)
		if err != nil || m == nil {
			t.Fatal(m, err)
		}
		if got := c.r.Explain(m, c.rows); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
