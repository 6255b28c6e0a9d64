package expression

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// builtins are the functions of expr-lang that an expression may call: those that
// compute, and nothing that reaches the clock or the machine.
var builtins = []string{
	"min", "max", "abs", "ceil", "floor", "round", "int", "float", "len", "sum",
	"all", "any", "none", "one", "filter", "map", "count",
}

// A function is one that expressions have beyond expr-lang's. Programs and the VM of expr-lang
// compute it by the same call.
type function struct {
	name      string
	call      func(params ...any) (any, error)
	ints      func(a, b int) (int, error)     // call, of two integers; nil: see result
	signature any                             // a pointer to the type of a Go function
	result    func(args []*Node) (Kind, bool) // of numbers; false: it is known only when it is computed
}

// functions are the functions that expressions have beyond expr-lang's. Those behind div
// compute as Python does. Integers that would leave 64 bits are errors of theirs.
var functions = []function{
	ofInts("div", quotient, new(func(int, int) int)),
	ofNumbers("floor_div", floorDivInts, floorDivFloats),
	ofNumbers("floor_mod", floorModInts, floorModFloats),
	{name: "true_div", call: numbersCall("true_div", trueDivInts, trueDivFloats), signature: twoNumbers, result: always(Real)},
	{name: "power", call: numbersCall("power", powerInts, powerFloats), signature: twoNumbers, result: powerKind},
	ofNumbers("checked_add", addInts, addFloats),
	ofNumbers("checked_sub", subInts, subFloats),
	ofNumbers("checked_mul", mulInts, mulFloats),
	{name: "compare", call: compareNumbers, signature: new(func(any, any) int), result: always(Whole)},
	toInt("round_down", math.Floor),
	toInt("round_up", math.Ceil),
	toInt("round_even", math.RoundToEven),
	toInt("truncate", math.Trunc),
	ofReal("sqrt", math.Sqrt, func(f float64) bool { return f >= 0 }),
	ofReal("log2", math.Log2, func(f float64) bool { return f > 0 }),
	ofInts("bit_and", func(a, b int) (int, error) { return a & b, nil }, twoInts),
	ofInts("bit_or", func(a, b int) (int, error) { return a | b, nil }, twoInts),
	ofInts("bit_xor", func(a, b int) (int, error) { return a ^ b, nil }, twoInts),
	ofInts("shift_left", shiftLeft, twoInts),
	ofInts("shift_right", shiftRight, twoInts),
}

var (
	twoNumbers = new(func(any, any) any)
	twoInts    = new(func(any, any) int)
)

// functionOf is the function of a name, or nil.
func functionOf(name string) *function {
	i := slices.IndexFunc(functions, func(f function) bool { return f.name == name })
	if i < 0 {
		return nil
	}
	return &functions[i]
}

// IsFunction reports whether expressions know a function of their own under this name, which
// so can name nothing else.
func IsFunction(name string) bool { return functionOf(name) != nil }

// Compute is the value of a function of the language for numbers: of checked_mul(3, 4), 12. Its
// error says why there is none, as [ErrOverflow].
func Compute(name string, args ...any) (any, error) {
	v, err := functionOf(name).call(args...)
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	return v, err
}

// ErrOverflow is the error of an integer that a function cannot give.
var ErrOverflow = errors.New("the result is beyond the integers of 64 bits")

func always(k Kind) func([]*Node) (Kind, bool) {
	return func([]*Node) (Kind, bool) { return k, true }
}

// widest is an integer of integers, a float where one is.
func widest(args []*Node) (Kind, bool) {
	if slices.ContainsFunc(args, func(n *Node) bool { return n.Kind == Real }) {
		return Real, true
	}
	return Whole, true
}

// powerKind is not known of integers: a negative exponent makes it a float.
func powerKind(args []*Node) (Kind, bool) {
	k, _ := widest(args)
	exponent, constant := args[1].Value.(int)
	return k, k == Real || constant && exponent >= 0
}

func onlyInts(args []*Node) (Kind, bool) {
	k, _ := widest(args)
	return Whole, k == Whole
}

var (
	errZero  = errors.New("division by zero")
	errShift = errors.New("the shift is negative")
)

// ofNumbers is a function of two integers, or of two numbers as floats.
func ofNumbers(name string, ints func(a, b int) (int, error), floats func(a, b float64) (float64, error)) function {
	call := numbersCall(name, func(a, b int) (any, error) { return ints(a, b) }, floats)
	return function{name, call, ints, twoNumbers, widest}
}

func numbersCall(name string, ints func(a, b int) (any, error), floats func(a, b float64) (float64, error)) func(...any) (any, error) {
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

// ofInts is a function of two integers.
func ofInts(name string, ints func(a, b int) (int, error), signature any) function {
	call := func(params ...any) (any, error) {
		a, aInt := params[0].(int)
		b, bInt := params[1].(int)
		if !aInt || !bInt {
			return nil, fmt.Errorf("%s(%v, %v): takes integers", name, params[0], params[1])
		}
		v, err := ints(a, b)
		if err != nil {
			return nil, fmt.Errorf("%s(%d, %d): %w", name, a, b, err)
		}
		return v, nil
	}
	return function{name, call, ints, signature, onlyInts}
}

// toInt is a function that makes an integer of a number.
func toInt(name string, round func(float64) float64) function {
	call := func(params ...any) (any, error) {
		switch v := params[0].(type) {
		case int:
			return v, nil
		case float64:
			if r := round(v); r >= math.MinInt64 && r < math.MaxInt64 {
				return int(r), nil
			}
			return nil, fmt.Errorf("%s(%v): %w", name, v, ErrOverflow)
		default:
			return nil, fmt.Errorf("%s(%v): %s is not a number", name, v, describe(v))
		}
	}
	return function{name, call, nil, new(func(any) int), always(Whole)}
}

// ofReal is a function of one number, for those that it is defined for.
func ofReal(name string, compute func(float64) float64, defined func(float64) bool) function {
	call := func(params ...any) (any, error) {
		f, _, err := twoFloats([]any{params[0], 0})
		if err == nil && !defined(f) {
			err = errors.New("the result is no real number")
		}
		if err != nil {
			return nil, fmt.Errorf("%s(%v): %w", name, params[0], err)
		}
		return compute(f), nil
	}
	return function{name, call, nil, new(func(any) float64), always(Real)}
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

func quotient(a, b int) (int, error) {
	if b == 0 {
		return 0, errZero
	}
	return a / b, nil
}

func floorDivInts(a, b int) (int, error) {
	switch {
	case b == 0:
		return 0, errZero
	case a == math.MinInt && b == -1:
		return 0, ErrOverflow
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q, nil
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
				return nil, ErrOverflow
			}
		}
		if b > 1 {
			if a, ok = product(a, a); !ok {
				return nil, ErrOverflow
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
		return 0, errors.New("the result is no real number")
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
	return 0, ErrOverflow
}

func subInts(a, b int) (int, error) {
	if difference := a - b; (difference < a) == (b > 0) {
		return difference, nil
	}
	return 0, ErrOverflow
}

func mulInts(a, b int) (int, error) {
	if p, ok := product(a, b); ok {
		return p, nil
	}
	return 0, ErrOverflow
}

// product is a · b; not ok where an int cannot hold it.
func product(a, b int) (p int, ok bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	p = a * b
	return p, p/b == a && !(a == -1 && b == math.MinInt) && !(b == -1 && a == math.MinInt)
}

func addFloats(a, b float64) (float64, error) { return a + b, nil }
func subFloats(a, b float64) (float64, error) { return a - b, nil }
func mulFloats(a, b float64) (float64, error) { return a * b, nil }

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

func shiftLeft(a, n int) (int, error) {
	switch {
	case n < 0:
		return 0, errShift
	case a == 0:
		return 0, nil
	case n >= bits.UintSize || a<<n>>n != a:
		return 0, ErrOverflow
	}
	return a << n, nil
}

func shiftRight(a, n int) (int, error) {
	if n < 0 {
		return 0, errShift
	}
	return a >> min(n, bits.UintSize-1), nil
}
