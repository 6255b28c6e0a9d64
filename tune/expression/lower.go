package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// lower makes nodes of a tree that was parsed and checked; nil where it has parts that have
// none. The kinds of names are those of their examples.
func lower(n ast.Node, names Scope) *Node {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return constant(n.Value)
	case *ast.FloatNode:
		return constant(n.Value)
	case *ast.BoolNode:
		return constant(n.Value)
	case *ast.StringNode:
		return constant(n.Value)
	case *ast.IdentifierNode:
		return named(n.Value, "", names[n.Value])
	case *ast.MemberNode:
		return lowerMember(n, names)
	case *ast.UnaryNode:
		return lowerUnary(n, names)
	case *ast.BinaryNode:
		return lowerBinary(n, names)
	case *ast.ConditionalNode:
		return lowerConditional(n, names)
	case *ast.BuiltinNode:
		return lowerCall(n.Name, n.Arguments, names)
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			return lowerCall(callee.Value, n.Arguments, names)
		}
	}
	return nil
}

// lowerAll lowers each of the nodes; nil where one of them cannot be.
func lowerAll(list []ast.Node, names Scope) []*Node {
	nodes := make([]*Node, len(list))
	for i, n := range list {
		if nodes[i] = lower(n, names); nodes[i] == nil {
			return nil
		}
	}
	return nodes
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

func lowerUnary(n *ast.UnaryNode, names Scope) *Node {
	a := lower(n.Node, names)
	switch {
	case a == nil:
	case n.Operator == "+" && a.isNumber():
		return a
	case n.Operator == "-" && a.isNumber():
		return newNode(Negate, a.Kind, a)
	case (n.Operator == "not" || n.Operator == "!") && a.Kind == Truth:
		return newNode(Not, Truth, a)
	}
	return nil
}

func lowerBinary(n *ast.BinaryNode, names Scope) *Node {
	if n.Operator == "in" {
		return lowerIn(n, names)
	}
	both := lowerAll([]ast.Node{n.Left, n.Right}, names)
	if both == nil {
		return nil
	}
	a, b := both[0], both[1]
	switch n.Operator {
	case "and", "&&", "or", "||":
		if a.Kind != Truth || b.Kind != Truth {
			return nil
		}
		if n.Operator == "or" || n.Operator == "||" {
			return newNode(Or, Truth, a, b)
		}
		return newNode(And, Truth, a, b)
	case "==", "!=":
		if a.Kind == b.Kind && !a.isNumber() {
			return lowerEqual(n.Operator, a, b)
		}
	}
	if !a.isNumber() || !b.isNumber() {
		return nil
	}
	if a.Kind != b.Kind {
		a, b = a.real(), b.real()
	}
	switch n.Operator {
	case "==", "!=":
		return lowerEqual(n.Operator, a, b)
	case "<":
		return newNode(Less, Truth, a, b)
	case "<=":
		return newNode(LessEqual, Truth, a, b)
	case ">":
		return newNode(Less, Truth, b, a)
	case ">=":
		return newNode(LessEqual, Truth, b, a)
	case "+":
		return newNode(Add, a.Kind, a, b)
	case "-":
		return newNode(Subtract, a.Kind, a, b)
	case "*":
		return newNode(Multiply, a.Kind, a, b)
	case "/":
		return newNode(Divide, Real, a.real(), b.real())
	case "**", "^":
		return newNode(Power, Real, a.real(), b.real())
	case "%":
		if a.Kind == Whole {
			return newNode(Remainder, Whole, a, b)
		}
	}
	return nil
}

func lowerEqual(operator string, a, b *Node) *Node {
	n := newNode(Equal, Truth, a, b)
	if operator == "!=" {
		n = newNode(Not, Truth, n)
	}
	return n
}

// lowerIn is «x in [1, 2, 3]» and «x in 1..3», of whole numbers and of texts.
func lowerIn(n *ast.BinaryNode, names Scope) *Node {
	a := lower(n.Left, names)
	if a == nil || (a.Kind != Whole && a.Kind != Text) {
		return nil
	}
	switch list := n.Right.(type) {
	case *ast.ArrayNode:
		items := lowerAll(list.Nodes, names)
		if items == nil || slices.ContainsFunc(items, func(i *Node) bool { return i.Kind != a.Kind }) {
			return nil
		}
		return newNode(In, Truth, append([]*Node{a}, items...)...)
	case *ast.BinaryNode:
		ends := lowerAll([]ast.Node{list.Left, list.Right}, names)
		if list.Operator == ".." && ends != nil && a.Kind == Whole && ends[0].Kind == Whole && ends[1].Kind == Whole {
			return newNode(And, Truth, newNode(LessEqual, Truth, ends[0], a), newNode(LessEqual, Truth, a, ends[1]))
		}
	}
	return nil
}

func lowerConditional(n *ast.ConditionalNode, names Scope) *Node {
	parts := lowerAll([]ast.Node{n.Cond, n.Exp1, n.Exp2}, names)
	if parts == nil || parts[0].Kind != Truth || parts[1].Kind != parts[2].Kind {
		return nil
	}
	return newNode(If, parts[1].Kind, parts...)
}

// lowerCall is a function of the language, of numbers.
func lowerCall(name string, arguments []ast.Node, names Scope) *Node {
	args := lowerAll(arguments, names)
	if len(args) == 0 || slices.ContainsFunc(args, func(n *Node) bool { return !n.isNumber() }) {
		return nil
	}
	if f := functionOf(name); f != nil {
		return f.node(args)
	}
	a := args[0]
	switch {
	case len(args) >= 2 && (name == "min" || name == "max"):
		code := map[string]Code{"min": Minimum, "max": Maximum}[name]
		if slices.ContainsFunc(args, func(n *Node) bool { return n.Kind != a.Kind }) {
			return nil // it has the kind of the one that it is
		}
		for _, b := range args[1:] {
			a = newNode(code, a.Kind, a, b)
		}
		return a
	case len(args) > 1:
		return nil
	}
	switch name {
	case "abs":
		return newNode(Absolute, a.Kind, a)
	case "ceil":
		return newNode(Ceil, Real, a.real())
	case "floor":
		return newNode(Floor, Real, a.real())
	case "round":
		return newNode(Round, Real, a.real())
	case "float":
		return a.real()
	case "int":
		if a.Kind == Whole {
			return a
		}
		return newNode(ToWhole, Whole, a)
	}
	return nil
}

// node is a call of the function with numbers; nil where the kind of its result is not known.
func (f *function) node(args []*Node) *Node {
	k, ok := f.result(args)
	if !ok {
		return nil
	}
	if code, ok := map[string]Code{"div": Quotient, "floor_div": FloorDiv, "floor_mod": FloorMod}[f.name]; ok && k == Whole {
		return newNode(code, Whole, args...)
	}
	n := newNode(Call, k, args...)
	n.Function = f.name
	return n
}
