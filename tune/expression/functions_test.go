package expression

import (
	"math"
	"strings"
	"testing"
)

// What a function cannot compute is an error, never another number. docs/spec.md has values.
func TestFunctionsFail(t *testing.T) {
	scope := Scope{"least": -1 << 63, "most": 1<<63 - 1, "zero": 0, "minus": -1, "s": "x", "huge": 1e300}
	for _, c := range []struct{ source, want string }{
		{"floor_div(1, zero)", "floor_div(1, 0): division by zero"},
		{"floor_mod(1.5, zero)", "floor_mod(1.5, 0): division by zero"},
		{"true_div(1, zero)", "division by zero"},
		{"floor_div(least, minus)", "beyond the integers of 64 bits"},
		{"most + 1", "beyond the integers of 64 bits"},
		{"least - 1", "beyond the integers of 64 bits"},
		{"least * minus", "beyond the integers of 64 bits"},
		{"minus * least", "beyond the integers of 64 bits"},
		{"most * 2", "beyond the integers of 64 bits"},
		{"power(2, 63)", "beyond the integers of 64 bits"},
		{"power(zero, minus)", "division by zero"},
		{"power(minus, 0.5)", "no real number"},
		{"power(huge, 2)", "beyond the floats"},
		{"round_down(huge)", "round_down(1e+300): the result is beyond the integers of 64 bits"},
		{"sqrt(minus)", "no real number"},
		{"log2(zero)", "no real number"},
		{"shift_left(1, 63)", "beyond the integers of 64 bits"},
		{"shift_left(1, minus)", "the shift is negative"},
		{"shift_right(1, minus)", "the shift is negative"},
		{"bit_and(1, 1.5)", "takes integers"},
		{"compare(1, s)", "is not a number"},
	} {
		e, err := Compile(c.source, scope)
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		if v, err := e.Eval(scope); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s is %v, %v; want an error with %q", c.source, v, err, c.want)
		}
	}
	for source, want := range map[string]any{
		"power(-2, 63)": -1 << 63, "least + most": -1, "shift_left(-1, 63)": -1 << 63, "floor_mod(least, minus)": 0,
		"compare(most, 9223372036854775808.0)": -1, "shift_right(least, 100)": -1,
	} {
		e, err := Compile(source, scope)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if v, err := e.Eval(scope); err != nil || v != want {
			t.Errorf("%s is %v, %v; want %v", source, v, err, want)
		}
	}
}

func TestIsFunction(t *testing.T) {
	if !IsFunction("div") || !IsFunction("floor_mod") || IsFunction("min") || IsFunction("x") {
		t.Error("IsFunction is wrong about div, floor_mod, min or x")
	}
}

// log2 is exact for powers of two, and elsewhere has fifteen digits.
func TestLog2(t *testing.T) {
	for e := -1074; e < 1024; e++ {
		if f := log2(math.Ldexp(1, e)); f != float64(e) {
			t.Errorf("log2(2^%d) is %v", e, f)
		}
	}
	for f := 0.01; f < 1e6; f *= 1.001 {
		want := math.Log(f) / math.Ln2 // near 1, math.Log2 has fewer digits
		if got := log2(f); math.Abs(got-want) > 1e-15*math.Abs(want) {
			t.Errorf("log2(%v) is %v; want %v", f, got, want)
		}
	}
}

// The quotient of zero has the sign of the divisor, also of one that no float holds.
func TestTrueDivOfZero(t *testing.T) {
	for _, b := range []int{-3, math.MinInt, -1<<53 - 1} {
		if f, err := trueDivInts(0, b); err != nil || !math.Signbit(f) {
			t.Errorf("true_div(0, %d) is %v, %v; want -0", b, f, err)
		}
	}
}
