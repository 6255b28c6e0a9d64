package expression

import (
	"math"
	"slices"

	"github.com/ndtune/ndtune/internal/each"
)

// A Node is a part of an expression: an operation on other parts, a constant or a name. It has a
// kind, and it is printed as it was written. Nodes are immutable.
type Node struct {
	Operation
	Args  []*Node
	Value any    // of a constant: an int, a float64, a bool or a string
	Name  string // of a name
	Field string // of a name that is a record: its field; else empty

	vm      bool   // only the VM of expr-lang can compute it
	written string // the operator, where it is not the one of the code
}

// A Kind is the type of a part of an expression.
type Kind uint8

const (
	Int   Kind = iota // an integer
	Float             // a float
	Bool
	String
	Number // an integer or a float: only the computation tells
)

func (k Kind) String() string {
	return [...]string{"an integer", "a float", "a bool", "a text", "a number"}[k]
}

// KindOf is the kind of a value; false where it has none, as a list.
func KindOf(v any) (Kind, bool) {
	switch v.(type) {
	case int:
		return Int, true
	case float64:
		return Float, true
	case bool:
		return Bool, true
	case string:
		return String, true
	}
	return 0, false
}

// Lookup is the value of a name in an environment.
func (n *Node) Lookup(environment map[string]any) any {
	v := environment[n.Name]
	if n.Field != "" {
		record, _ := v.(map[string]any)
		v = record[n.Field]
	}
	return v
}

// newConstant is a constant; nil where the value has no kind.
func newConstant(v any) *Node {
	k, ok := KindOf(v)
	if !ok {
		return nil
	}
	return &Node{Operation: Operation{Code: Constant, Kind: k}, Value: v}
}

func (k Kind) isNumber() bool { return k == Int || k == Float || k == Number }

// constant is the value of a constant, or of one as a float; nil where it is none.
func (n *Node) constant() any {
	if n.IsImplicit() {
		if i, ok := n.Args[0].Value.(int); ok {
			return float64(i)
		}
	}
	return n.Value
}

// float is a number as a float. The conversion is not printed: operators do it themselves.
func (n *Node) float() *Node {
	if n.Kind == Float {
		return n
	}
	r := newNode(ToFloat, Float, n)
	r.written = implicit
	return r
}

const implicit = "implicit"

// IsImplicit reports whether the node is the conversion of an integer to a float that an operator does itself.
func (n *Node) IsImplicit() bool { return n.Code == ToFloat && n.written == implicit }

// newNode is an operation on nodes that is not computed.
func newNode(code Code, k Kind, args ...*Node) *Node {
	n := &Node{Operation: Operation{Code: code, Kind: k}, Args: args, vm: k == Number}
	for i, a := range args {
		if i < len(n.Of) {
			n.Of[i] = a.Kind
		}
		n.vm = n.vm || a.vm
	}
	return n
}

// made is the node: as a constant where its arguments are constants and its value is finite.
func (n *Node) made() *Node {
	if slices.ContainsFunc(n.Args, func(a *Node) bool { return a.constant() == nil }) {
		return n
	}
	v, err := n.compute()
	if f, ok := v.(float64); err != nil || ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return n
	}
	return newConstant(v)
}

// bounds are those of a constant, or of anything.
func (n *Node) bounds() Bounds {
	switch v := n.Value.(type) {
	case int:
		return Bounds{float64(v), float64(v)}
	case float64:
		return Bounds{v, v}
	}
	return Unbounded
}

// fails reports whether the computation can fail.
func (n *Node) fails() bool {
	return n.Fails(each.Of(n.Args, (*Node).bounds)) || slices.ContainsFunc(n.Args, (*Node).fails)
}

// isNatural reports whether an integer cannot be negative, as far as its form tells.
func (n *Node) isNatural() bool {
	i, isInt := n.Value.(int)
	return isInt && i >= 0 || n.Code == Absolute || n.Code == FloorMod && n.Args[1].isNatural()
}
