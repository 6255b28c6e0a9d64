package space

import (
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// A translator turns expressions that expr-lang has parsed and checked into nodes. What it
// does not know, it leaves to the VM.
type translator struct {
	nodes       *nodes
	environment map[string]any
}

// condition is the node of a restriction's expression.
func (t *translator) condition(e *Expression) *node {
	if tree, err := parser.Parse(e.source); err == nil {
		if n, ok := t.translate(tree.Node); ok {
			if n, ok = t.truth(n); ok {
				return n
			}
		}
	}
	return t.opaqueExpression(e)
}

// opaqueExpression is an expression that the VM computes.
func (t *translator) opaqueExpression(e *Expression) *node {
	p := t.nodes.parameters
	var args []*node
	var places []int
	for _, name := range e.names {
		if i, ok := p.index[name]; ok {
			places = append(places, i)
			args = append(args, t.nodes.digit(i))
		}
	}
	if len(args) == 0 {
		if holds, err := e.Bool(t.environment); err == nil {
			return t.nodes.constant(truth, boolRaw(holds))
		}
	}
	env := make(map[string]any, len(t.environment)+len(places))
	for name, v := range t.environment {
		env[name] = v
	}
	compute := func(digits []uint64) (bool, error) {
		for i, place := range places {
			env[p.names[place]] = p.list[place].Values[digits[i]]
		}
		return e.Bool(env)
	}
	return t.nodes.intern(node{op: opOpaque, kind: truth, args: args, opaque: &opaque{compute}})
}

// digit is the place of a parameter's value.
func (b *nodes) digit(place int) *node {
	return b.intern(node{op: opDigit, kind: whole, parameter: place})
}

// truth is a node as a condition: of a number, whether it is not 0.
func (t *translator) truth(n *node) (*node, bool) {
	switch n.kind {
	case truth:
		return n, true
	case text:
		return nil, false
	}
	zero := t.nodes.constant(n.kind, 0) // the bits of 0.0 are 0 as well
	return t.nodes.make(opNot, truth, t.nodes.make(opEqual, truth, n, zero)), true
}

func (t *translator) translate(n ast.Node) (*node, bool) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return t.value(n.Value)
	case *ast.FloatNode:
		return t.value(n.Value)
	case *ast.BoolNode:
		return t.value(n.Value)
	case *ast.StringNode:
		return t.value(n.Value)
	case *ast.IdentifierNode:
		if place, ok := t.nodes.parameters.index[n.Value]; ok {
			return t.nodes.parameterNode(place)
		}
		return t.value(t.environment[n.Value])
	case *ast.MemberNode:
		return t.member(n)
	case *ast.UnaryNode:
		return t.unary(n)
	case *ast.BinaryNode:
		return t.binary(n)
	case *ast.ConditionalNode:
		return t.conditional(n)
	case *ast.BuiltinNode:
		return t.call(n.Name, n.Arguments)
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			return t.call(callee.Value, n.Arguments)
		}
	}
	return nil, false
}

// value is a constant.
func (t *translator) value(v any) (*node, bool) {
	switch v.(type) {
	case int, float64, bool, string:
		k, raw := t.nodes.raw(v)
		return t.nodes.constant(k, raw), true
	}
	return nil, false
}

// member is a field of a record in the environment, such as device.local_memory.
func (t *translator) member(n *ast.MemberNode) (*node, bool) {
	record, ok := n.Node.(*ast.IdentifierNode)
	if !ok || n.Optional {
		return nil, false
	}
	field, ok := n.Property.(*ast.StringNode)
	if !ok {
		return nil, false
	}
	fields, ok := t.environment[record.Value].(map[string]any)
	if !ok {
		return nil, false
	}
	return t.value(fields[field.Value])
}

func (t *translator) unary(n *ast.UnaryNode) (*node, bool) {
	a, ok := t.translate(n.Node)
	if !ok {
		return nil, false
	}
	switch {
	case n.Operator == "+" && isNumber(a):
		return a, true
	case n.Operator == "-" && isNumber(a):
		return t.nodes.make(opNegate, a.kind, a), true
	case (n.Operator == "not" || n.Operator == "!") && a.kind == truth:
		return t.nodes.make(opNot, truth, a), true
	}
	return nil, false
}

func isNumber(n *node) bool { return n.kind == whole || n.kind == real }

// numbers makes two numbers of one kind of them: floats where one is.
func (t *translator) numbers(a, b *node) (x, y *node, ok bool) {
	if !isNumber(a) || !isNumber(b) {
		return nil, nil, false
	}
	if a.kind != b.kind {
		a, b = t.real(a), t.real(b)
	}
	return a, b, true
}

func (t *translator) real(n *node) *node {
	if n.kind == real {
		return n
	}
	return t.nodes.make(opToReal, real, n)
}

func (t *translator) binary(n *ast.BinaryNode) (*node, bool) {
	if n.Operator == "in" {
		return t.among(n)
	}
	a, ok := t.translate(n.Left)
	if !ok {
		return nil, false
	}
	b, ok := t.translate(n.Right)
	if !ok {
		return nil, false
	}
	switch n.Operator {
	case "and", "&&", "or", "||":
		if a.kind != truth || b.kind != truth {
			return nil, false
		}
		op := opAnd
		if n.Operator == "or" || n.Operator == "||" {
			op = opOr
		}
		return t.nodes.make(op, truth, a, b), true
	case "==", "!=":
		if a.kind == b.kind && !isNumber(a) {
			return t.equal(n.Operator, a, b), true
		}
	}
	a, b, ok = t.numbers(a, b)
	if !ok {
		return nil, false
	}
	switch n.Operator {
	case "==", "!=":
		return t.equal(n.Operator, a, b), true
	case "<":
		return t.nodes.make(opLess, truth, a, b), true
	case "<=":
		return t.nodes.make(opLessEqual, truth, a, b), true
	case ">":
		return t.nodes.make(opLess, truth, b, a), true
	case ">=":
		return t.nodes.make(opLessEqual, truth, b, a), true
	case "+":
		return t.nodes.make(opAdd, a.kind, a, b), true
	case "-":
		return t.nodes.make(opSubtract, a.kind, a, b), true
	case "*":
		return t.nodes.make(opMultiply, a.kind, a, b), true
	case "/":
		return t.nodes.make(opDivide, real, t.real(a), t.real(b)), true
	case "**", "^":
		return t.nodes.make(opPower, real, t.real(a), t.real(b)), true
	case "%":
		if a.kind == whole {
			return t.nodes.make(opRemainder, whole, a, b), true
		}
	}
	return nil, false
}

func (t *translator) equal(operator string, a, b *node) *node {
	n := t.nodes.make(opEqual, truth, a, b)
	if operator == "!=" {
		n = t.nodes.make(opNot, truth, n)
	}
	return n
}

// among is «x in [1, 2, 3]» and «x in 1..3», of whole numbers and of texts.
func (t *translator) among(n *ast.BinaryNode) (*node, bool) {
	a, ok := t.translate(n.Left)
	if !ok || (a.kind != whole && a.kind != text) {
		return nil, false
	}
	switch list := n.Right.(type) {
	case *ast.ArrayNode:
		args := []*node{a}
		for _, e := range list.Nodes {
			c, ok := t.translate(e)
			if !ok || c.op != opConstant || c.kind != a.kind {
				return nil, false
			}
			args = append(args, c)
		}
		return t.nodes.make(opIn, truth, args...), true
	case *ast.BinaryNode:
		from, ok := t.translate(list.Left)
		to, also := t.translate(list.Right)
		if list.Operator == ".." && ok && also && a.kind == whole && from.kind == whole && to.kind == whole {
			return t.nodes.make(opAnd, truth,
				t.nodes.make(opLessEqual, truth, from, a), t.nodes.make(opLessEqual, truth, a, to)), true
		}
	}
	return nil, false
}

func (t *translator) conditional(n *ast.ConditionalNode) (*node, bool) {
	var parts [3]*node
	for i, part := range []ast.Node{n.Cond, n.Exp1, n.Exp2} {
		var ok bool
		if parts[i], ok = t.translate(part); !ok {
			return nil, false
		}
	}
	if parts[0].kind != truth || parts[1].kind != parts[2].kind {
		return nil, false
	}
	return t.nodes.make(opIf, parts[1].kind, parts[0], parts[1], parts[2]), true
}

// call is a function of the language.
func (t *translator) call(name string, arguments []ast.Node) (*node, bool) {
	args := make([]*node, len(arguments))
	for i, a := range arguments {
		var ok bool
		if args[i], ok = t.translate(a); !ok || !isNumber(args[i]) {
			return nil, false
		}
	}
	switch {
	case (name == "min" || name == "max") && len(args) >= 2:
		op := opMinimum
		if name == "max" {
			op = opMaximum
		}
		if slices.ContainsFunc(args, func(n *node) bool { return n.kind != args[0].kind }) {
			return nil, false // the VM gives back the one that it is, of its own kind
		}
		all := args[0]
		for _, a := range args[1:] {
			all = t.nodes.make(op, all.kind, all, a)
		}
		return all, true
	case name == "abs" && len(args) == 1:
		return t.nodes.make(opAbsolute, args[0].kind, args[0]), true
	case name == "ceil" && len(args) == 1:
		return t.nodes.make(opCeil, real, t.real(args[0])), true
	case name == "floor" && len(args) == 1:
		return t.nodes.make(opFloor, real, t.real(args[0])), true
	case name == "round" && len(args) == 1:
		return t.nodes.make(opRound, real, t.real(args[0])), true
	case name == "float" && len(args) == 1:
		return t.real(args[0]), true
	case name == "int" && len(args) == 1:
		if args[0].kind == whole {
			return args[0], true
		}
		return t.nodes.make(opToWhole, whole, args[0]), true
	case len(args) == 2 && args[0].kind == whole && args[1].kind == whole:
		switch name {
		case "div":
			return t.nodes.make(opQuotient, whole, args...), true
		case "floor_div":
			return t.nodes.make(opFloorDiv, whole, args...), true
		case "floor_mod":
			return t.nodes.make(opFloorMod, whole, args...), true
		}
	}
	return nil, false
}
