package python

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
)

// An arity is how many arguments a function takes.
type arity struct{ least, most int }

// functions are the functions that an expression may call.
var functions = map[string]arity{
	"min": {1, maxItems}, "max": {1, maxItems}, "abs": {1, 1}, "len": {1, 1}, "int": {1, 1}, "float": {1, 1},
	"bool": {1, 1}, "round": {1, 1}, "sum": {1, 1}, "all": {1, 1}, "any": {1, 1}, "range": {1, 3},
	"list": {1, 1}, "tuple": {1, 1}, "sorted": {1, 1},
	"math.ceil": {1, 1}, "math.floor": {1, 1}, "math.sqrt": {1, 1}, "math.log2": {1, 1},
}

// FunctionNames are the functions that an expression may call, in alphabetic order.
func FunctionNames() []string {
	var names []string
	for name := range functions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// checkCall makes sure that a function exists and has as many arguments as it takes.
func checkCall(n *call) {
	takes, ok := functions[n.function]
	switch count := len(n.arguments); {
	case !ok:
		known := FunctionNames()
		hint := nearest.Hint(n.function, known)
		if hint == "" {
			hint = "; known are " + strings.Join(known, ", ")
		}
		failf(n.place(), "the function %s is not known%s", n.function, hint)
	case n.function == "round" && count == 2:
		failf(n.place(), "round to a number of digits is not allowed; round(x) is the nearest integer")
	case count < takes.least:
		failf(n.place(), "%s needs an argument", n.function)
	case count > takes.most:
		failf(n.place(), "%s has %d arguments; it takes at most %d", n.function, count, takes.most)
	}
}

// call computes a function that checkCall let pass.
func (e *evaluator) call(n *call, args []Value) Value {
	at := n.place()
	switch n.function {
	case "min", "max":
		items := args
		if len(args) == 1 {
			items = iterate(at, args[0])
		}
		return extreme(at, n.function, items)
	case "range":
		return e.rangeOf(n, args)
	case "len":
		return big.NewInt(int64(len(iterate(at, args[0]))))
	case "sum":
		return e.sum(at, iterate(at, args[0]))
	case "any":
		return slices.ContainsFunc(iterate(at, args[0]), truth)
	case "all":
		return !slices.ContainsFunc(iterate(at, args[0]), func(v Value) bool { return !truth(v) })
	case "bool":
		return truth(args[0])
	case "list", "tuple":
		items := iterate(at, args[0])
		e.step(at, len(items))
		return &List{slices.Clone(items), n.function == "tuple"}
	case "sorted":
		return e.sorted(at, iterate(at, args[0]))
	}
	return numeric(at, n.function, args[0])
}

// numeric is a function of one number.
func numeric(at int, function string, v Value) Value {
	if i, ok := integer(v); ok {
		switch function {
		case "abs":
			return new(big.Int).Abs(i)
		case "int", "round", "math.ceil", "math.floor":
			return i
		}
	} else if _, ok := v.(float64); !ok {
		failf(at, "%s does not apply to %s", function, typeName(v))
	}
	f, ok := real(v)
	if !ok {
		failf(at, "%s: the integer is beyond the range of a float", function)
	}
	switch function {
	case "abs":
		return math.Abs(f)
	case "float":
		return f
	case "int":
		return whole(at, function, math.Trunc(f))
	case "round":
		return whole(at, function, math.RoundToEven(f))
	case "math.ceil":
		return whole(at, function, math.Ceil(f))
	case "math.floor":
		return whole(at, function, math.Floor(f))
	case "math.sqrt":
		if f < 0 {
			failf(at, "math.sqrt of %v is no real number", f)
		}
		return math.Sqrt(f)
	}
	if f <= 0 {
		failf(at, "math.log2 of %v is no real number", f)
	}
	return math.Log2(f)
}

// whole is a float that is a whole number as an integer.
func whole(at int, function string, f float64) *big.Int {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		failf(at, "%s of %v is no integer", function, f)
	}
	i, _ := big.NewFloat(f).Int(nil)
	return i
}

// extreme is the least or the largest item, the first of equal ones.
func extreme(at int, function string, items []Value) Value {
	if len(items) == 0 {
		failf(at, "%s of nothing", function)
	}
	best := items[0]
	for _, item := range items[1:] {
		operator := "<"
		if function == "max" {
			operator = ">"
		}
		if compare(at, operator, item, best) {
			best = item
		}
	}
	return best
}

func (e *evaluator) sum(at int, items []Value) Value {
	var total Value = new(big.Int)
	for _, item := range items {
		e.step(at, 1)
		if !isNumber(item) {
			failf(at, "sum does not apply to %s", typeName(item))
		}
		total = e.binaryOf(at, "+", total, item)
	}
	return total
}

func (e *evaluator) sorted(at int, items []Value) Value {
	e.step(at, 20*len(items))
	l := &List{Items: slices.Clone(items)}
	slices.SortStableFunc(l.Items, func(a, b Value) int {
		switch {
		case compare(at, "<", a, b):
			return -1
		case compare(at, "<", b, a):
			return 1
		}
		return 0
	})
	return l
}

// rangeOf are the integers of a range.
func (e *evaluator) rangeOf(n *call, args []Value) Value {
	start, stop, step := rangeBounds(n, args)
	count := new(big.Int).Sub(stop, start)
	if step.Sign() < 0 {
		count.Neg(count)
	}
	size := new(big.Int).Abs(step)
	count.Add(count, size).Sub(count, big.NewInt(1)).Quo(count, size)
	l := &List{}
	if count.Sign() <= 0 {
		return l
	}
	if count.Cmp(big.NewInt(maxItems)) > 0 {
		failf(n.place(), "the range has %s items, more than %d", shortInteger(count), maxItems)
	}
	e.step(n.place(), int(count.Int64()))
	l.Items = make([]Value, count.Int64())
	for i := range l.Items {
		l.Items[i] = bounded(n.place(), new(big.Int).Add(start, new(big.Int).Mul(step, big.NewInt(int64(i)))))
	}
	return l
}

func rangeBounds(n *call, args []Value) (start, stop, step *big.Int) {
	bounds := make([]*big.Int, len(args))
	for i, a := range args {
		var ok bool
		if bounds[i], ok = integer(a); !ok {
			failf(n.arguments[i].place(), "range takes integers, not %s", typeName(a))
		}
	}
	start, step = new(big.Int), big.NewInt(1)
	switch len(bounds) {
	case 1:
		stop = bounds[0]
	case 2:
		start, stop = bounds[0], bounds[1]
	default:
		start, stop, step = bounds[0], bounds[1], bounds[2]
	}
	if step.Sign() == 0 {
		failf(n.place(), "the step of a range is not 0")
	}
	return start, stop, step
}
