package expression

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"
)

// A writer makes random expressions of the language.
type writer struct{ *rand.Rand }

func (w writer) one(of ...string) string { return of[w.IntN(len(of))] }

func (w writer) number(depth int) string {
	if depth <= 0 {
		return w.one("a", "b", "zero", "least", "f", "g", "device.local_memory", "mixed", "0", "1", "7", "2.5", "9007199254740993", fmt.Sprint(w.IntN(100)))
	}
	n := func() string { return w.number(w.IntN(depth)) }
	switch w.IntN(9) {
	case 0, 1, 2:
		return "(" + n() + w.one(" + ", " - ", " * ", " / ", " % ", " ** ", "^") + n() + ")"
	case 3:
		return w.one("-", "+", "abs", "ceil", "floor", "round", "int", "float", "sqrt", "log2", "truncate", "round_even", "round_up", "round_down") + "(" + n() + ")"
	case 4, 5:
		f := functions[w.IntN(len(functions))].name
		switch f {
		case "sqrt", "log2", "truncate", "round_even", "round_up", "round_down":
			return f + "(" + n() + ")"
		}
		return f + "(" + n() + ", " + n() + ")"
	case 6:
		return w.one("min", "max") + "(" + n() + ", " + n() + ", " + n() + ")"
	case 7:
		return w.one("len([", "sum([") + n() + ", " + n() + "])"
	}
	return "(" + w.condition(depth-1) + " ? " + n() + " : " + n() + ")"
}

func (w writer) condition(depth int) string {
	if depth <= 0 {
		return w.one("t", "u", "true", "false", `s == "x"`, `s != r`, `s < "y"`)
	}
	n := func() string { return w.number(w.IntN(depth)) }
	c := func() string { return w.condition(w.IntN(depth)) }
	switch w.IntN(8) {
	case 0, 1, 2:
		return "(" + n() + w.one(" < ", " <= ", " > ", " >= ", " == ", " != ") + n() + ")"
	case 3:
		return "(" + c() + w.one(" and ", " or ", " && ", " || ", " == ", " != ") + c() + ")"
	case 4:
		return w.one("not ", "!") + "(" + c() + ")"
	case 5:
		return "(" + n() + w.one(" in ", " not in ") + w.one("[1, 7, 0]", "[1, "+n()+"]", "1..9", w.one("a", "b", "zero")+".."+w.one("a", "b", "9")) + ")"
	case 6:
		return "(" + w.one("s", "r", `"x"`) + w.one(" in ", " not in ") + w.one(`["x", "z"]`, `[r, "x"]`) + ")"
	}
	return "(" + c() + " ? " + c() + " : " + c() + ")"
}

// RandomSource returns a random expression. RandomScope are the names that it reads.
func RandomSource(r *rand.Rand, depth int) string {
	w := writer{r}
	if r.IntN(2) == 0 {
		return w.condition(depth)
	}
	return w.number(depth)
}

var RandomScope = Scope{"a": 1, "b": 1, "zero": 0, "least": 1, "f": 1.5, "g": 1.5, "t": true, "u": false, "s": "x", "r": "x", "mixed": nil,
	"device": map[string]any{"local_memory": 49152}}

// FuzzAgainstVM: programs of nodes compute what the VM of expr-lang computes, and fail where it
// does. What is printed compiles to the same.
func FuzzAgainstVM(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	scope := RandomScope
	f.Fuzz(func(t *testing.T, seed uint64) {
		w := writer{rand.New(rand.NewPCG(seed, 1))}
		source := w.number(w.IntN(5))
		if w.IntN(2) == 0 {
			source = w.condition(w.IntN(5))
		}
		e, err := Compile(source, scope)
		if err != nil || e.root == nil {
			return
		}
		printed, err := Compile(e.root.String(), scope)
		if err != nil {
			t.Fatalf("%s is printed as %s: %v", source, e.root, err)
		}
		for range 5 {
			environment := map[string]any{"a": w.IntN(100), "b": w.IntN(41) - 20, "zero": 0, "least": math.MinInt + w.IntN(2), "f": float64(w.IntN(9)) / 2,
				"g": []float64{0, -1.5, 1e300, math.Inf(1), math.Copysign(0, -1)}[w.IntN(5)], "t": w.IntN(2) == 0, "u": w.IntN(2) == 0,
				"s": w.one("x", "y", "z"), "r": w.one("x", "y"), "mixed": 1, "device": map[string]any{"local_memory": 1 << w.IntN(20)}}
			want, wrong := e.run(environment)
			for _, e := range []*Expression{e, printed} {
				if e.root == nil {
					continue
				}
				got, err := e.closure().eval(environment)
				if err == errOverflow && wrong == nil && overflows(t, e.root, environment) {
					continue // where the VM wraps around
				}
				if (err == nil) != (wrong == nil) || err == nil && !same(got, want) {
					t.Fatalf("%s\n as %s\n with %v\n is %v (%T), %v; the VM gives %v (%T), %v", source, e.root, environment, got, got, err, want, want, wrong)
				}
			}
		}
	})
}

// overflows reports whether a sum, a difference or a product of integers within a node is beyond 64 bits.
func overflows(t *testing.T, n *Node, environment map[string]any) bool {
	for _, a := range n.Args {
		if overflows(t, a, environment) {
			return true
		}
	}
	exact := map[Code]func(z, x, y *big.Int) *big.Int{
		Add: (*big.Int).Add, Subtract: (*big.Int).Sub, Multiply: (*big.Int).Mul,
		Negate:   func(z, x, _ *big.Int) *big.Int { return z.Neg(x) },
		Absolute: func(z, x, _ *big.Int) *big.Int { return z.Abs(x) },
		Quotient: (*big.Int).Quo,
	}[n.Code]
	if exact == nil || n.Of[0] != Int {
		return false
	}
	var args [2]*big.Int
	for i, a := range n.Args {
		v, err := newEvaluator(a).eval(environment)
		if err != nil {
			return false
		}
		args[i] = big.NewInt(int64(v.(int)))
	}
	return (n.Code != Quotient || args[1].Sign() != 0) && !exact(new(big.Int), args[0], args[1]).IsInt64()
}

// TestConstantConditionBehindFailure: a part that fails is an error, also where a constant behind it would decide.
func TestConstantConditionBehindFailure(t *testing.T) {
	for _, source := range []string{"sqrt(f) == 1 or true", "sqrt(f) == 1 and false"} {
		e, err := Compile(source, Scope{"f": 1.5})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := e.Eval(map[string]any{"f": -1.0}); err == nil {
			t.Errorf("%s is %v for f = -1; want the error of the root", source, v)
		}
	}
}

func same(a, b any) bool {
	x, xFloat := a.(float64)
	y, yFloat := b.(float64)
	if xFloat && yFloat {
		return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
	}
	return a == b
}

// BenchmarkEvaluate compares programs with the VM of expr-lang.
func BenchmarkEvaluate(b *testing.B) {
	environment := map[string]any{"x": 64, "y": 8, "time": 0.125, "n": 4096, "device": map[string]any{"local_memory": 49152}}
	for _, source := range []string{"x * y <= 1024", "2 * n ** 3 / time / 1e6", "div(n + x - 1, x)", "x * y * 4 <= device.local_memory and n % x == 0"} {
		e, err := Compile(source, environment)
		if err != nil || e.root == nil {
			b.Fatal(source, err)
		}
		b.Run("program/"+source, func(b *testing.B) {
			for b.Loop() {
				e.closure().eval(environment)
			}
		})
		b.Run("VM/"+source, func(b *testing.B) {
			for b.Loop() {
				e.run(environment)
			}
		})
	}
}

// TestConcurrentUse is for the race detector too.
func TestConcurrentUse(t *testing.T) {
	e, err := Compile(`r == s ? power(a, 2) : power(a, b)`, Scope{"a": 1, "b": 0, "r": "x", "s": "x"})
	if err != nil || e.root != nil {
		t.Fatal(err, "the second power is no integer for certain: only the VM computes it")
	}
	if e, err = Compile(`r == s ? power(a, 2) : power(b, 2) + power(a, 3)`, Scope{"a": 1, "b": 0, "r": "x", "s": "x"}); err != nil || e.root == nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for a := range 8 {
		all.Go(func() {
			for b := range 1000 {
				text := fmt.Sprint(b % 3)
				want := b*b + a*a*a
				if text == "0" {
					want = a * a
				}
				if v, err := e.Eval(map[string]any{"a": a, "b": b, "r": text, "s": "0"}); err != nil || v != want {
					t.Errorf("a = %d, b = %d: %v, %v; want %d", a, b, v, err, want)
					return
				}
			}
		})
	}
	all.Wait()
}
