package python

import (
	"maps"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/expression"
)

// A function is one that an expression may call: how many arguments it takes, and for one of a
// number the function of package expression that computes it.
type function struct {
	least, most int
	numeric     string
}

var functions = map[string]function{
	"min": {1, maxItems, ""}, "max": {1, maxItems, ""}, "len": {1, 1, ""}, "bool": {1, 1, ""}, "sum": {1, 1, ""}, "all": {1, 1, ""}, "any": {1, 1, ""},
	"range": {1, 3, ""}, "list": {1, 1, ""}, "tuple": {1, 1, ""}, "sorted": {1, 1, ""}, "abs": {1, 1, ""}, "float": {1, 1, ""},
	"int": {1, 1, "truncate"}, "round": {1, 1, "round_even"}, "math.ceil": {1, 1, "round_up"}, "math.floor": {1, 1, "round_down"},
	"math.sqrt": {1, 1, "sqrt"}, "math.log2": {1, 1, "log2"},
}

// checkCall makes sure that a function exists and has as many arguments as it takes.
func checkCall(n *call) {
	takes, ok := functions[n.function]
	switch count := len(n.arguments); {
	case !ok:
		known := slices.Sorted(maps.Keys(functions))
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

func (l *lowering) call(n *call, b *binding) any {
	checkCall(n)
	if n.function == "range" {
		return l.rangeItems(n, b)
	}
	args := make([]any, len(n.arguments))
	for i, a := range n.arguments {
		args[i] = l.lower(a, b)
	}
	items := func() *list { return l.iterate(n.place(), args[0], n.function+" needs a list, not %v") }
	switch n.function {
	case "bool":
		return asCondition(args[0])
	case "any":
		return items().join(expression.Or, asCondition)
	case "all":
		return items().join(expression.And, asCondition)
	case "len":
		if length := expression.Apply(expression.Length, asNode(args[0])); length != nil {
			return length
		}
		if l := items(); !l.isGuarded() {
			return expression.Const(len(l.items))
		}
		ones := &list{}
		for _, i := range items().items {
			ones.items = append(ones.items, item{i.guard, 1})
		}
		return l.sum(n, ones)
	case "sum":
		return l.sum(n, items())
	case "list", "tuple":
		return &list{items().items, n.function == "tuple"}
	case "sorted":
		return l.sorted(n.place(), items())
	case "min", "max":
		return l.extreme(n, args)
	}
	x := asNumber(args[0])
	if x == nil {
		failf(n.place(), "%s does not apply to %s", n.function, describe(args[0]))
	}
	return l.numeric(n.place(), n.function, x)
}

// numeric is a function of one number.
func (l *lowering) numeric(column int, function string, x *expression.Node) any {
	name := functions[function].numeric
	switch {
	case function == "float":
		return expression.Apply(expression.ToFloat, x)
	case function == "abs":
		return l.absolute(column, x)
	case x.Kind == expression.Int && name != "sqrt" && name != "log2":
		return x
	}
	return expression.CallOf(name, x)
}

func (l *lowering) absolute(column int, x *expression.Node) any {
	switch {
	case x.Kind == expression.Int && x.Bounds[0] >= 0:
		return x
	case x.Kind == expression.Float, x.Kind == expression.Int && x.Bounds.Fit64():
		return expression.Apply(expression.Absolute, x)
	}
	return l.choice(column, l.compare(column, "<", x, expression.Const(0)), l.negative(column, x), x)
}

// sum adds the items of a list, those that are not guarded at first.
func (l *lowering) sum(n *call, items *list) *expression.Node {
	zero := expression.Const(0)
	total := zero
	for _, i := range items.items {
		l.step(n.place(), 1)
		v := i.value()
		x := asNumber(v)
		if x == nil {
			failf(n.place(), "sum does not apply to %s", describe(v))
		}
		if i.guard != nil {
			x = asNumber(l.choice(n.place(), i.guard, x, zero))
		}
		if total.Value == 0 && x.Kind == expression.Int {
			total = x
		} else {
			total = l.compute(n.place(), "+", total, x)
		}
	}
	return total
}

// extreme is the least or the largest of the arguments, or of the items of a list: the first of
// equal ones.
func (l *lowering) extreme(n *call, args []any) any {
	if len(args) == 1 {
		items := l.iterate(n.place(), args[0], n.function+" needs a list, not %v")
		if items.isGuarded() {
			failf(n.place(), "%s of a list whose length depends on parameters is not allowed", n.function)
		}
		args = nil
		for _, i := range items.items {
			args = append(args, i.value())
		}
	}
	if len(args) == 0 {
		failf(n.place(), "%s of nothing", n.function)
	}
	code, operator := expression.Minimum, "<"
	if n.function == "max" {
		code, operator = expression.Maximum, ">"
	}
	best, computed := args[0], !slices.ContainsFunc(args, func(v any) bool { return !isConstant(v) })
	for _, v := range args[1:] {
		if a, b := asNode(best), asNode(v); a != nil && b != nil && a.Kind == expression.Int && b.Kind == expression.Int {
			if !computed {
				a = l.unfolded(a)
			}
			best = l.bound(n.place(), expression.Apply(code, a, b))
			continue
		}
		best = l.choice(n.place(), l.compare(n.place(), operator, v, best), v, best)
	}
	return best
}

func (l *lowering) sorted(column int, of *list) *list {
	if !of.isConstant() {
		failf(column, "sorted of what depends on parameters is not allowed")
	}
	l.step(column, 20*len(of.items))
	items := slices.Clone(of.items)
	slices.SortStableFunc(items, func(a, b item) int {
		switch {
		case l.compare(column, "<", a.value(), b.value()).Value == true:
			return -1
		case l.compare(column, "<", b.value(), a.value()).Value == true:
			return 1
		}
		return 0
	})
	return &list{items: items}
}
