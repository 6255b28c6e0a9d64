package python

import (
	"errors"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/expression"
)

// FuzzParse: whatever is read as an expression, nothing panics, every error has its place,
// what is printed is read as the same, and what is translated compiles.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"32 <= x * y <= 1024", "not a in (1, 2,)", "-2 ** -x // 3 % 4", "[16*i for i in range(1, 9) if i % 2]", "lambda p: p['x'] > 0x1F",
		"any(x % i == 0 for i in range(1, y) for j in [i])", "a if b else c and d or not e", `"a\u00e9" in s + r'\n'`, "~x & 3 | 1 << 2 ^ 5", "math.ceil(x / 2.5e3)",
		"sum([x, y][0:1])", "{1, 2}", "1 if", "((((((", "x is None", "min(*x)", "10 ** 10 ** 10", "[0] * 10 ** 9", "range(10**9)", "1_0.0_1e+1_0", "x[-1][True]()", "'" + `\x4`,
	} {
		f.Add(seed)
	}
	values := map[string]any{"x": 7, "y": -7, "a": 1, "b": 0, "c": 2.5, "d": true, "e": 1 << 62, "s": "float4"}
	f.Fuzz(func(t *testing.T, source string) {
		located := func(err error) {
			var at *Error
			if !errors.As(err, &at) || at.Column < 1 || at.Column > len(source)+1 || at.Message == "" {
				t.Fatalf("%q: the error %v has no place", source, err)
			}
		}
		e, err := Parse(source)
		if err != nil {
			located(err)
			return
		}
		if text := printed(e.root); len(text) < 10000 {
			again, err := Parse(text)
			if err == nil && printed(again.root) != text {
				t.Fatalf("%q is printed as %q, and that as %q", source, text, printed(again.root))
			}
			if err != nil && !strings.Contains(err.Error(), "more than") && !strings.Contains(err.Error(), "deeper than") && !strings.Contains(err.Error(), "not the name") {
				t.Fatalf("%q is printed as %q: %v", source, text, err)
			}
		}
		if strings.Count(source, "range") > 1 || strings.Count(source, "0") > 8 {
			return // it may take long
		}
		mine, its := scopes(t, values, nil)
		if _, err := e.Eval(values); err != nil {
			located(err)
		}
		for _, translate := range []func(Scope) (string, error){e.Condition, e.Number} {
			text, err := translate(mine)
			if err != nil {
				located(err)
				continue
			}
			if _, err := expression.Compile(text, its); err != nil {
				t.Fatalf("%q becomes %q: %v", source, text, err)
			}
		}
	})
}
