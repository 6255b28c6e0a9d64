package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// synthetic is a record of a whole space with a time that is known: exp of f of the places of
// the values, from −1 to 1.
func synthetic(t *testing.T, sizes []int, f func(x []float64) float64) *record.Record {
	var list []space.Parameter
	for i, n := range sizes {
		p := space.Parameter{Name: string(rune('a' + i))}
		for v := range n {
			p.Values = append(p.Values, 1<<v)
		}
		list = append(list, p)
	}
	s := mustSpace(t, list)
	r := &record.Record{Header: record.Header{Parameters: list, Objective: score.Objective{Name: "time"}}}
	for i := range s.Len() {
		c := s.At(i)
		x := make([]float64, len(sizes))
		for j, n := range sizes {
			x[j] = 2*math.Log2(float64(c.Int(list[j].Name)))/float64(n-1) - 1
		}
		time := math.Exp(f(x))
		r.Results = append(r.Results, tune.Result{Configuration: c, Status: tune.Correct, Times: []float64{time}, Objective: time})
	}
	return r
}

// TestImportanceOfKnownFunctions compares with what can be computed by hand. With f = Σ c·x on
// a full grid of one size, a parameter's share, alone and with another, is c² / Σ c²; in f = a·b
// neither explains anything alone, and both all together.
func TestImportanceOfKnownFunctions(t *testing.T) {
	type share struct {
		alone, with float64
		partner     string
	}
	for _, test := range []struct {
		name  string
		sizes []int
		f     func([]float64) float64
		want  map[string]share
	}{
		{"a sum", []int{5, 5, 5, 5}, func(x []float64) float64 { return 2*x[0] + x[1] + 1*x[3] }, map[string]share{
			"a": {4.0 / 6, 4.0 / 6, ""}, "b": {1.0 / 6, 1.0 / 6, ""}, "c": {0, 0, ""}, "d": {1.0 / 6, 1.0 / 6, ""}}},
		{"a product", []int{2, 2, 10, 10}, func(x []float64) float64 { return x[0] * x[1] }, map[string]share{
			"a": {0, 1, "b"}, "b": {0, 1, "a"}, "c": {0, 0, ""}, "d": {0, 0, ""}}},
		{"one parameter, not monotonic", []int{8, 8, 4}, func(x []float64) float64 { return math.Abs(x[1]) }, map[string]share{
			"a": {0, 0, ""}, "b": {1, 1, ""}, "c": {0, 0, ""}}},
	} {
		m := mustReport(t, Source{"r", synthetic(t, test.sizes, test.f)}).Runs[0].Importance
		if m.Missing != "" || m.Used != len(synthetic(t, test.sizes, test.f).Results) {
			t.Errorf("%s: %+v", test.name, m)
		}
		for _, p := range m.Parameters {
			want := test.want[p.Name]
			if math.Abs(*p.Alone-want.alone) > 0.02 || math.Abs(p.With-want.with) > 0.02 || want.partner != "" && p.Partner != want.partner {
				t.Errorf("%s: %s has %.3f alone and %.3f with %q, want %v", test.name, p.Name, *p.Alone, p.With, p.Partner, want)
			}
		}
		for i := 1; i < len(m.Parameters); i++ {
			if m.Parameters[i].With > m.Parameters[i-1].With {
				t.Errorf("%s: the most important is not the first", test.name)
			}
		}
	}
}

// TestImportanceOfNoise: where nothing matters, nothing is said to.
func TestImportanceOfNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	m := mustReport(t, Source{"r", synthetic(t, []int{6, 6, 6}, func([]float64) float64 { return random.NormFloat64() })}).Runs[0].Importance
	for _, p := range m.Parameters {
		if *p.Alone > 0.1 || p.With > 0.2 {
			t.Errorf("%s explains %v of noise, with another one %v", p.Name, *p.Alone, p.With)
		}
	}
}

// TestImportanceOfMany: of more configurations than the time allows, a sample tells the same.
func TestImportanceOfMany(t *testing.T) {
	m := mustReport(t, Source{"r", synthetic(t, slices.Repeat([]int{2}, 15), func(x []float64) float64 { return x[0] + x[1]*x[2] })}).Runs[0].Importance
	if m.Used != 20_000 {
		t.Errorf("%d of %d configurations are used", m.Used, 1<<15)
	}
	for i, p := range m.Parameters {
		if want := 0.5; i < 3 && math.Abs(p.With-want) > 0.02 || i >= 3 && p.With > 0.02 {
			t.Errorf("%+v", p)
		}
	}
}

func TestNoImportance(t *testing.T) {
	few := synthetic(t, []int{2, 2}, func(x []float64) float64 { return x[0] })
	alike := synthetic(t, []int{8, 8}, func([]float64) float64 { return 0 })
	rounded := synthetic(t, []int{10, 10}, func([]float64) float64 { return 0.3 }) // 100 of a hundredth of it are not it
	for name, r := range map[string]*record.Record{"few": few, "alike": alike, "alike but for rounding": rounded} {
		if m := mustReport(t, Source{"r", r}).Runs[0].Importance; m.Missing == "" || len(m.Parameters) > 0 {
			t.Errorf("%s: %+v", name, m)
		}
	}
	// Each value once: there is nothing to compare a mean with.
	once := synthetic(t, []int{20}, func(x []float64) float64 { return x[0] })
	if m := mustReport(t, Source{"r", once}).Runs[0].Importance; m.Missing != "" || m.Parameters[0].Alone != nil {
		t.Errorf("%+v", m)
	}
}
