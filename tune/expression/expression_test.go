package expression

import (
	"math"
	"strings"
	"testing"
)

func testScope() Scope {
	return Scope{"a": 4, "b": 3, "zero": 0, "f": 1.5, "t": true, "s": "x", "mixed": nil, "large": 1,
		"device": map[string]any{"local_memory": 49152}}
}

func testEnvironment() map[string]any {
	e := map[string]any(testScope())
	e["mixed"] = 2.5
	return e
}

func TestExpressionValues(t *testing.T) {
	for _, c := range []struct {
		source string
		want   any
	}{
		{"a * b <= 12", true},
		{"10 <= a * b <= 12", true},
		{"32 <= a * b <= 1024", false},
		{"a > 2 and t or b == 0", true},
		{"not t || !(a == 4)", false},
		{"a % b == 1", true},
		{"div(a * 5, b)", 6},
		{"a / b < 1.4", true},
		{"a ? 1 : 2", nil},
		{"a == 4 ? 1 : 2", 1},
		{"a in [1, 2, 4]", true},
		{"min(a, b) + max(a, b)", 7},
		{"ceil(a / b)", 2.0},
		{"device.local_memory >= a * 4", true},
		{`s == "x"`, true},
		{`s == "//"`, false},
		{"let x = a * b; x * x", 144},
		{"all([a, b], # > 2)", true},
		{"mixed * 2", 5.0},
		{"mixed > a", false},
		{"not t in [true, false]", false}, // as in Python: not (t in …)
		{"not t == t and t", false},
		{"a == 4 and not a in [1, 2]", true},
		{"(not t) in [true, false]", true},
		{"not s in ['y']", true},
		{"6.0 % a", 2},
		{"(a / 2) % b == 2", true},
		{"mixed * 2 % b", 2},
		{"a - 9223372036854775807 - 5", math.MinInt},
	} {
		e, err := Compile(c.source, testScope())
		if c.want == nil {
			if err == nil {
				t.Errorf("%s compiled", c.source)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		if got, err := e.Eval(testEnvironment()); err != nil || got != c.want {
			t.Errorf("%s = %v (%T), %v; want %v", c.source, got, got, err, c.want)
		}
	}
}

func TestExpressionErrorsSayWhatAndWhere(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"a // b", "write div(a, b)"},
		{"a /* b */", "comments are not allowed"},
		{"aa * 2", `nothing is named aa; did you mean "a"?`},
		{"unknown + 1", "nothing is named unknown"},
		{"now() > 1", "unknown name now"},
		{"device.locl_memory", "locl_memory"},
		{"a *", "column"},
		{"$env", "$env is not allowed"},
		{"", "empty"},
		{"t + 1", "mismatched types bool and int"},
		{"div(f, 2)", "div"},
	} {
		_, err := Compile(c.source, testScope())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want one with %q", c.source, err, c.want)
		}
	}
}

func TestExpressionFailsAtRunTimeWithAReason(t *testing.T) {
	for _, source := range []string{
		"a % zero == 1", "div(a, zero) == 1", "[1, 2][a] == 1", "f % 2 == 1", "mixed % 2 == 1",
		"large * large * a == 0", "large * 4611686018427387904 == 0", "large + large * 3 > 0", "0 - large - large - large > 0", "-(-large - large) < 0",
		"abs(-large - large) < 0",
	} {
		e, err := Compile(source, testScope())
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		environment := testEnvironment()
		environment["large"] = 1 << 62
		if v, err := e.Bool(environment); err == nil {
			t.Errorf("%s = %v, want an error", source, v)
		}
	}
}

func TestExpressionKinds(t *testing.T) {
	compile := func(source string) *Expression {
		e, err := Compile(source, testScope())
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if i, err := compile("a / 2").Int(testEnvironment()); err != nil || i != 2 {
		t.Errorf("a / 2 as an integer = %d, %v", i, err)
	}
	if _, err := compile("a / 3").Int(testEnvironment()); err == nil || !strings.Contains(err.Error(), "div(a, b)") {
		t.Errorf("a / 3 as an integer: %v", err)
	}
	if _, err := compile("s").Int(testEnvironment()); err == nil {
		t.Error("a text passed for an integer")
	}
	if b, err := compile("a - 4").Bool(testEnvironment()); err != nil || b {
		t.Errorf("a - 4 as a condition = %v, %v", b, err)
	}
	if f, err := compile("a").Float(testEnvironment()); err != nil || f != 4 {
		t.Errorf("a as a number = %v, %v", f, err)
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{"a*b <= 12", "a // b", `s == "x"`, "let x = a; x", "all([1], # > a)", "div(a, 0)", "'", "`//`"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		e, err := Compile(source, testScope())
		if err != nil {
			return
		}
		for _, name := range e.Names() {
			if _, ok := testScope()[name]; !ok {
				t.Errorf("%q reads %s, which is not in scope", source, name)
			}
		}
	})
}

// TestOverflowOfTheVM: what has no nodes, and what the VM of expr-lang computes without an error, overflows like all else.
func TestOverflowOfTheVM(t *testing.T) {
	for _, source := range []string{"sum([large, large]) > 0", "let x = large; x * 4 > 0", "all([large], # * 4 == 0)", "mixed * large < 0"} {
		e, err := Compile(source, testScope())
		if err != nil {
			t.Fatal(err)
		}
		environment := testEnvironment()
		environment["large"], environment["mixed"] = 1<<62, 8
		if v, err := e.Bool(environment); err == nil {
			t.Errorf("%s = %v, want an error", source, v)
		}
	}
}
