package expression

import (
	"cmp"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/ndtune/ndtune/internal/each"
)

// lower makes nodes of a tree that was parsed and checked; nil where it has parts that have
// none. The kinds of names are those of their examples.
func lower(n ast.Node, names Scope) *Node {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return newConstant(n.Value)
	case *ast.FloatNode:
		return newConstant(n.Value)
	case *ast.BoolNode:
		return newConstant(n.Value)
	case *ast.StringNode:
		return newConstant(n.Value)
	case *ast.IdentifierNode:
		return named(n.Value, "", names[n.Value])
	case *ast.MemberNode:
		return lowerMember(n, names)
	case *ast.UnaryNode:
		a := lower(n.Node, names)
		switch n.Operator {
		case "-":
			return apply(Negate, a)
		case "+":
			return a
		}
		return apply(Not, a)
	case *ast.BinaryNode:
		return lowerBinary(n, names)
	case *ast.ConditionalNode:
		parts := lowerAll([]ast.Node{n.Cond, n.Exp1, n.Exp2}, names)
		return apply(If, parts...)
	case *ast.BuiltinNode:
		return lowerCall(n.Name, n.Arguments, names)
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			return lowerCall(callee.Value, n.Arguments, names)
		}
	}
	return nil
}

func lowerAll(list []ast.Node, names Scope) []*Node {
	return each.Of(list, func(n ast.Node) *Node { return lower(n, names) })
}

func named(name, field string, example any) *Node {
	k, ok := KindOf(example)
	if !ok {
		return nil
	}
	return &Node{Operation: Operation{Code: Name, Kind: k}, Name: name, Field: field}
}

// lowerMember is a field of a record, such as device.local_memory.
func lowerMember(n *ast.MemberNode, names Scope) *Node {
	record, ok := n.Node.(*ast.IdentifierNode)
	field, also := n.Property.(*ast.StringNode)
	if !ok || !also || n.Optional {
		return nil
	}
	fields, ok := names[record.Value].(map[string]any)
	if !ok {
		return nil
	}
	return named(record.Value, field.Value, fields[field.Value])
}

// synonyms are operators that can be written in two ways.
var synonyms = map[string]string{"&&": "and", "||": "or", "^": "**"}

func lowerBinary(n *ast.BinaryNode, names Scope) *Node {
	a := lower(n.Left, names)
	if n.Operator == "in" {
		return lowerIn(a, n.Right, names)
	}
	b := lower(n.Right, names)
	switch n.Operator {
	case "==", "!=", "<", "<=", ">", ">=":
		return compared(n.Operator, a, b)
	}
	code, ok := codeOf(cmp.Or(synonyms[n.Operator], n.Operator), false)
	if !ok {
		return nil
	}
	return apply(code, a, b)
}

// lowerIn is «x in [1, 2, 3]» and «x in 1..3», of whole numbers and of texts.
func lowerIn(a *Node, in ast.Node, names Scope) *Node {
	switch in := in.(type) {
	case *ast.ArrayNode:
		items := lowerAll(in.Nodes, names)
		if !slices.ContainsFunc(items, func(i *Node) bool { return i == nil || i.Code != Constant }) {
			return apply(In, append([]*Node{a}, items...)...)
		}
		return lowerAmong(a, items)
	case *ast.BinaryNode:
		first, last := lower(in.Left, names), lower(in.Right, names)
		if in.Operator == ".." && a != nil && a.Kind == Int && first != nil && first.Kind == Int && last != nil && last.Kind == Int {
			return apply(And, apply(LessEqual, first, a), apply(LessEqual, a, last))
		}
	}
	return nil
}

// lowerAmong compares with items one by one. All of them are computed, also those behind an equal
// one: nil where that can fail.
func lowerAmong(a *Node, items []*Node) *Node {
	result := newConstant(false)
	for _, i := range items {
		if a == nil || i == nil || a.Kind != i.Kind || a.Kind != Int && a.Kind != String || i.fails() {
			return nil
		}
		result = apply(Or, result, apply(Equal, a, i))
	}
	return result
}

// lowerCall is a function of the language, of numbers.
func lowerCall(name string, arguments []ast.Node, names Scope) *Node {
	args := lowerAll(arguments, names)
	if IsFunction(name) {
		return callOf(name, args...)
	}
	code, ok := codeOf(name, true)
	switch {
	case !ok || len(args) == 0:
		return nil
	case code != Minimum && code != Maximum:
		return apply(code, args...)
	case len(args) == 1:
		return nil // of a list
	}
	a := args[0]
	for _, b := range args[1:] {
		a = apply(code, a, b)
	}
	return a
}
