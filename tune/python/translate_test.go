package python

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/expression"
)

var testNames = map[string]any{"x": 7, "y": -7, "one": 1, "zero": 0, "big": 1 << 62, "f": 2.5, "t": true, "s": "float4"}

// What names can be besides: a translation relies on no more than that.
var testMore = map[string][]any{"x": {1, 64}, "y": {-1, 3}, "one": {8}, "zero": {1}, "big": {1}, "f": {0.0}}

// The common forms become what one would write by hand.
func TestTranslations(t *testing.T) {
	mine, its := scopes(t, testNames, testMore)
	for _, c := range []struct{ source, want string }{
		{"32 <= x * one <= 1024", "32 <= x * one and x * one <= 1024"},
		{"x % (one * 2) == 0", "x % (one * 2) == 0"},
		{"x // one", "div(x, one) != 0"},
		{"y // 2 == -4", "floor_div(y, 2) == -4"},
		{"y % 2 == 1", "floor_mod(y, 2) == 1"},
		{"x % ((x * one) / one) == 0", "floor_mod(x, x * one / one) == 0"},
		{"x / zero > 1", "true_div(x, zero) > 1"},
		{"x / 2 > 1", "x / 2 > 1"},
		{"big * 4 > 0", "checked_mul(big, 4) > 0"},
		{"big + big > 0", "checked_add(big, big) > 0"},
		{"big - 1 > 0", "big - 1 > 0"},
		{"2 ** 10 == x", "1024 == x"},
		{"x ** 2 == 49", "power(x, 2) == 49"},
		{"not (x == 1 and one == 2)", "not (x == 1 and one == 2)"},
		{"x and not one or t", "x != 0 and not (one != 0) or t"},
		{"x > 1 or one == 0", "x > 1 or one == 0"},
		{"(x == 1 or one == 2) and t", "(x == 1 or one == 2) and t"},
		{"t == 1", "(t ? 1 : 0) == 1"},
		{"x in [1, 2, 4]", "x in [1, 2, 4]"},
		{"x not in (1, 2)", "not (x in [1, 2])"},
		{"x in range(1, 9)", "1 <= x and x < 9"},
		{"x in range(0, 64, 8)", "0 <= x and x < 64 and x % 8 == 0"},
		{`s in ["float", "float4"]`, `s in ["float", "float4"]`},
		{`"oat" in s`, `s contains "oat"`},
		{`s == 4`, "false"},
		{"s", `s != ""`},
		{"any(x % i == 0 for i in [3, 7])", "x % 3 == 0 or x % 7 == 0"},
		{"all(x % i == 0 for i in range(1, 3))", "x % 1 == 0 and x % 2 == 0"},
		{"x - (one - zero) > 0", "x - (one - zero) > 0"},
		{"x * (one + 1) > 0", "x * (one + 1) > 0"},
		{"-x < 0", "-x < 0"},
		{"-(x + 1) < 0", "-(x + 1) < 0"},
		{"(x if t else one) > 1", "(t ? x : one) > 1"},
		{"max(x, one) > 2", "max(x, one) > 2"},
		{"max(x, f) > 2", "compare(f > x ? f : x, 2) > 0"},
		{"sum([x, one]) > 2", "x + one > 2"},
		{"len([x, one]) == 2", "true"},
		{"x & (x - 1) == 0", "bit_and(x, x - 1) == 0"},
		{"(x == 1) | (one == 2)", "x == 1 or one == 2"},
		{"lambda p: p['x'] >= 2", "x >= 2"},
		{"x < big == f", "x < big and compare(big, f) == 0"},
	} {
		e, err := Parse(c.source)
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := e.Condition(mine)
		if err != nil || got != c.want {
			t.Errorf("%s\n got %s %v\nwant %s", c.source, got, err, c.want)
			continue
		}
		if _, err := expression.Compile(got, its); err != nil {
			t.Error(err)
		}
	}
}

// Each of the values that were computed by hand comes out of the translation too, where it
// is a number or a condition.
func TestTranslatedValues(t *testing.T) {
	mine, its := scopes(t, testNames, testMore)
	for _, source := range []string{
		"x // 2 * 2 + x % 2 == x", "y // 2", "y % 4", "y // -2", "y % -2", "f // -2", "-f % 2", "f ** 2", "x ** -1", "y ** 3", "zero ** zero",
		"x * f", "x + t", "-t", "+t", "~x", "~y", "x | 8", "y & 12", "y ^ x", "one << x", "y >> 1", "big // -1", "big % 1000", "-big - big",
		"x and y", "zero and y", "zero or f", "x or f", "t and x", "not s", "x if f else s == 's'", "(x if x > f else f) * 2", "t if x else zero",
		"min(x, y, one)", "max(x, f)", "min(f, 9)", "abs(y)", "abs(f)", "int(f)", "int(-f)", "round(f)", "round(f + 1)", "round(x)", "float(x)", "bool(x)",
		"math.ceil(f)", "math.floor(-f)", "math.sqrt(x)", "math.log2(x + 1)", "int(math.log2(big))", "len(s)", "len([i for i in range(x)])",
		"sum(i for i in range(x))", "sum([i * f for i in range(one, x, 2) if i > one])", "any(i == x for i in range(20))", "all(i < x for i in range(x))",
		"x in [i for i in range(x + 1)]", "x in range(one, 20, 3)", "x not in range(20, zero, -1)", "f in range(9)", "t in [1]", "x in (f, 7.0)", "x in {7}",
		"[x, y, f][1]", "[x, y, f][-1]", "sum([x, y] + [f])", "max(i for i in [x, y])", "x < y < one if False else x", "zero and x // zero", "zero == 0 or x / zero > 1",
		"any(x % i == 0 and j for i in range(1, 4) for j in [0, i])", "all([])", "s + '8' == 'float48'", "s < 'g'", "s == 's' or s != x", "1 if s else 2",
		"big == 4611686018427387905.0", "big + 1 > 4611686018427387904.0", "(big + 1) / big", "f == 2.5", "t == True", "t != zero", "t < 2", "t ^ (x == 7)", "sum(x > i for i in range(9))",
	} {
		e, err := Parse(source)
		if err != nil {
			t.Error(err)
			continue
		}
		v, err := e.Eval(testNames)
		if err != nil {
			t.Error(err)
			continue
		}
		got, text, err := translated(e, true, mine, its, testNames)
		if err != nil || got != isTrue(v) {
			t.Errorf("%s as a condition\n is %s\n  = %v, %v; want %v", source, text, got, err, isTrue(v))
		}
		want := v
		if b, ok := want.(bool); ok {
			if want = 0; b {
				want = 1
			}
		}
		if _, ok := want.(string); ok {
			continue
		}
		if got, text, err := translated(e, false, mine, its, testNames); err != nil || !same(got, want) {
			t.Errorf("%s\n is %s\n  = %v (%T), %v; want %v (%T)", source, text, got, got, err, want, want)
		}
	}
}

// What leaves 64 bits fails, where a machine's arithmetic would give another number.
func TestOverflow(t *testing.T) {
	mine, its := scopes(t, testNames, testMore)
	for _, source := range []string{
		"big + big > 0", "big * 2 > 0", "-big - big - 1 < 0", "big ** 2 > 0", "big << 1 > 0", "x ** 100 > 0", "sum([big, big]) > 0",
		"int(1e300 * f) > 0", "round(f * 1e19) > 0", "abs(-big - big) > 0", "-(-big - big) > 0", "(-big - big) // -one > 0",
		"x / zero > 1", "x // zero > 1", "x % zero > 1", "zero ** -one > 1", "y ** 0.5 > 1", "math.sqrt(y) > 1", "math.log2(zero) > 0", "one << y > 0",
	} {
		e, err := Parse(source)
		if err != nil {
			t.Error(err)
			continue
		}
		if v, text, err := translated(e, true, mine, its, testNames); err == nil || strings.Contains(err.Error(), "compile") {
			t.Errorf("%s, which is %s, gave %v, %v; want an error", source, text, v, err)
		}
	}
}

func TestTranslationErrors(t *testing.T) {
	mine, _ := scopes(t, testNames, testMore)
	for _, c := range []struct{ source, want string }{
		{"xx > 1", `in "xx > 1", column 1: nothing is named xx; did you mean "x"?`},
		{"x + s > 1", `column 3: "+" does not apply to an integer and a text`},
		{"x < s", `column 3: "<" does not apply to an integer and a text`},
		{"x in f", `column 3: a float has no items to look among`},
		{"x in s", `column 3: an integer is not looked for in a text`},
		{"f & 1", `column 3: "&" does not apply to a float and an integer`},
		{"~f", `column 1: "~" does not apply to a float`},
		{"sorted([x, y]) == 1", `column 1: sorted of what depends on parameters is not allowed`},
		{"[x] == [7]", `column 5: comparing lists is not allowed`},
		{"[1, 2][x] > 0", `column 7: a subscript that depends on parameters is not allowed`},
		{"x[0] > 0", `column 2: a subscript of an integer is not allowed`},
		{"([x] if t else [y]) and 1", `column 6: a list that depends on a condition is not allowed`},
		{"(x if t else s) == 1", `column 4: an integer or a text, by a condition, is not allowed`},
		{"max(i for i in range(x)) > 1", `column 1: max of a list whose length depends on parameters is not allowed`},
		{"any(i for i in x)", `column 16: a comprehension over an integer is not allowed`},
		{"sum(range(0, 9, x)) > 0", `column 5: a range whose step depends on parameters is not allowed`},
		{"any(i == x for i in range(10 ** 5))", `column 21: the range can have more than 2000 items`},
		{"any(i == x for i in range(big))", `column 21: the range can have more than 2000 items, too many to be unrolled`},
		{"any(x == i for i in range(500) for j in range(500))", `column 4: the comprehension has more than 2000 rounds`},
		{"x == 10 ** 20", `column 9: the result is beyond the integers of 64 bits`},
		{"x.bit_length() > 3", `column 2: the method .bit_length() is not allowed`},
		{"foo(x) > 3", `column 1: the function foo is not known`},
		{"int(s) > 3", `column 1: int does not apply to a text`},
		{"{x} == 1", `column 1: a set can only stand behind in; write a list`},
		{strings.Repeat("(x if x > ", 20) + "1" + strings.Repeat(" else x)", 20), ""},
		{"(x" + strings.Repeat(" and x", 40) + ") + 1 > 1", "the expression becomes too large"},
	} {
		e, err := Parse(c.source)
		if err != nil && c.want != "" && !strings.Contains(err.Error(), c.want) {
			t.Error(err)
			continue
		}
		if err == nil {
			_, err = e.Condition(mine)
		}
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n got %v\nwant %s", c.source, err, c.want)
		}
	}
}

func TestMixedNames(t *testing.T) {
	if _, err := expression.DomainOf([]any{1, "a"}); err == nil {
		t.Error("a name can be an integer or a text")
	}
	d, err := expression.DomainOf([]any{1, 2.5})
	if err != nil || d.Kind != expression.Number {
		t.Errorf("1 or 2.5 is %v, %v", d.Kind, err)
	}
	values := map[string]any{"n": 3}
	more := map[string][]any{"n": {2.5}}
	mine, its := scopes(t, values, more)
	for _, n := range []any{3, 2.5} {
		values["n"] = n
		for _, source := range []string{"n * 2 > 5", "n // 2 == 1", "n == 3", "n in [3]", "n % 2 + n / 2", "-n", "int(n)", "n > 2.5", "min(n, 4)", "n ** 2"} {
			e, err := Parse(source)
			if err != nil {
				t.Fatal(err)
			}
			v, err := e.Eval(values)
			if err != nil {
				t.Fatal(err)
			}
			want := v
			if b, ok := want.(bool); ok {
				if want = 0; b {
					want = 1
				}
			}
			if got, text, err := translated(e, false, mine, its, values); err != nil || !same(got, want) {
				t.Errorf("n = %v: %s is %s = %v (%T), %v; want %v (%T)", n, source, text, got, got, err, want, want)
			}
		}
	}
}

// A writer makes random expressions that Python could compute.
type writer struct{ *rand.Rand }

func (w writer) one(of ...string) string { return of[w.IntN(len(of))] }

func (w writer) number(depth int, names []string) string {
	if depth == 0 {
		switch w.IntN(3) {
		case 0:
			return fmt.Sprint(w.IntN(12))
		case 1:
			return w.one("0.5", "2.0", "3.75", "-1.5", "(-3)", "1", "True", "9007199254740993", "1e18")
		}
		return w.one(names...)
	}
	n := func() string { return w.number(w.IntN(depth), names) }
	switch w.IntN(12) {
	case 0, 1, 2, 3:
		return "(" + n() + w.one("+", "-", "*", "//", "%", "/", "-", "*") + n() + ")"
	case 4:
		return "(" + n() + "**" + w.one("2", "3", "0", "-1", "0.5", n()) + ")"
	case 5:
		return "(" + n() + " if " + w.condition(depth-1, names) + " else " + n() + ")"
	case 6:
		return w.one("min", "max") + "(" + n() + "," + n() + "," + n() + ")"
	case 7:
		return w.one("abs", "int", "float", "round", "math.ceil", "math.floor", "math.sqrt", "-", "+", "-") + "(" + n() + ")"
	case 8:
		return "(" + w.condition(depth-1, names) + w.one("+", "*", "-", "&", "|", "^") + w.condition(depth-1, names) + ")"
	case 9:
		return "(" + n() + w.one("&", "|", "^", "<<", ">>") + n() + ")"
	case 10:
		i := w.one("i", "j", "a")
		return w.one("sum", "len", "sum", "max", "min") + "([" + w.number(depth-1, append([]string{i}, names...)) + " for " + i + " in " + w.list(depth-1, names) +
			w.one("", " if "+w.condition(depth-1, append([]string{i}, names...))) + "])"
	}
	return "(" + n() + w.one(" and ", " or ") + n() + ")"
}

func (w writer) list(depth int, names []string) string {
	if w.IntN(2) == 0 {
		return w.one("range(3)", "range(1, 4)", "range(4, 0, -2)", "range(b)", "range(c, a)", "range(a, c, -3)")
	}
	return "[" + w.number(depth, names) + ", " + w.number(depth, names) + ", 2]"
}

func (w writer) condition(depth int, names []string) string {
	if depth <= 0 {
		return w.one("a > b", "flag", "b", "True", "d == 1.5", "c < 0", "text == 'x'")
	}
	n := func() string { return w.number(w.IntN(depth), names) }
	c := func() string { return w.condition(depth-1, names) }
	compare := func() string { return w.one("<", "<=", ">", ">=", "==", "!=") }
	switch w.IntN(8) {
	case 0, 1:
		return "(" + n() + compare() + n() + ")"
	case 2:
		return "(" + n() + compare() + n() + compare() + n() + ")"
	case 3:
		return "(" + c() + w.one(" and ", " or ") + c() + w.one(" and ", " or ") + c() + ")"
	case 4:
		return "(not " + c() + ")"
	case 5:
		return "(" + n() + w.one(" in ", " not in ") + w.list(depth-1, names) + ")"
	case 6:
		i := w.one("i", "j", "a")
		return w.one("any", "all") + "(" + w.condition(depth-1, append([]string{i}, names...)) + " for " + i + " in " + w.list(depth-1, names) + ")"
	}
	return "(" + c() + " if " + c() + " else " + c() + ")"
}

// A translation computes what the evaluation does, or fails; and it fails where that fails.
func TestTranslationAgrees(t *testing.T) {
	w := writer{rand.New(rand.NewPCG(7, 11))}
	more := map[string][]any{"a": {1, 100}, "b": {0, 5}, "c": {-9, 9}, "d": {0.0, 1.0}, "e": {1 << 61, -1 << 61}, "m": {1, 2.5}, "n": {2.5, 1}}
	agreed, failed, refused := 0, 0, 0
	rounds := 6000
	if testing.Short() {
		rounds = 1000
	}
	for range rounds {
		values := map[string]any{"a": 1 + w.IntN(100), "b": w.IntN(6), "c": w.IntN(19) - 9, "d": float64(w.IntN(5)) / 2,
			"e": int(w.Uint64()) >> (2 + w.IntN(60)), "m": 1 + w.IntN(3), "n": 0.5, "flag": w.IntN(2) == 0, "text": w.one("x", "y")}
		mine, its := scopes(t, values, more)
		source := w.condition(1+w.IntN(4), []string{"a", "b", "c", "d", "e", "m", "n", "flag"})
		e, err := Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		v, wrong := e.Eval(values)
		got, text, err := translated(e, true, mine, its, values)
		// What the result does not depend on is not computed: items of a list, and what stands
		// before «and false».
		lazy := strings.ContainsAny(source, "[") || strings.Contains(source, " for ") ||
			strings.Contains(text, "and false") || strings.Contains(text, "or true")
		source = excerpt.Of(source)
		switch {
		case err != nil && strings.Contains(err.Error(), "compile"):
			t.Fatalf("%s\n with %v\n is %s\n %.500v", source, values, excerpt.Of(text), err)
		case err != nil && text == "":
			refused++
		case err != nil:
			failed++
			if wrong == nil && !strings.Contains(err.Error(), "beyond the") {
				t.Fatalf("%s\n with %v\n is %v\n but %s fails: %.500v", source, values, v, excerpt.Of(text), err)
			}
		case wrong != nil:
			if !strings.Contains(wrong.Error(), "4096 bits") && !lazy {
				t.Fatalf("%s\n with %v\n fails: %v\n but %s is %v", source, values, wrong, excerpt.Of(text), got)
			}
		case got != isTrue(v):
			t.Fatalf("%s\n with %v\n is %v\n but %s is %v", source, values, v, excerpt.Of(text), got)
		default:
			agreed++
		}
	}
	t.Logf("%d agreed, %d failed, %d refused", agreed, failed, refused)
	if agreed < rounds/2 {
		t.Errorf("only %d of %d expressions were compared", agreed, rounds)
	}
}
