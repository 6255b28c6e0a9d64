package expression

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"reflect"
	"slices"
)

// builtins are the functions of expr-lang that an expression may call: those that
// compute, and nothing that reaches the clock or the machine.
var builtins = []string{
	"min", "max", "abs", "ceil", "floor", "round", "int", "float", "len", "sum",
	"all", "any", "none", "one", "filter", "map", "count",
}

// A function is one that expressions have beyond expr-lang's.
type function struct {
	name      string
	signature any // a Go function without a body
	compute   func(params []any) (any, error)
	ints      func(a, b int) (int, error) // compute, of two integers; nil: only compute
	code      Code                        // the operation that it is with integers; else zero
}

var (
	oneToInt   func(any) int
	oneToFloat func(any) float64
	two        func(any, any) any
	twoToInt   func(any, any) int
	twoToFloat func(any, any) float64
	twoInts    func(int, int) int
)

// functions are the functions that expressions have beyond expr-lang's. Those behind div
// compute as Python does. Integers that would leave 64 bits are errors of theirs.
var functions = []function{
	{"div", twoInts, onInts(quotient), quotient, Quotient},
	{"floor_div", two, onNumbers(floorDivInts, floorDivFloats), floorDivInts, FloorDiv},
	{"floor_mod", two, onNumbers(floorModInts, floorModFloats), floorModInts, FloorMod},
	{"true_div", twoToFloat, onNumbers(trueDivInts, trueDivFloats), nil, 0},
	{"power", two, onNumbers(powerInts, powerFloats), nil, 0},
	{floatPower, twoToFloat, powerOfInts, nil, 0},
	{"%", twoToInt, onInts(remainder), remainder, Remainder},
	{"compare", twoToInt, compareNumbers, nil, 0},
	{"round_down", oneToInt, toInt(math.Floor), nil, 0},
	{"round_up", oneToInt, toInt(math.Ceil), nil, 0},
	{"round_even", oneToInt, toInt(math.RoundToEven), nil, 0},
	{"truncate", oneToInt, toInt(math.Trunc), nil, 0},
	{"sqrt", oneToFloat, onFloat(math.Sqrt, func(f float64) bool { return f >= 0 }), nil, 0},
	{"log2", oneToFloat, onFloat(log2, func(f float64) bool { return f > 0 }), nil, 0},
	{"bit_and", twoToInt, onInts(bitAnd), bitAnd, 0},
	{"bit_or", twoToInt, onInts(bitOr), bitOr, 0},
	{"bit_xor", twoToInt, onInts(bitXor), bitXor, 0},
	{"shift_left", twoToInt, onInts(shiftLeft), shiftLeft, 0},
	{"shift_right", twoToInt, onInts(shiftRight), shiftRight, 0},
}

// floatPower is the power of integers as a float. Expressions cannot call it.
const floatPower = "float power"

func powerOfInts(params []any) (any, error) {
	v, err := powerInts(params[0].(int), params[1].(int))
	if err != nil {
		return nil, err
	}
	return toFloat(v)
}

// functionNamed are the functions by name.
var functionNamed = map[string]*function{}

func init() {
	for i := range functions {
		functionNamed[functions[i].name] = &functions[i]
	}
}

// IsFunction reports whether expressions know a function of their own under this name, which
// so can name nothing else.
func IsFunction(name string) bool { return functionNamed[name] != nil }

// result is the kind of the value of numbers; not ok where the function does not take them.
func (f *function) result(args []*Node) (k Kind, ok bool) {
	floats := slices.ContainsFunc(args, isFloat)
	if slices.ContainsFunc(args, func(n *Node) bool { return n.Kind == Number }) {
		return 0, false
	}
	switch out := reflect.TypeOf(f.signature).Out(0).Kind(); {
	case out == reflect.Float64, out == reflect.Interface && floats:
		return Float, true
	case out == reflect.Int:
		return Int, f.ints == nil || !floats
	}
	if f.name == "power" && !args[1].isNatural() { // a negative exponent makes a float
		return Number, true
	}
	return Int, true
}

var (
	errOverflow = errors.New("the result is beyond the integers of 64 bits")
	errZero     = errors.New("division by zero")
	errShift    = errors.New("the shift is negative")
	errReal     = errors.New("the result is no real number")
	errInts     = errors.New("takes integers")
)

// onNumbers computes with two integers, or with two numbers as floats.
func onNumbers[T any](ints func(a, b int) (T, error), floats func(a, b float64) (float64, error)) func([]any) (any, error) {
	return func(params []any) (any, error) {
		a, aInt := params[0].(int)
		b, bInt := params[1].(int)
		if aInt && bInt {
			return ints(a, b)
		}
		x, y, err := twoFloats(params[0], params[1])
		if err != nil {
			return nil, err
		}
		return floats(x, y)
	}
}

// onInts computes with two integers, or floats that are whole numbers.
func onInts(compute func(a, b int) (int, error)) func([]any) (any, error) {
	return func(params []any) (any, error) {
		var args [2]int
		for i, v := range params {
			f, _ := v.(float64)
			n, isInt := v.(int)
			if args[i] = n + int(f); !isInt && (v != float64(args[i]) || math.Abs(f) >= exactLimit) {
				return nil, errInts
			}
		}
		return compute(args[0], args[1])
	}
}

// toInt makes an integer of a number.
func toInt(round func(float64) float64) func([]any) (any, error) {
	return func(params []any) (any, error) {
		if i, ok := params[0].(int); ok {
			return i, nil
		}
		f, err := toFloat(params[0])
		if err != nil {
			return nil, err
		}
		if r := round(f); r >= math.MinInt64 && r < math.MaxInt64 {
			return int(r), nil
		}
		return nil, errOverflow
	}
}

// onFloat computes with one number, of those that it is defined for.
func onFloat(compute func(float64) float64, defined func(float64) bool) func([]any) (any, error) {
	return func(params []any) (any, error) {
		f, err := toFloat(params[0])
		if err == nil && !defined(f) {
			err = errReal
		}
		if err != nil {
			return nil, err
		}
		return compute(f), nil
	}
}

func toFloat(v any) (float64, error) {
	switch v := v.(type) {
	case int:
		return float64(v), nil
	case float64:
		return v, nil
	}
	return 0, fmt.Errorf("%s is not a number", describe(v))
}

func twoFloats(a, b any) (x, y float64, err error) {
	if x, err = toFloat(a); err == nil {
		y, err = toFloat(b)
	}
	return x, y, err
}

// log2 is exact for powers of two. It uses only operations that IEEE 754 rounds, unlike [math.Log2],
// whose last bit depends on the architecture: exported expressions compute the same number.
func log2(f float64) float64 {
	if math.IsInf(f, 1) {
		return f
	}
	m, exponent := math.Frexp(f)
	if m < math.Sqrt2/2 {
		m += m
		exponent--
	}
	s, series := (m-1)/(m+1), 0.0
	for k := 25; k > 0; k -= 2 { // of artanh s = (ln m)/2; the conversions keep products from being fused
		series = 1/float64(k) + float64(float64(s*s)*series)
	}
	return float64(exponent) + float64(float64(2/math.Ln2*s)*series)
}

func bitAnd(a, b int) (int, error) { return a & b, nil }
func bitOr(a, b int) (int, error)  { return a | b, nil }
func bitXor(a, b int) (int, error) { return a ^ b, nil }

func quotient(a, b int) (int, error) {
	switch {
	case b == 0:
		return 0, errZero
	case a == math.MinInt && b == -1:
		return 0, errOverflow
	}
	return a / b, nil
}

func remainder(a, b int) (int, error) {
	if b == 0 {
		return 0, errZero
	}
	return a % b, nil
}

func floorDivInts(a, b int) (int, error) {
	q, err := quotient(a, b)
	if err == nil && a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q, err
}

func floorModInts(a, b int) (int, error) {
	if b == 0 {
		return 0, errZero
	}
	m := a % b
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m, nil
}

// floorDivFloats goes by the remainder: a / b may have been rounded up to a whole number.
func floorDivFloats(a, b float64) (float64, error) {
	if b == 0 {
		return 0, errZero
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

func floorModFloats(a, b float64) (float64, error) {
	if b == 0 {
		return 0, errZero
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
func trueDivInts(a, b int) (float64, error) {
	if b == 0 {
		return 0, errZero
	}
	const exact = 1 << 53
	if a == 0 || -exact <= a && a <= exact && -exact <= b && b <= exact {
		return float64(a) / float64(b), nil
	}
	f, _ := big.NewRat(int64(a), int64(b)).Float64()
	return f, nil
}

func trueDivFloats(a, b float64) (float64, error) {
	if b == 0 {
		return 0, errZero
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

func powerFloats(a, b float64) (float64, error) {
	switch {
	case a == 0 && b < 0:
		return 0, errZero
	case a < 0 && b != math.Floor(b) && !math.IsInf(a, 0):
		return 0, errReal
	}
	f := math.Pow(a, b)
	if math.IsInf(f, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		return 0, errors.New("the result is beyond the floats")
	}
	return f, nil
}

func addInts(a, b int) (int, error) {
	if sum := a + b; (sum > a) == (b > 0) {
		return sum, nil
	}
	return 0, errOverflow
}

func subInts(a, b int) (int, error) {
	if difference := a - b; (difference < a) == (b > 0) {
		return difference, nil
	}
	return 0, errOverflow
}

func negative(a, _ int) (int, error) { return subInts(0, a) }

func absolute(a, _ int) (int, error) { return subInts(max(a, 0), min(a, 0)) }

func mulInts(a, b int) (int, error) {
	if p, ok := product(a, b); ok {
		return p, nil
	}
	return 0, errOverflow
}

// product is a · b; not ok where an int cannot hold it.
func product(a, b int) (p int, ok bool) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return int(low), int(high)-a>>63&b-b>>63&a == int(low)>>63
}

// compareNumbers is -1, 0 or 1 as a is less than, equal to or more than b, however large.
func compareNumbers(params []any) (any, error) {
	x, y, err := twoFloats(params[0], params[1])
	if err == nil && (math.IsNaN(x) || math.IsNaN(y)) {
		err = errors.New("nothing compares with NaN")
	}
	if err != nil {
		return nil, err
	}
	exact := func(v any, f float64) *big.Float {
		if i, ok := v.(int); ok {
			return new(big.Float).SetInt64(int64(i))
		}
		return big.NewFloat(f)
	}
	return exact(params[0], x).Cmp(exact(params[1], y)), nil
}

func shiftLeft(a, n int) (int, error) {
	switch {
	case n < 0:
		return 0, errShift
	case a == 0:
		return 0, nil
	case n >= bits.UintSize || a<<n>>n != a:
		return 0, errOverflow
	}
	return a << n, nil
}

func shiftRight(a, n int) (int, error) {
	if n < 0 {
		return 0, errShift
	}
	return a >> min(n, bits.UintSize-1), nil
}
