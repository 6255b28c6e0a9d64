package expression

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ndtune/ndtune/internal/each"
)

// apply is an operation on nodes; nil where one of them is nil or of a kind that the operation does
// not take. An integer beside a float becomes a float.
func apply(code Code, args ...*Node) *Node {
	if slices.Contains(args, nil) {
		return nil
	}
	d, k := &operators[code], args[0].Kind
	same := !slices.ContainsFunc(args, func(n *Node) bool { return n.Kind != k })
	numbers := !slices.ContainsFunc(args, func(n *Node) bool { return !n.Kind.isNumber() })
	switch {
	case code == If:
		return choice(args[0], args[1], args[2])
	case d.gives.has(k) && d.takes.has(k) && k != Bool:
		return args[0] // the conversion of what it is already
	case code != Minimum && code != Maximum && (!same || d.takes == floatKind) && numbers:
		args = slices.Clone(args)
		for i, n := range args {
			args[i] = n.float()
		}
		same, k = true, Float
	}
	switch {
	case !same || !d.takes.has(k):
		return nil
	case code == And || code == Or:
		return connect(code, args[0], args[1])
	}
	n := newNode(code, k, args...)
	n.vm = n.vm || k == String && code != Equal && code != In
	if d.gives != 0 {
		n.Kind = Kind(bits.TrailingZeros8(uint8(d.gives)))
	}
	return n.made()
}

// connect is «and» or «or». A constant that decides or does not matter is left out: but not one
// that decides behind what may fail.
func connect(code Code, a, b *Node) *Node {
	neutral := code == And
	switch {
	case a.Value == neutral:
		return b
	case a.Value != nil, b.Value == neutral:
		return a
	}
	return newNode(code, Bool, a, b).made()
}

// choice is one of two nodes by a condition; nil where they are of kinds that do not go together.
func choice(condition, then, otherwise *Node) *Node {
	k := then.Kind
	switch {
	case condition.Kind != Bool:
		return nil
	case then.Kind.isNumber() && otherwise.Kind.isNumber() && k != otherwise.Kind:
		k = Number
	case k != otherwise.Kind:
		return nil
	}
	switch condition.Value {
	case true:
		return then
	case false:
		return otherwise
	}
	return newNode(If, k, condition, then, otherwise).made()
}

// compared is one of the comparisons < <= > >= == !=; nil where it does not apply.
func compared(operator string, a, b *Node) *Node {
	var n *Node
	switch operator {
	case "==":
		return apply(Equal, a, b)
	case "<":
		return apply(Less, a, b)
	case "<=":
		return apply(LessEqual, a, b)
	case ">":
		n = apply(Less, b, a)
	case ">=":
		n = apply(LessEqual, b, a)
	case "!=":
		n = apply(Not, apply(Equal, a, b))
	}
	if n == nil || n.Code == Constant {
		return n
	}
	n.written = operator
	return n
}

// callOf is a call of a function of the language with numbers; nil where it does not take them.
func callOf(name string, args ...*Node) *Node {
	if slices.ContainsFunc(args, func(n *Node) bool { return n == nil || !n.Kind.isNumber() }) {
		return nil
	}
	f := functionNamed[name]
	k, ok := f.result(args)
	if !ok {
		return nil
	}
	if f.code != Constant && k == Int {
		return apply(f.code, args...)
	}
	n := newNode(Call, k, args...)
	n.Function = name
	return n.made()
}

// Condition is a node as a condition: of a number, whether it is not 0; of a text, whether it is
// not empty.
func (n *Node) Condition() *Node {
	switch n.Kind {
	case Bool:
		return n
	case String:
		return compared("!=", n, newConstant(""))
	}
	return compared("!=", n, newConstant(0))
}

// compute is the value of an operation on constants.
func (n *Node) compute() (any, error) {
	values := each.Of(n.Args, (*Node).constant)
	switch {
	case n.Code == Call:
		return functionNamed[n.Function].compute(values)
	case n.Code == In:
		return slices.Contains(values[1:], values[0]), nil
	case n.Of[0] == String:
		return n.computeTexts(values), nil
	case operators[n.Code].checks != nil && n.Of[0] == Int:
		return operators[n.Code].checks(values[0].(int), values[len(values)-1].(int))
	}
	args := make([]Program, len(values))
	for i, v := range values {
		raw := Raw(v)
		args[i] = func(*Frame) uint64 { return raw }
	}
	return Value(n.Kind, n.Program(args)(&Frame{})), nil
}

func (n *Node) computeTexts(values []any) any {
	a := values[0].(string)
	if n.Code == Length {
		return utf8.RuneCountInString(a)
	}
	b := values[1].(string)
	switch n.Code {
	case Add:
		return a + b
	case Contains:
		return strings.Contains(a, b)
	}
	return apply(n.Code, newConstant(strings.Compare(a, b)), newConstant(0)).Value
}

// Raw is a number or a condition in 64 bits.
func Raw(v any) uint64 {
	switch v := v.(type) {
	case int:
		return uint64(v)
	case float64:
		return math.Float64bits(v)
	}
	return Bit(v.(bool))
}

// Value is the opposite of [Raw].
func Value(k Kind, raw uint64) any {
	switch k {
	case Int:
		return int(raw)
	case Float:
		return math.Float64frombits(raw)
	}
	return raw != 0
}
