package python

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/expression"
)

// A list is a list or a tuple. Other values are ints, floats, bools and texts of Go.
type list struct {
	items []any
	tuple bool
}

// valueOf is a Go value as one of an expression: a number, a bool, a text or a slice of them.
func valueOf(v any) (any, error) {
	if items, ok := v.([]any); ok {
		l := &list{items: make([]any, len(items))}
		for i, item := range items {
			var err error
			if l.items[i], err = valueOf(item); err != nil {
				return nil, err
			}
		}
		return l, nil
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return int(r.Int()), nil
	case r.CanUint() && r.Uint() <= math.MaxInt:
		return int(r.Uint()), nil
	case r.CanFloat():
		return r.Float(), nil
	case r.Kind() == reflect.Bool:
		return r.Bool(), nil
	case r.Kind() == reflect.String:
		return r.String(), nil
	}
	return nil, fmt.Errorf("%v, a %T, is no value of an expression", v, v)
}

// plain is a value of an expression as one of Go: a list is a []any.
func plain(v any) any {
	l, ok := v.(*list)
	if !ok {
		return v
	}
	items := make([]any, len(l.items))
	for i, item := range l.items {
		items[i] = plain(item)
	}
	return items
}

// typeName is what a message calls the type of a value.
func typeName(v any) string {
	if l, ok := v.(*list); ok && l.tuple {
		return "a tuple"
	}
	return kindOf(v).String()
}

// integer is a value as an integer: True is 1.
func integer(v any) (int, bool) {
	switch v := v.(type) {
	case int:
		return v, true
	case bool:
		return int(expression.Bit(v)), true
	}
	return 0, false
}

// number is a value as a number: True is 1; nil where it is none.
func number(v any) any {
	if f, ok := v.(float64); ok {
		return f
	}
	if i, ok := integer(v); ok {
		return i
	}
	return nil
}

// truth is a value as a condition: 0, the empty text and the empty list are false.
func truth(v any) bool {
	switch v := v.(type) {
	case string:
		return v != ""
	case *list:
		return len(v.items) > 0
	}
	return number(v) != 0 && number(v) != 0.0
}

// apply is the value of a function of package expression.
func apply(column int, function string, args ...any) any {
	v, err := expression.Compute(function, args...)
	if err != nil {
		panic(failure{column, err.Error(), err})
	}
	return v
}

// compare is one link of a comparison of values.
func compare(column int, operator string, a, b any) bool {
	switch operator {
	case "==":
		return equal(a, b)
	case "!=":
		return !equal(a, b)
	case "in":
		return contains(column, b, a)
	case "not in":
		return !contains(column, b, a)
	}
	order := 0
	x, xText := a.(string)
	y, yText := b.(string)
	switch {
	case number(a) != nil && number(b) != nil:
		v, err := expression.Compute("compare", number(a), number(b))
		if err != nil {
			return false // with NaN
		}
		order = v.(int)
	case xText && yText:
		order = strings.Compare(x, y)
	default:
		failf(column, "%q does not apply to %s and %s", operator, typeName(a), typeName(b))
	}
	return order < 0 && operator[0] == '<' || order > 0 && operator[0] == '>' || order == 0 && len(operator) == 2
}

// equal is Python's ==: of numbers by their value, 1 == 1.0 == True; of all else also by type.
func equal(a, b any) bool {
	if number(a) != nil && number(b) != nil {
		order, err := expression.Compute("compare", number(a), number(b))
		return err == nil && order == 0
	}
	x, ok := a.(*list)
	y, also := b.(*list)
	if !ok || !also {
		return !ok && !also && a == b
	}
	if x.tuple != y.tuple || len(x.items) != len(y.items) {
		return false
	}
	for i := range x.items {
		if !equal(x.items[i], y.items[i]) {
			return false
		}
	}
	return true
}

func contains(column int, in, v any) bool {
	switch in := in.(type) {
	case *list:
		for _, item := range in.items {
			if equal(item, v) {
				return true
			}
		}
		return false
	case string:
		part, ok := v.(string)
		if !ok {
			failf(column, "%s is not looked for in a text", typeName(v))
		}
		return strings.Contains(in, part)
	}
	failf(column, "%s has no items to look among", typeName(in))
	return false
}

// operatorFunctions are the functions of package expression that do what operators do. They fail
// rather than leave the integers of 64 bits.
var operatorFunctions = map[string]string{
	"+": "checked_add", "-": "checked_sub", "*": "checked_mul", "/": "true_div", "//": "floor_div", "%": "floor_mod", "**": "power",
	"&": "bit_and", "|": "bit_or", "^": "bit_xor", "<<": "shift_left", ">>": "shift_right",
}

// ofBits reports whether an operator takes integers only.
func ofBits(operator string) bool { return strings.Contains("& | ^ << >>", operator) }

func unaryOf(column int, operator string, v any) any {
	if operator == "not" {
		return !truth(v)
	}
	x := number(v)
	f, isFloat := x.(float64)
	switch {
	case x == nil || isFloat && operator == "~":
		failf(column, "%q does not apply to %s", operator, typeName(v))
	case operator == "~":
		return ^x.(int)
	case operator == "-" && isFloat:
		return -f
	case operator == "-":
		return apply(column, "checked_sub", 0, x)
	}
	return x
}

// binaryOf computes an operator of two values.
func (t *translator) binaryOf(column int, operator string, a, b any) any {
	p, aTruth := a.(bool)
	q, bTruth := b.(bool)
	if aTruth && bTruth {
		switch operator {
		case "&":
			return p && q
		case "|":
			return p || q
		case "^":
			return p != q
		}
	}
	x, xWhole := integer(a)
	y, yWhole := integer(b)
	switch {
	case number(a) != nil && number(b) != nil && (xWhole && yWhole || !ofBits(operator)):
		return apply(column, operatorFunctions[operator], number(a), number(b))
	case operator == "+":
		if v, ok := t.joined(column, a, b); ok {
			return v
		}
	case operator == "*" && xWhole:
		return t.repeated(column, b, x)
	case operator == "*" && yWhole:
		return t.repeated(column, a, y)
	case operator == "%":
		if _, ok := a.(string); ok {
			failf(column, "formatting a text with %% is not allowed")
		}
	}
	failf(column, "%q does not apply to %s and %s", operator, typeName(a), typeName(b))
	return nil
}

// joined are two texts, lists or tuples as one.
func (t *translator) joined(column int, a, b any) (any, bool) {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			boundText(column, len(a)+len(b))
			t.step(column, (len(a)+len(b))/8)
			return a + b, true
		}
	case *list:
		if b, ok := b.(*list); ok && a.tuple == b.tuple {
			boundItems(column, len(a.items)+len(b.items))
			t.step(column, len(a.items)+len(b.items))
			return &list{slices.Concat(a.items, b.items), a.tuple}, true
		}
	}
	return nil, false
}

// repeated is a text, a list or a tuple several times.
func (t *translator) repeated(column int, v any, times int) any {
	n := min(max(times, 0), maxItems+1)
	switch v := v.(type) {
	case string:
		boundText(column, len(v)*n)
		t.step(column, len(v)*n/8)
		return strings.Repeat(v, min(n, maxText*min(1, len(v))))
	case *list:
		boundItems(column, len(v.items)*n)
		t.step(column, len(v.items)*n)
		if len(v.items) == 0 {
			n = 0
		}
		return &list{slices.Repeat(v.items, n), v.tuple}
	}
	failf(column, "%q does not apply to an integer and %s", "*", typeName(v))
	return nil
}

func boundText(column, bytes int) {
	if bytes > maxText {
		failf(column, "the text would have %d bytes, more than %d", bytes, maxText)
	}
}

func boundItems(column, items int) {
	if items > maxItems {
		failf(column, "the list would have %d items, more than %d", items, maxItems)
	}
}
