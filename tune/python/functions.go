package python

import (
	"math"
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
func (t *translator) callOf(n *call, args []any) any {
	at := n.place()
	switch n.function {
	case "min", "max":
		items := args
		if len(args) == 1 {
			items = iterate(at, args[0])
		}
		return extreme(at, n.function, items)
	case "range":
		return t.rangeOf(n, args)
	case "len":
		return len(iterate(at, args[0]))
	case "sum":
		return t.sumOf(at, iterate(at, args[0]))
	case "any":
		return slices.ContainsFunc(iterate(at, args[0]), truth)
	case "all":
		return !slices.ContainsFunc(iterate(at, args[0]), func(v any) bool { return !truth(v) })
	case "bool":
		return truth(args[0])
	case "list", "tuple":
		items := iterate(at, args[0])
		t.step(at, len(items))
		return &list{slices.Clone(items), n.function == "tuple"}
	case "sorted":
		return t.sorted(at, iterate(at, args[0]))
	}
	return numeric(at, n.function, args[0])
}

// numericFunctions are the functions of package expression that do what those of one number do.
var numericFunctions = map[string]string{
	"int": "truncate", "round": "round_even", "math.ceil": "round_up", "math.floor": "round_down", "math.sqrt": "sqrt", "math.log2": "log2",
}

// numeric is a function of one number.
func numeric(at int, function string, v any) any {
	x := number(v)
	i, whole := x.(int)
	switch {
	case x == nil:
		failf(at, "%s does not apply to %s", function, typeName(v))
	case function == "abs" && whole && i >= 0:
		return i
	case function == "abs" && whole:
		return apply(at, "checked_sub", 0, i)
	case function == "abs":
		return math.Abs(x.(float64))
	case function == "float" && whole:
		return float64(i)
	case function == "float":
		return x
	}
	return apply(at, numericFunctions[function], x)
}

// extreme is the least or the largest item, the first of equal ones.
func extreme(at int, function string, items []any) any {
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

func (t *translator) sumOf(at int, items []any) any {
	var total any = 0
	for _, item := range items {
		t.step(at, 1)
		if number(item) == nil {
			failf(at, "sum does not apply to %s", typeName(item))
		}
		total = t.binaryOf(at, "+", total, item)
	}
	return total
}

func (t *translator) sorted(at int, items []any) any {
	t.step(at, 20*len(items))
	l := &list{items: slices.Clone(items)}
	slices.SortStableFunc(l.items, func(a, b any) int {
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
func (t *translator) rangeOf(n *call, args []any) any {
	start, stop, step := rangeBounds(n, args)
	size := uint64(step)
	from, to := start, stop
	if step < 0 {
		size = -size
		from, to = stop, start
	}
	l := &list{}
	if from >= to {
		return l
	}
	count := (uint64(to)-uint64(from)-1)/size + 1
	if count > maxItems {
		failf(n.place(), "the range has %d items, more than %d", count, maxItems)
	}
	t.step(n.place(), int(count))
	l.items = make([]any, count)
	for i := range l.items {
		l.items[i] = start + i*step
	}
	return l
}

func rangeBounds(n *call, args []any) (start, stop, step int) {
	bounds := make([]int, len(args))
	for i, a := range args {
		var ok bool
		if bounds[i], ok = integer(a); !ok {
			failf(n.arguments[i].place(), "range takes integers, not %s", typeName(a))
		}
	}
	step = 1
	switch len(bounds) {
	case 1:
		stop = bounds[0]
	case 2:
		start, stop = bounds[0], bounds[1]
	default:
		start, stop, step = bounds[0], bounds[1], bounds[2]
	}
	if step == 0 {
		failf(n.place(), "the step of a range is not 0")
	}
	return start, stop, step
}
