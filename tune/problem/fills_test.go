package problem

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
)

// filled returns the content of n elements of an argument with a fill.
func filled(t *testing.T, typ string, n int, f definition.Fill) (*array.Array, error) {
	t.Helper()
	d := saxpy()
	d.Types = []definition.StructType{
		{Name: "link", Fields: []definition.StructField{{Name: "to", Type: "int"}, {Name: "weight", Type: "float2"}}},
		{Name: "cell", Fields: []definition.StructField{{Name: "id", Type: "long"}, {Name: "links", Type: "link", Count: "2"}, {Name: "tags", Type: "uchar", Count: "3"}}},
	}
	d.Arguments[1] = definition.Argument{Name: "x", Type: typ, Size: fmt.Sprint(n), Fill: f}
	return mustProblem(t, d).Content(1, n)
}

func TestFillsByExpression(t *testing.T) {
	for _, c := range []struct {
		expression, typ string
		want            []float64
	}{
		{"index * 32", "int32", []float64{0, 32, 64, 96, 128}},
		{"(index * 7919) % n", "uint16", []float64{0, 919, 838, 757, 676}},
		{"index == 3", "uint8", []float64{0, 0, 0, 1, 0}},
		{"index / 4", "float32", []float64{0, 0.25, 0.5, 0.75, 1}},
		{"ceil(index / 4)", "int32", []float64{0, 1, 1, 1, 1}},
		{"index % 2 == 0 ? index : 0.5", "float64", []float64{0, 0.5, 2, 0.5, 4}}, // only expr's VM computes it
		{"sum([index, 1])", "int64", []float64{1, 2, 3, 4, 5}},
		{"10 * index + lane", "short2", []float64{0, 1, 10, 11, 20, 21, 30, 31, 40, 41}},
		{"10 * index + lane + 1", "float3", []float64{1, 2, 3, 0, 11, 12, 13, 0, 21, 22, 23, 0, 31, 32, 33, 0, 41, 42, 43, 0}},
		{"-index", "int64", []float64{0, -1, -2, -3, -4}},
		{"alpha", "float16", []float64{0.5, 0.5, 0.5, 0.5, 0.5}},
	} {
		a, err := filled(t, c.typ, 5, definition.Fill{Expression: c.expression})
		if err != nil {
			t.Errorf("%s: %v", c.expression, err)
			continue
		}
		var got []float64
		for i := range len(a.Bytes) / a.Type.Scalar().Size() {
			got = append(got, a.Float(i))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", c.expression, got, c.want)
		}
	}
}

// A problem checks only the first and the last elements of very large data. The others are checked when they
// are made.
func TestFillNamesTheElementWithoutValue(t *testing.T) {
	const n = maxChecked / 4 * 3
	for expression, want := range map[string]string{
		"index == 5000000 or index == 7000000 ? 2 ** 31 : 0.0":    "argument x: element 5000000: 2.147483648e+09 is out of the range of int32",
		"index == 5000000 or index == 7000000 ? div(1, lane) : 0": "argument x: element 5000000: in ",
	} {
		if _, err := filled(t, "int32", n, definition.Fill{Expression: expression}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, not %s", expression, err, want)
		}
	}
}

func TestFillsOfFields(t *testing.T) {
	a, err := filled(t, "cell", 4, definition.Fill{Fields: map[string]definition.Fill{
		"id":    {Expression: "index"},
		"links": {Fields: map[string]definition.Fill{"to": {Expression: "(index + item + 1) % 4"}, "weight": {Kind: array.Constant, Value: "1 / 4"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range a.Struct.Members {
		part := a.Member(m)
		got = append(got, fmt.Sprint(m.Path, " ", part.Float(0), " ", part.Float(part.Type.Lanes()), " ", part.Float(3*part.Type.Lanes())))
	}
	want := []string{
		"id 0 1 3",
		"links[0].to 1 2 0", "links[0].weight 0.25 0.25 0.25",
		"links[1].to 2 3 1", "links[1].weight 0.25 0.25 0.25",
		"tags[0] 0 0 0", "tags[1] 0 0 0", "tags[2] 0 0 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestLimitsOfFillsAreExpressions(t *testing.T) {
	a, err := filled(t, "int32", 4096, definition.Fill{Kind: array.Random, Low: "n - 3", High: "n"})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[float64]bool{}
	for i := range a.Len() {
		seen[a.Float(i)] = true
	}
	if len(seen) != 3 || !seen[997] || !seen[998] || !seen[999] {
		t.Errorf("the numbers are %v, not those from 997 to 999", seen)
	}
	same, err := filled(t, "int32", 4096, definition.Fill{Kind: array.Random, Low: "997", High: "1000"})
	if err != nil || string(same.Bytes) != string(a.Bytes) {
		t.Errorf("numbers make other data than expressions with their values: %v", err)
	}
}

// The content of 16 Mi elements.
func BenchmarkFillByExpression(b *testing.B) {
	const n = 1 << 24
	for _, c := range []struct{ typ, expression string }{
		{"int32", "index * 32"}, {"int32", "(index * 7919) % n"}, {"float32", "sqrt(index / n)"},
	} {
		b.Run(c.expression, func(b *testing.B) {
			d := saxpy()
			d.Arguments[1] = definition.Argument{Name: "x", Type: c.typ, Size: fmt.Sprint(n), Fill: definition.Fill{Expression: c.expression}}
			p, err := New(d)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := p.Content(1, n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
