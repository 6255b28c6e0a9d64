package expression_test

import (
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/foreign"
	"github.com/ndtune/ndtune/tune/export"
	"github.com/ndtune/ndtune/tune/expression"
)

// TestExportRandom: ten thousand random expressions have the same values in C, C++ and Python as in ndtune, and
// fail where they do.
func TestExportRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 3))
	integer := func() int {
		switch r.IntN(6) {
		case 0:
			return []int{math.MinInt, math.MaxInt, math.MinInt + 1, -1, 1 << 53, 1<<53 + 1, 1 << 31, -1 << 31}[r.IntN(8)]
		case 1:
			return int(r.Uint64() >> r.IntN(64))
		}
		return r.IntN(140) - 20
	}
	real := func() float64 {
		switch r.IntN(4) {
		case 0:
			return []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1e300, 5e-324, -1.5, 1 << 62, 1 << 63, -1 << 63, 0.49999999999999994}[r.IntN(12)]
		case 1:
			return math.Float64frombits(r.Uint64())
		}
		return float64(r.IntN(200)-100) / 4
	}
	most := 1000 // compilers take 3 ms for each
	if os.Getenv("NDTUNE_LONG") != "" {
		most = 10_000
	}
	var cases []foreign.Case
	for known := map[string]bool{}; len(cases) < most; {
		source := expression.RandomSource(r, r.IntN(6))
		e, err := expression.Compile(source, expression.RandomScope)
		if err != nil || known[source] {
			continue
		}
		known[source] = true
		var environments []map[string]any
		for range 6 {
			environments = append(environments, map[string]any{"a": integer(), "b": integer(), "zero": 0, "least": math.MinInt + r.IntN(2), "f": real(), "g": real(),
				"t": r.IntN(2) == 0, "u": r.IntN(2) == 0, "s": []string{"x", "y", "z?\n\"é"}[r.IntN(3)], "r": []string{"x", "y"}[r.IntN(2)],
				"device": map[string]any{"local_memory": 1 << r.IntN(20)}})
		}
		if c := foreign.Of(e, environments); c.Refused() == nil { // else TestExportRefuses
			cases = append(cases, c)
		}
	}
	foreign.Compare(t, cases)
}

// TestExportRefuses: an error names the expression, the part and the reason.
func TestExportRefuses(t *testing.T) {
	deep := strings.Repeat("b * (a + ", 130) + "a" + strings.Repeat(")", 130)
	for source, want := range map[string]string{
		"1 + sum(filter([a, b], # > 1))": "cannot be exported: filter([a, b], # > 1): it has a list",
		"a + len([b])":                   "len([b]): it has a list",
		"mixed + 1":                      "mixed + 1 cannot be exported: mixed: it has a list",
		"f ** g":                         "f ** g: languages round a power differently",
		"power(f, 0.3)":                  "power(f, 0.3): languages round a power differently",
		"power(a, b)":                    "power(a, b): only the computation tells",
		"1 + power(a, b)":                "power(a, b): it has a list",
		"t ? 1 : f":                      "t ? 1 : f: it has a list",
		`s < "x"`:                        `s < "x": it has a list, a part of a text`,
		`s contains "x"`:                 "it has a list, a part of a text",
		"a in [power(b, 2), 1]":          "a in [power(b, 2), 1]: it has a list",
		"least + 1":                      "least: the exported program does not know it",
		"device.local_memory + 1":        "device.local_memory: the exported program does not know it",
		"let x = a; x + 1":               "let x = a; x + 1: it declares a variable",
		`s == "\x00"`:                    "without a zero",
		deep:                             "it needs more than 120 values at once",
	} {
		e, err := expression.Compile(source, expression.RandomScope)
		if err != nil {
			t.Error(source, err)
			continue
		}
		_, _, err = export.NewRules(nil, []string{"a", "b", "f", "g", "s", "t"}).Expression("value", e)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), e.String()) {
			t.Errorf("%s is exported, %v; want an error with %q", source, err, want)
		}
	}
}
