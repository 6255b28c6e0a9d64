package space

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"github.com/expr-lang/expr"
)

// A function is one that expressions have beyond expr-lang's.
type function struct {
	name    string
	compute func(params ...any) (any, error)
	types   []any // pointers to the types of Go functions
}

// ownFunctions are the functions that expressions have beyond expr-lang's. Those behind div
// compute as Python does. Integers that would leave 64 bits are errors of theirs.
var ownFunctions = []function{
	{"div", quotient, []any{new(func(int, int) int)}},
	{"floor_div", ofNumbers("floor_div", floorDivInts, floorDivFloats), twoNumbers},
	{"floor_mod", ofNumbers("floor_mod", floorModInts, floorModFloats), twoNumbers},
	{"true_div", ofNumbers("true_div", trueDivInts, trueDivFloats), twoNumbers},
	{"power", ofNumbers("power", powerInts, powerFloats), twoNumbers},
	{"checked_add", ofNumbers("checked_add", addInts, addFloats), twoNumbers},
	{"checked_sub", ofNumbers("checked_sub", subInts, subFloats), twoNumbers},
	{"checked_mul", ofNumbers("checked_mul", mulInts, mulFloats), twoNumbers},
	{"compare", compareNumbers, []any{new(func(any, any) int)}},
	{"round_down", toInt("round_down", math.Floor), toWhole},
	{"round_up", toInt("round_up", math.Ceil), toWhole},
	{"round_even", toInt("round_even", math.RoundToEven), toWhole},
	{"truncate", toInt("truncate", math.Trunc), toWhole},
	{"sqrt", ofReal("sqrt", math.Sqrt, func(f float64) bool { return f >= 0 }), toReal},
	{"log2", ofReal("log2", math.Log2, func(f float64) bool { return f > 0 }), toReal},
	{"bit_and", ofInts("bit_and", func(a, b int) int { return a & b }), twoInts},
	{"bit_or", ofInts("bit_or", func(a, b int) int { return a | b }), twoInts},
	{"bit_xor", ofInts("bit_xor", func(a, b int) int { return a ^ b }), twoInts},
	{"shift_left", shiftLeft, twoInts},
	{"shift_right", shiftRight, twoInts},
}

var (
	twoNumbers = []any{new(func(any, any) any)}
	twoInts    = []any{new(func(any, any) int)}
	toWhole    = []any{new(func(any) int)}
	toReal     = []any{new(func(any) float64)}
)

// IsFunction reports whether expressions know a function of their own under this name, which
// so can name nothing else.
func IsFunction(name string) bool {
	for _, f := range ownFunctions {
		if f.name == name {
			return true
		}
	}
	return false
}

func functionOptions() []expr.Option {
	options := make([]expr.Option, len(ownFunctions))
	for i, f := range ownFunctions {
		options[i] = expr.Function(f.name, f.compute, f.types...)
	}
	return options
}

var (
	errZero     = errors.New("division by zero")
	errOverflow = errors.New("the result is beyond the integers of 64 bits")
)

// ofNumbers is a function of two integers, or of two numbers as floats.
func ofNumbers(name string, ints func(a, b int) (any, error), floats func(a, b float64) (any, error)) func(...any) (any, error) {
	return func(params ...any) (v any, err error) {
		a, aInt := params[0].(int)
		b, bInt := params[1].(int)
		if aInt && bInt {
			v, err = ints(a, b)
		} else {
			x, y, wrong := twoFloats(params)
			if wrong != nil {
				return nil, fmt.Errorf("%s(%v, %v): %w", name, params[0], params[1], wrong)
			}
			v, err = floats(x, y)
		}
		if err != nil {
			return nil, fmt.Errorf("%s(%v, %v): %w", name, params[0], params[1], err)
		}
		return v, nil
	}
}

func twoFloats(params []any) (x, y float64, err error) {
	for i, to := range []*float64{&x, &y} {
		switch v := params[i].(type) {
		case int:
			*to = float64(v)
		case float64:
			*to = v
		default:
			return 0, 0, fmt.Errorf("%s is not a number", describe(v))
		}
	}
	return x, y, nil
}

func floorDivInts(a, b int) (any, error) {
	switch {
	case b == 0:
		return nil, errZero
	case a == math.MinInt && b == -1:
		return nil, errOverflow
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q, nil
}

func floorModInts(a, b int) (any, error) {
	if b == 0 {
		return nil, errZero
	}
	m := a % b
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m, nil
}

// floorDivFloats goes by the remainder: a / b may have been rounded up to a whole number.
func floorDivFloats(a, b float64) (any, error) {
	if b == 0 {
		return nil, errZero
	}
	m := math.Mod(a, b)
	q := (a - m) / b
	if m != 0 && (m < 0) != (b < 0) {
		q--
	}
	if q == 0 {
		return math.Copysign(0, a/b), nil
	}
	down := math.Floor(q)
	if q-down > 0.5 {
		down++
	}
	return down, nil
}

func floorModFloats(a, b float64) (any, error) {
	if b == 0 {
		return nil, errZero
	}
	m := math.Mod(a, b)
	switch {
	case m == 0:
		return math.Copysign(0, b), nil
	case (m < 0) != (b < 0):
		return m + b, nil
	}
	return m, nil
}

// trueDivInts is the float nearest to the quotient, also of integers that no float holds.
func trueDivInts(a, b int) (any, error) {
	if b == 0 {
		return nil, errZero
	}
	const exact = 1 << 53
	if -exact <= a && a <= exact && -exact <= b && b <= exact {
		return float64(a) / float64(b), nil
	}
	f, _ := big.NewRat(int64(a), int64(b)).Float64()
	return f, nil
}

func trueDivFloats(a, b float64) (any, error) {
	if b == 0 {
		return nil, errZero
	}
	return a / b, nil
}

func powerInts(a, b int) (any, error) {
	if b < 0 {
		return powerFloats(float64(a), float64(b))
	}
	result := 1
	for ; b > 0; b >>= 1 {
		var ok bool
		if b&1 == 1 {
			if result, ok = product(result, a); !ok {
				return nil, errOverflow
			}
		}
		if b > 1 {
			if a, ok = product(a, a); !ok {
				return nil, errOverflow
			}
		}
	}
	return result, nil
}

func powerFloats(a, b float64) (any, error) {
	switch {
	case a == 0 && b < 0:
		return nil, errZero
	case a < 0 && b != math.Floor(b) && !math.IsInf(a, 0):
		return nil, errors.New("the result is no real number")
	}
	f := math.Pow(a, b)
	if math.IsInf(f, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		return nil, errors.New("the result is beyond the floats")
	}
	return f, nil
}

func addInts(a, b int) (any, error) {
	if sum := a + b; (sum > a) == (b > 0) {
		return sum, nil
	}
	return nil, errOverflow
}

func subInts(a, b int) (any, error) {
	if difference := a - b; (difference < a) == (b > 0) {
		return difference, nil
	}
	return nil, errOverflow
}

func mulInts(a, b int) (any, error) {
	if p, ok := product(a, b); ok {
		return p, nil
	}
	return nil, errOverflow
}

// product is a · b; not ok where an int cannot hold it.
func product(a, b int) (p int, ok bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	p = a * b
	return p, p/b == a && !(a == -1 && b == math.MinInt) && !(b == -1 && a == math.MinInt)
}

func addFloats(a, b float64) (any, error) { return a + b, nil }
func subFloats(a, b float64) (any, error) { return a - b, nil }
func mulFloats(a, b float64) (any, error) { return a * b, nil }

// compareNumbers is -1, 0 or 1 as a is less than, equal to or more than b, however large.
func compareNumbers(params ...any) (any, error) {
	x, y, err := twoFloats(params)
	if err == nil && (math.IsNaN(x) || math.IsNaN(y)) {
		err = errors.New("nothing compares with NaN")
	}
	if err != nil {
		return nil, fmt.Errorf("compare(%v, %v): %w", params[0], params[1], err)
	}
	exact := func(v any, f float64) *big.Float {
		if i, ok := v.(int); ok {
			return new(big.Float).SetInt64(int64(i))
		}
		return big.NewFloat(f)
	}
	return exact(params[0], x).Cmp(exact(params[1], y)), nil
}

// toInt makes an integer of a number.
func toInt(name string, round func(float64) float64) func(...any) (any, error) {
	return func(params ...any) (any, error) {
		switch v := params[0].(type) {
		case int:
			return v, nil
		case float64:
			if r := round(v); r >= math.MinInt64 && r < math.MaxInt64 {
				return int(r), nil
			}
			return nil, fmt.Errorf("%s(%v): %w", name, v, errOverflow)
		default:
			return nil, fmt.Errorf("%s(%v): %s is not a number", name, v, describe(v))
		}
	}
}

// ofReal is a function of one number, for those that it is defined for.
func ofReal(name string, compute func(float64) float64, defined func(float64) bool) func(...any) (any, error) {
	return func(params ...any) (any, error) {
		f, _, err := twoFloats([]any{params[0], 0})
		if err == nil && !defined(f) {
			err = errors.New("the result is no real number")
		}
		if err != nil {
			return nil, fmt.Errorf("%s(%v): %w", name, params[0], err)
		}
		return compute(f), nil
	}
}

// ofInts is a function of two integers.
func ofInts(name string, compute func(a, b int) int) func(...any) (any, error) {
	return func(params ...any) (any, error) {
		a, b, err := integers(name, params)
		if err != nil {
			return nil, err
		}
		return compute(a, b), nil
	}
}

func integers(name string, params []any) (a, b int, err error) {
	a, aInt := params[0].(int)
	b, bInt := params[1].(int)
	if !aInt || !bInt {
		return 0, 0, fmt.Errorf("%s(%v, %v): takes integers", name, params[0], params[1])
	}
	return a, b, nil
}

func shiftLeft(params ...any) (any, error) {
	a, n, err := integers("shift_left", params)
	switch {
	case err != nil:
		return nil, err
	case n < 0:
		return nil, fmt.Errorf("shift_left(%d, %d): the shift is negative", a, n)
	case a == 0:
		return 0, nil
	case n >= bits.UintSize || a<<n>>n != a:
		return nil, fmt.Errorf("shift_left(%d, %d): %w", a, n, errOverflow)
	}
	return a << n, nil
}

func shiftRight(params ...any) (any, error) {
	a, n, err := integers("shift_right", params)
	switch {
	case err != nil:
		return nil, err
	case n < 0:
		return nil, fmt.Errorf("shift_right(%d, %d): the shift is negative", a, n)
	}
	return a >> min(n, bits.UintSize-1), nil
}
