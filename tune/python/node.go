package python

// A node is a part of an expression. Its column is that of its first character, or of the
// operator where one is to blame when it fails.
type node interface{ place() int }

type column int

func (c column) place() int { return int(c) }

type (
	literal struct {
		column
		value any
	}
	name struct {
		column
		id string
	}
	// display is a list «[…]», a tuple «(…)» or a set «{…}».
	display struct {
		column
		open  string
		items []node
	}
	// unary is one of + - ~ not.
	unary struct {
		column
		operator string
		operand  node
	}
	// binary is an operator that computes: + - * / // % ** & | ^ << >>.
	binary struct {
		column
		operator    string
		left, right node
	}
	// boolean is «a and b and c», or the same with or.
	boolean struct {
		column
		operator string
		operands []node
	}
	// comparison is a chain: first < rest[0] <= rest[1].
	comparison struct {
		column
		first node
		links []link
	}
	conditional struct {
		column
		then, condition, otherwise node
	}
	subscript struct {
		column
		of, index node
	}
	call struct {
		column
		function  string // «math.ceil» with its module
		arguments []node
	}
	// comprehension is «[element for …]», or a generator expression.
	comprehension struct {
		column
		open    string // «[» or «(»
		element node
		clauses []clause
	}
)

// A link is an operator of a comparison with what stands behind it.
type link struct {
	column
	operator string // < <= > >= == != in, not in
	right    node
}

// A clause is «for variable in iterable if conditions…».
type clause struct {
	column
	variable   string
	iterable   node
	conditions []node
}

// known is the value of a literal.
func (n *literal) known() any {
	if i, ok := n.value.(uint64); ok {
		failf(n.place(), "%d is beyond the integers of 64 bits", i)
	}
	return n.value
}
