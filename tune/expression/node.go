package expression

import (
	"fmt"
	"math"
	"slices"
)

// A Node is a part of an expression: an operation on other parts, a constant or a name. It has a
// kind, and it is printed as it was written. Nodes are immutable.
type Node struct {
	Operation
	Args  []*Node
	Value any    // of a constant: an int, a float64, a bool or a string
	Name  string // of a name
	Field string // of a name that is a record: its field; else empty

	Bounds Bounds // of an integer: its bounds
	Err    error  // the reason why an operation on constants has no value

	nonZero bool   // a number that cannot be 0
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

// A Domain is what a name can be.
type Domain struct {
	Kind    Kind
	Bounds  Bounds // of an integer
	NonZero bool   // a number that cannot be 0
}

// DomainOf is the domain of a name with these values: they are of one kind, or numbers.
func DomainOf(values []any) (d Domain, err error) {
	for i, v := range values {
		n := Const(v)
		switch {
		case n == nil:
			return d, fmt.Errorf("%v, a %T, is no value of an expression", v, v)
		case i == 0:
			d = Domain{n.Kind, n.Bounds, n.nonZero}
		case d.Kind == n.Kind || d.Kind.isNumber() && n.IsNumber():
			if d.Kind != n.Kind {
				d.Kind = Number
			}
			d.Bounds, d.NonZero = d.Bounds.union(n.Bounds), d.NonZero && n.nonZero
		default:
			return d, fmt.Errorf("%v and %v stand in one list; the values of a name are of one kind", d.Kind, n.Kind)
		}
	}
	return d, nil
}

// NewName is a name of which the domain is known.
func NewName(name string, d Domain) *Node {
	return &Node{Operation: Operation{Code: Name, Kind: d.Kind}, Name: name, Bounds: d.Bounds, nonZero: d.NonZero, vm: d.Kind == Number}
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

// Const is a constant; nil where the value has no kind.
func Const(v any) *Node {
	k, ok := KindOf(v)
	if !ok {
		return nil
	}
	n := &Node{Operation: Operation{Code: Constant, Kind: k}, Value: v, Bounds: all64}
	switch v := v.(type) {
	case int:
		n.Bounds = Bounds{float64(v), float64(v)}
		n.nonZero = v != 0
	case float64:
		n.nonZero = v != 0
	}
	return n
}

func (k Kind) isNumber() bool { return k == Int || k == Float || k == Number }

// IsNumber reports whether the node is a number.
func (n *Node) IsNumber() bool { return n.Kind.isNumber() }

// CanBeZero reports whether a number can be 0.
func (n *Node) CanBeZero() bool {
	return !n.nonZero && (n.Kind != Int || n.Bounds[0] <= 0 && n.Bounds[1] >= 0)
}

// IsExact reports whether a number is a float, or an integer that a float holds for certain.
func (n *Node) IsExact() bool {
	return n.Kind == Float || n.Kind == Int && n.Bounds[0] > -exactLimit && n.Bounds[1] < exactLimit
}

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
	n := &Node{Operation: Operation{Code: code, Kind: k}, Args: args, vm: k == Number, Bounds: all64}
	for i, a := range args {
		if i < len(n.Of) {
			n.Of[i] = a.Kind
		}
		n.vm = n.vm || a.vm
	}
	switch code {
	case Negate, If, Minimum, Maximum, Absolute, ToFloat:
		from := args
		if code == If {
			from = args[1:]
		}
		n.nonZero = (code != Negate || k == Float) && (code != Absolute || k == Int) && !slices.ContainsFunc(from, (*Node).CanBeZero)
	}
	return n
}

// made is the node, with its bounds: as a constant where its arguments are constants and it can
// be computed.
func (n *Node) made() *Node {
	if !slices.ContainsFunc(n.Args, func(a *Node) bool { return a.constant() == nil }) {
		v, err := n.compute()
		if f, ok := v.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			err = fmt.Errorf("%v %w", f, ErrInfinite)
		}
		if err == nil {
			return Const(v)
		}
		n.Err = err
	}
	if n.Kind == Int {
		n.Bounds = n.bounds()
	}
	return n
}
