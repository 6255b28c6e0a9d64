package python

import "slices"

// freeNames are the names that a node reads and does not bind itself.
func freeNames(root node) (names []string) {
	var visit func(n node, bound []string)
	each := func(nodes []node, bound []string) {
		for _, n := range nodes {
			visit(n, bound)
		}
	}
	visit = func(n node, bound []string) {
		switch n := n.(type) {
		case *name:
			if !slices.Contains(bound, n.id) && !slices.Contains(names, n.id) {
				names = append(names, n.id)
			}
		case *display:
			each(n.items, bound)
		case *unary:
			visit(n.operand, bound)
		case *binary:
			visit(n.left, bound)
			visit(n.right, bound)
		case *boolean:
			each(n.operands, bound)
		case *comparison:
			visit(n.first, bound)
			for _, l := range n.links {
				visit(l.right, bound)
			}
		case *conditional:
			each([]node{n.then, n.condition, n.otherwise}, bound)
		case *subscript:
			visit(n.of, bound)
			visit(n.index, bound)
		case *call:
			each(n.arguments, bound)
		case *comprehension:
			inner := slices.Clone(bound)
			for _, c := range n.clauses {
				visit(c.iterable, inner)
				inner = append(inner, c.variable)
				each(c.conditions, inner)
			}
			visit(n.element, inner)
		}
	}
	visit(root, nil)
	return names
}
