package expression

// A Node is a part of an expression. It stands as it is written: nothing is computed yet.
type Node struct {
	Operation
	Args  []*Node
	Value any    // of a constant: an int, a float64, a bool or a string
	Name  string // of a name
	Field string // of a name that is a record: its field; else empty
}

// A Kind is the type of a part of an expression.
type Kind uint8

const (
	Whole Kind = iota // an integer
	Real              // a float
	Truth
	Text
)

// KindOf is the kind of a value; false where it has none, as a list.
func KindOf(v any) (Kind, bool) {
	switch v.(type) {
	case int:
		return Whole, true
	case float64:
		return Real, true
	case bool:
		return Truth, true
	case string:
		return Text, true
	}
	return 0, false
}

// An Operation is what a node does with its arguments.
type Operation struct {
	Code     Code
	Kind     Kind    // of the result
	Of       [2]Kind // of the first two arguments
	Function string  // of a call
}

// A Code says which operation it is.
type Code uint8

const (
	Constant Code = iota
	Name
	Call // of a function of the language that is not among the codes
	Add
	Subtract
	Multiply
	Divide    // of floats
	Quotient  // of integers, rounded towards zero
	Remainder // of integers, with the sign of the dividend
	FloorDiv  // of integers, rounded down
	FloorMod  // of integers, with the sign of the divisor
	Power     // of floats
	Negate
	Minimum
	Maximum
	Absolute
	Ceil
	Floor
	Round
	ToReal
	ToWhole
	Not
	And
	Or
	Equal
	Less
	LessEqual
	If
	In    // the first argument among the others
	Codes // how many there are
)

// newNode is an operation on nodes.
func newNode(code Code, k Kind, args ...*Node) *Node {
	n := &Node{Operation: Operation{Code: code, Kind: k}, Args: args}
	for i, a := range args[:min(2, len(args))] {
		n.Of[i] = a.Kind
	}
	return n
}

// constant is a node of a value; nil where it has no kind.
func constant(v any) *Node {
	k, ok := KindOf(v)
	if !ok {
		return nil
	}
	return &Node{Operation: Operation{Code: Constant, Kind: k}, Value: v}
}

func (n *Node) isNumber() bool { return n.Kind == Whole || n.Kind == Real }

// real is a number as a float.
func (n *Node) real() *Node {
	if n.Kind == Real {
		return n
	}
	return newNode(ToReal, Real, n)
}

// Condition is a node as a condition: of a number, whether it is not 0; nil where it is none.
func (n *Node) Condition() *Node {
	switch n.Kind {
	case Truth:
		return n
	case Whole:
		return newNode(Not, Truth, newNode(Equal, Truth, n, constant(0)))
	case Real:
		return newNode(Not, Truth, newNode(Equal, Truth, n, constant(0.0)))
	}
	return nil
}
