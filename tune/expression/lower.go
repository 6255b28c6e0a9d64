package expression

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/excerpt"
)

// A lowerer makes nodes of a tree that was parsed and checked. The kinds of names are those of their examples.
type lowerer struct {
	names     Scope
	variables map[string]*Node
	at        ast.Node
	err       error // names the innermost part that has no node, and the reason; nil: none
}

// lower is the node of a part; nil where it has parts that have none.
func (l *lowerer) lower(part ast.Node) *Node {
	defer func(around ast.Node) { l.at = around }(l.at)
	l.at = part
	n := l.node(part)
	switch part.(type) {
	case *ast.ArrayNode, *ast.PointerNode, *ast.PredicateNode: // the part around it is to be named
	default:
		if n == nil && l.err == nil {
			l.err = fmt.Errorf("%s: it has a list, a part of a text, or a value of which only the computation tells the kind", excerpt.Of(part.String()))
		}
	}
	return n
}

func (l *lowerer) lowerAll(list []ast.Node) []*Node { return each.Of(list, l.lower) }

func (l *lowerer) node(part ast.Node) *Node {
	switch part := part.(type) {
	case *ast.IntegerNode:
		return l.constant(part.Value)
	case *ast.FloatNode:
		return l.constant(part.Value)
	case *ast.BoolNode:
		return l.constant(part.Value)
	case *ast.StringNode:
		return l.constant(part.Value)
	case *ast.IdentifierNode:
		if v := l.variables[part.Value]; v != nil {
			return v
		}
		return l.named(part.Value, "", l.names[part.Value])
	case *ast.VariableDeclaratorNode:
		return l.variable(part)
	case *ast.MemberNode:
		return l.named(l.field(part))
	case *ast.UnaryNode:
		a := l.lower(part.Node)
		switch part.Operator {
		case "-":
			return l.apply(Negate, a)
		case "+":
			return a
		}
		return l.apply(Not, a)
	case *ast.BinaryNode:
		return l.binary(part)
	case *ast.ConditionalNode:
		return l.apply(If, l.lower(part.Cond), l.lower(part.Exp1), l.lower(part.Exp2))
	case *ast.BuiltinNode:
		return l.call(part.Name, l.lowerAll(part.Arguments))
	case *ast.CallNode:
		return l.call(part.Callee.String(), l.lowerAll(part.Arguments))
	}
	return nil
}

// constant is a constant; nil where the value has no kind.
func (l *lowerer) constant(v any) *Node {
	k, ok := KindOf(v)
	if !ok {
		return nil
	}
	return &Node{Operation: Operation{Code: Constant, Kind: k}, Value: v, tree: l.at}
}

func (l *lowerer) named(name, field string, example any) *Node {
	k, ok := KindOf(example)
	if !ok {
		return nil
	}
	return &Node{Operation: Operation{Code: Name, Kind: k}, Name: name, Field: field, tree: l.at}
}

// field is a name, or a field of a record, such as device.local_memory, with its example.
func (l *lowerer) field(part ast.Node) (name, field string, example any) {
	switch part := part.(type) {
	case *ast.IdentifierNode:
		return part.Value, "", l.names[part.Value]
	case *ast.MemberNode:
		name, field, example = l.field(part.Node)
		record, _ := example.(map[string]any)
		if property, ok := part.Property.(*ast.StringNode); ok {
			return name, strings.TrimPrefix(field+"."+property.Value, "."), record[property.Value]
		}
	}
	return "", "", nil
}

func (l *lowerer) variable(part *ast.VariableDeclaratorNode) *Node {
	value := l.lower(part.Value)
	if value == nil || value.Kind == Number {
		return nil
	}
	if l.variables == nil {
		l.variables = map[string]*Node{}
	}
	l.variables[part.Name] = &Node{Operation: Operation{Code: Local, Kind: value.Kind}, Name: part.Name, tree: l.at}
	defer delete(l.variables, part.Name)
	body := l.lower(part.Expr)
	if body == nil || body.Kind == Number {
		return nil
	}
	n := l.operation(Let, body.Kind, value, body)
	n.Name = part.Name
	return n
}

func (l *lowerer) binary(part *ast.BinaryNode) *Node {
	a := l.lower(part.Left)
	if part.Operator == "in" {
		return l.in(a, part.Right)
	}
	b := l.lower(part.Right)
	switch part.Operator {
	case "<", "<=", "==", ">", ">=", "!=":
		return l.compared(part.Operator, a, b)
	case "%":
		return l.call("%", []*Node{a, b})
	}
	code, ok := infixes[part.Operator]
	if !ok {
		return nil
	}
	return l.apply(code, a, b)
}

// compared is one of the comparisons < <= > >= == !=; nil where it does not apply.
func (l *lowerer) compared(operator string, a, b *Node) *Node {
	switch operator {
	case "<":
		return l.apply(Less, a, b)
	case "<=":
		return l.apply(LessEqual, a, b)
	case ">":
		return l.apply(Less, b, a)
	case ">=":
		return l.apply(LessEqual, b, a)
	case "!=":
		return l.apply(Not, l.apply(Equal, a, b))
	}
	return l.apply(Equal, a, b)
}

// Condition is a node as a condition: of a number, whether it is not 0; of a text, whether it is
// not empty.
func (n *Node) Condition() *Node {
	l := lowerer{at: n.tree}
	switch n.Kind {
	case Bool:
		return n
	case String:
		return l.compared("!=", n, l.constant(""))
	}
	return l.compared("!=", n, l.constant(0))
}

// in is «x in [1, 2, 3]» and «x in 1..3», of whole numbers and of texts.
func (l *lowerer) in(a *Node, list ast.Node) *Node {
	switch list := list.(type) {
	case *ast.ArrayNode:
		items := l.lowerAll(list.Nodes)
		other := func(n *Node) bool { return n == nil || n.Kind != a.Kind }
		switch {
		case a == nil || a.Kind != Int && a.Kind != String || slices.ContainsFunc(items, other):
			return nil
		case !slices.ContainsFunc(items, func(i *Node) bool { return i.Code != Constant }):
			return l.apply(In, append([]*Node{a}, items...)...)
		case slices.ContainsFunc(items, (*Node).fails): // all items are computed, also those behind an equal one
			return nil
		}
		result := l.constant(false)
		for _, i := range items {
			result = l.apply(Or, result, l.apply(Equal, a, i))
		}
		return result
	case *ast.BinaryNode:
		first, last := l.lower(list.Left), l.lower(list.Right)
		if list.Operator == ".." && a != nil && a.Kind == Int && first != nil && first.Kind == Int && last != nil && last.Kind == Int {
			return l.apply(And, l.apply(LessEqual, first, a), l.apply(LessEqual, a, last))
		}
	default:
		l.lower(list) // names a list of the device as the part without a node
	}
	return nil
}

// call is a function of numbers.
func (l *lowerer) call(name string, args []*Node) *Node {
	if slices.ContainsFunc(args, func(n *Node) bool { return n == nil || !n.Kind.isNumber() }) {
		return nil
	}
	if f := functionNamed[name]; f != nil {
		k, ok := f.result(args)
		switch {
		case !ok:
			return nil
		case f.code != Constant && k == Int:
			return l.apply(f.code, args...)
		}
		n := l.operation(Call, k, args...)
		n.Function = name
		return l.made(n)
	}
	code, ok := calls[name]
	switch {
	case !ok || len(args) == 0:
		return nil
	case code != Minimum && code != Maximum:
		return l.apply(code, args...)
	}
	a := args[0]
	for _, b := range args[1:] {
		a = l.apply(code, a, b)
	}
	return a
}

// apply is an operation on nodes; nil where one of them is nil or of a kind that the operation does
// not take. An integer beside a float becomes a float.
func (l *lowerer) apply(code Code, args ...*Node) *Node {
	if slices.Contains(args, nil) {
		return nil
	}
	d, k := &operators[code], args[0].Kind
	same := !slices.ContainsFunc(args, func(n *Node) bool { return n.Kind != k })
	numbers := !slices.ContainsFunc(args, func(n *Node) bool { return !n.Kind.isNumber() })
	switch {
	case code == If:
		return l.choice(args[0], args[1], args[2])
	case d.gives.has(k) && d.takes.has(k) && k != Bool:
		return args[0] // the conversion of what it is already
	case code != Minimum && code != Maximum && (d.takes == floatKind || !same && slices.ContainsFunc(args, isFloat)) && numbers:
		args = each.Of(args, l.float)
		same, k = true, Float
	}
	switch {
	case !same || !d.takes.has(k):
		return nil
	case code == And || code == Or:
		return l.connect(code, args[0], args[1])
	case d.gives != 0:
		k = Kind(bits.TrailingZeros8(uint8(d.gives)))
	}
	n := l.made(l.operation(code, k, args...))
	if args[0].Kind == String && n.Code != Constant && code != Equal && code != In {
		return nil // texts are only compared
	}
	return n
}

func isFloat(n *Node) bool { return n.Kind == Float }

// connect is «and» or «or». A constant that decides or does not matter is left out: but not one
// that decides behind what may fail.
func (l *lowerer) connect(code Code, a, b *Node) *Node {
	neutral := code == And
	switch {
	case a.Value == neutral:
		return b
	case a.Value != nil, b.Value == neutral:
		return a
	}
	return l.operation(code, Bool, a, b)
}

// choice is one of two nodes of a kind by a condition.
func (l *lowerer) choice(condition, then, otherwise *Node) *Node {
	switch {
	case condition.Kind != Bool || then.Kind != otherwise.Kind || then.Kind == Number:
		return nil
	case condition.Value == true:
		return then
	case condition.Value == false:
		return otherwise
	}
	return l.operation(If, then.Kind, condition, then, otherwise)
}

// float is a number as a float. The conversion is not printed: operators do it themselves.
func (l *lowerer) float(n *Node) *Node {
	if n.Kind == Float {
		return n
	}
	if n.Kind == Number { // only a power is
		power := l.operation(Call, Float, n.Args...)
		power.Function, power.tree = floatPower, n.tree
		return power
	}
	r := l.operation(ToFloat, Float, n)
	r.IsImplicit, r.tree = true, n.tree
	return r
}

// operation is a node that is not computed.
func (l *lowerer) operation(code Code, k Kind, args ...*Node) *Node {
	n := &Node{Operation: Operation{Code: code, Kind: k}, Args: args, tree: l.at}
	for i, a := range args[:min(len(args), len(n.Of))] {
		n.Of[i] = a.Kind
	}
	return n
}

// made is the node: as a constant where its arguments are constants and its value is finite.
func (l *lowerer) made(n *Node) *Node {
	if slices.ContainsFunc(n.Args, func(a *Node) bool { return a.constant() == nil }) {
		return n
	}
	v, err := n.compute(each.Of(n.Args, (*Node).constant))
	if f, ok := v.(float64); err != nil || ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return n
	}
	return l.constant(v)
}
