package expression

import (
	"fmt"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/ndtune/ndtune/internal/excerpt"
)

// Nodes returns the expression as nodes. Unlike those of [Expression.Root], some of them can be numbers of which only the
// computation tells whether they are integers or floats. The error names the innermost part that has no nodes, and says why.
func (e *Expression) Nodes() (*Node, error) {
	if e.lowered != nil {
		return e.lowered, nil
	}
	tree, err := parser.ParseWithConfig(e.source, language())
	if err != nil {
		return nil, err // never: it was parsed before
	}
	m := missing{used: e.used}
	ast.Walk(&tree.Node, &m)
	if m.err == nil {
		m.err = fmt.Errorf("%s: %s", excerpt.Of(e.source), onlyHere)
	}
	return nil, m.err
}

const onlyHere = "only ndtune computes it"

// A missing looks for the first part of a tree that has no nodes. Parts are visited before those that hold them.
type missing struct {
	used Scope
	err  error // names the part; nil: none yet
}

func (m *missing) Visit(node *ast.Node) {
	if lower(*node, m.used) != nil {
		return
	}
	reason := onlyHere
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if example, ok := m.used[n.Value]; !ok || example != nil {
			return // a part of a call, of a field or of the declaration of a variable
		}
		reason = "its values are of more than one kind"
	case *ast.ArrayNode, *ast.PointerNode:
		return // the operator or the function around it is the part
	case *ast.PredicateNode:
		m.err = nil
		return // the function around it
	case *ast.MemberNode:
		reason = "it is neither a number, nor a condition, nor a text"
	case *ast.VariableDeclaratorNode:
		m.err, reason = nil, "it declares a variable"
	case *ast.BuiltinNode:
		reason = "it computes with a list, or with another kind than numbers"
	case *ast.CallNode:
		reason = "it takes numbers of another kind"
	case *ast.BinaryNode:
		switch n.Operator {
		case "..":
			return
		case "in":
			reason = "the list has items that are not constant and may fail, or are of another kind"
		default:
			reason = "the operator takes other kinds"
		}
	}
	if m.err == nil {
		m.err = fmt.Errorf("%s: %s", excerpt.Of((*node).String()), reason)
	}
}
