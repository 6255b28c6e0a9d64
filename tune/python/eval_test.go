package python

import (
	"reflect"
	"strings"
	"testing"
)

// Values that were computed by hand.
func TestValues(t *testing.T) {
	names := map[string]any{"x": 7, "y": -7, "f": 2.5, "t": true, "s": "float4", "zero": 0}
	for _, c := range []struct {
		source string
		want   any
	}{
		// literals
		{"42", 42}, {"1_000", 1000}, {"0x1F", 31}, {"0b101", 5}, {"0o17", 15}, {"0X_ff", 255}, {"00", 0},
		{"1.5", 1.5}, {".5", 0.5}, {"5.", 5.0}, {"1e3", 1000.0}, {"1_0.2_5e-1", 1.025}, {"True", true}, {"False", false},
		{`"a\tb"`, "a\tb"}, {`'it''s'`, "its"}, {`r"a\n"`, `a\n`}, {`"\x41\u00e9\U0001F600"`, "Aé😀"}, {`u'x' "y"`, "xy"},
		{"[1, 2.5, 'a', True,]", []any{1, 2.5, "a", true}}, {"()", []any{}}, {"(1,)", []any{1}}, {"(1)", 1}, {"1,", nil},

		// precedence
		{"2 + 3 * 4", 14}, {"(2 + 3) * 4", 20}, {"-2 ** 2", -4}, {"(-2) ** 2", 4}, {"2 ** -1", 0.5}, {"2 ** 3 ** 2", 512},
		{"-2 ** -2", -0.25}, {"not 1 == 2", true}, {"not 1 in [2]", true}, {"1 not in [2]", true}, {"1 + 2 < 4", true},
		{"1 | 2 == 2", false}, {"(1 | 2) == 3", true}, {"1 << 2 + 1", 8}, {"6 & 3 | 8", 10}, {"1 ^ 3 & 2", 3}, {"~5", -6}, {"- -3", 3},
		{"1 if 0 else 2 if 0 else 3", 3}, {"1 or 0 and 0", 1}, {"2 * 3 % 4", 2}, {"7 - 2 - 1", 4}, {"2 / 2 / 2", 0.5},

		// // and % round down, towards minus infinity
		{"7 // 2", 3}, {"-7 // 2", -4}, {"7 // -2", -4}, {"-7 // -2", 3}, {"-6 // 2", -3}, {"0 // -5", 0},
		{"7 % 2", 1}, {"-7 % 2", 1}, {"7 % -2", -1}, {"-7 % -2", -1}, {"-6 % 3", 0}, {"1 % -3", -2},
		{"7.5 // 2", 3.0}, {"-7.5 // 2", -4.0}, {"-7.5 % 2", 0.5}, {"7.5 % -2", -0.5}, {"1 // 0.1", 9.0}, {"5.5 % 5", 0.5},
		{"7 / 2", 3.5}, {"6 / 2", 3.0}, {"-1 / 2", -0.5}, {"x // 2 * 2 + x % 2 == x", true}, {"y // 2", -4}, {"y % 4", 1},

		// powers
		{"2 ** 10", 1024}, {"0 ** 0", 1}, {"(-1) ** 3", -1}, {"(-1) ** 1000000000000", 1}, {"0 ** 5", 0}, {"4 ** 0.5", 2.0}, {"2.0 ** 3", 8.0},

		// bools are numbers
		{"True + True", 2}, {"True == 1", true}, {"True == 1.0", true}, {"t * 3", 3}, {"-True", -1}, {"True & False", false}, {"True | 2", 3},
		{"True ^ True", false}, {"False < True", true}, {"1 in [True]", true}, {"0.0 == False", true},

		// comparisons
		{"1 < 2 < 3", true}, {"1 < 3 < 2", false}, {"3 > 2 >= 2 != 1", true}, {"1 < 2 > 1", true}, {"1 == 1.0", true},
		{"9007199254740993 == 9007199254740992.0", false}, {"9007199254740993 > 9007199254740992.0", true},
		{`"a" < "b"`, true}, {`"a" == 1`, false}, {`"a" != 1`, true}, {`"oat" in s`, true}, {`s in ("float", "float4")`, true},
		{"[1, 2] == [1, 2]", true}, {"[1, 2] == (1, 2)", false}, {"2 in {1, 2}", true}, {"2 not in {1, 2}", false}, {"0 < x < 10 in [10]", true},

		// and, or and not give operands
		{"0 or 5", 5}, {"3 or 5", 3}, {"0 and 5", 0}, {"3 and 5", 5}, {`"" or "x"`, "x"}, {"[] or 1", 1}, {"not []", true}, {"not 0.0", true},
		{"0 and 1 / 0", 0}, {"1 or 1 / 0", 1}, {"1 if True else 1 / 0", 1},

		// functions
		{"min(3, 1, 2)", 1}, {"max([3, 1.5])", 3}, {"min(1, 1.0)", 1}, {"max(True, 1)", true}, {"abs(-3)", 3}, {"abs(-2.5)", 2.5}, {"len([1, 2])", 2}, {"len('é')", 1},
		{"int(2.9)", 2}, {"int(-2.9)", -2}, {"float(3)", 3.0}, {"round(2.5)", 2}, {"round(3.5)", 4}, {"round(-0.5)", 0}, {"bool(3)", true},
		{"sum([1, 2, 3])", 6}, {"sum(range(5))", 10}, {"all([])", true}, {"any([])", false}, {"all([1, 0])", false}, {"any((0, 2))", true},
		{"list(range(3))", []any{0, 1, 2}}, {"list(range(5, 0, -2))", []any{5, 3, 1}}, {"list(range(3, 3))", []any{}}, {"tuple([1])", []any{1}},
		{"sorted([3, 1, 2])", []any{1, 2, 3}}, {"math.ceil(2.1)", 3}, {"math.floor(-2.1)", -3}, {"math.sqrt(16)", 4.0}, {"math.log2(8)", 3.0},
		{"int(math.log2(1024))", 10}, {"len(range(10**6))", 1000000},

		// lists, comprehensions
		{"[1] + [2, 3]", []any{1, 2, 3}}, {"[0] * 3", []any{0, 0, 0}}, {"2 * [1]", []any{1, 1}}, {"[1, 2, 3][1]", 2}, {"[1, 2, 3][-1]", 3}, {`"abc"[1]`, "b"},
		{"[16 * i for i in range(1, 4)]", []any{16, 32, 48}}, {"[2**i for i in range(0, 6)]", []any{1, 2, 4, 8, 16, 32}},
		{"[1] + [2 * i for i in range(1, 3)]", []any{1, 2, 4}}, {"[1, 2, 4] + list(range(32, 128+1, 32))", []any{1, 2, 4, 32, 64, 96, 128}},
		{"[i for i in range(10) if i % 2 if i > 4]", []any{5, 7, 9}}, {"[10*i+j for i in range(2) for j in range(i+1)]", []any{0, 10, 11}},
		{"[x for x in [1, 2]]", []any{1, 2}}, {"[x for x in [x]]", []any{7}}, {"[[x for x in range(x)] for x in range(3)]", []any{[]any{}, []any{0}, []any{0, 1}}},
		{"[x for x in [1]] + [x]", []any{1, 7}}, {"sum(i * i for i in range(4))", 14}, {"any(x % i == 0 for i in [2, 7])", true}, {"all(i for i in (1, 0))", false},
		{"[c for c in 'ab']", []any{"a", "b"}}, {"sum((i for i in [1, 2]))", 3},

		// names
		{`p["x"] * 2`, 14}, {"lambda p: p['x'] == 7", true}, {"lambda params: params['x'] + params[\"f\"]", 9.5}, {"x + y", 0}, {"s + '!'", "float4!"},
	} {
		e, err := Parse(c.source)
		if c.want == nil {
			if err == nil {
				t.Errorf("%s was parsed", c.source)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		v, err := e.Eval(names)
		if err != nil {
			t.Error(err)
			continue
		}
		if !reflect.DeepEqual(v, c.want) {
			t.Errorf("%s is %v (%T); want %v (%T)", c.source, v, v, c.want, c.want)
		}
		if again, err := Parse(printed(e.root)); err != nil || printed(again.root) != printed(e.root) {
			t.Errorf("%s is printed as %s, which is read otherwise (%v)", c.source, printed(e.root), err)
		}
	}
}

// TestLargeIntegers: an integer beyond 64 bits is an error, with its place.
func TestLargeIntegers(t *testing.T) {
	for source, want := range map[string]string{
		"1 + 2 ** 63":                 "column 7: the result is beyond the integers of 64 bits",
		"(2 ** 62 + 1) * 2 - 2 ** 62": "column 15: the result is beyond the integers of 64 bits",
		"9223372036854775808":         "column 1: 9223372036854775808 is beyond the integers of 64 bits",
		"1 + 0x1_0000_0000_0000_0000": "column 5: 0x1_0000_0000_0000_0000 is beyond the integers of 64 bits",
		"-9223372036854775808":        "",
		"9223372036854775807":         "",
		"-2 ** 62 * 2":                "",
	} {
		e, err := Parse(source)
		if err == nil {
			_, err = e.Eval(nil)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v; want %q", source, err, want)
		}
	}
}
