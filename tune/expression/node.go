package expression

import (
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"github.com/ndtune/ndtune/internal/each"
)

// A Node is a part of an expression: an operation on other parts, a constant or a name. Nodes are immutable.
type Node struct {
	Operation
	Args  []*Node
	Value any // of a constant: an int, a float64, a bool or a string
	Name  string
	Field string // of a name that is a record: its field, or the path to it; else empty

	// IsImplicit says that the node is the conversion of an integer to a float that an operator does itself.
	IsImplicit bool

	tree ast.Node // that the node was made of
}

// A Kind is the type of a part of an expression.
type Kind uint8

const (
	Int   Kind = iota // an integer
	Float             // a float
	Bool
	String
	Number // an integer or a float: only the computation tells. No expression with nodes is of this kind
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

func (k Kind) isNumber() bool { return k == Int || k == Float || k == Number }

// Lookup is the value of a name in an environment.
func (n *Node) Lookup(environment map[string]any) any {
	v := environment[n.Name]
	for field, rest := "", n.Field; rest != ""; {
		field, rest, _ = strings.Cut(rest, ".")
		record, _ := v.(map[string]any)
		v = record[field]
	}
	return v
}

// constant is the value of a constant, or of one as a float; nil where it is none.
func (n *Node) constant() any {
	if n.IsImplicit {
		if i, ok := n.Args[0].Value.(int); ok {
			return float64(i)
		}
	}
	return n.Value
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

// String is the node in the language of specifications.
func (n *Node) String() string { return n.tree.String() }

// Raw is a number or a condition in 64 bits.
func Raw(v any) uint64 {
	switch v := v.(type) {
	case int:
		return uint64(v)
	case float64:
		return math.Float64bits(v)
	}
	return Bit(v.(bool))
}

// Value is the opposite of [Raw].
func Value(k Kind, raw uint64) any {
	switch k {
	case Int:
		return int(raw)
	case Float:
		return math.Float64frombits(raw)
	}
	return raw != 0
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
	ToFloat
	ToInt
	Not
	And
	Or
	Equal
	Less
	LessEqual
	If
	In       // the first argument among the others
	Contains // the second text within the first
	StartsWith
	EndsWith
	Matches // a regular expression
	Length  // of a text, in characters
	Let     // the second argument, with a variable that has the value of the first
	Local   // a variable
	Codes   // how many there are
)

// An operator is all that sets an operation apart. It computes with raw values of 64 bits; an
// operation on one argument disregards the second.
type operator struct {
	text   string // between its arguments, or before them, as a function
	infix  bool
	takes  kinds                       // of all its arguments
	gives  kinds                       // of its result; none: that of its arguments
	ints   func(a, b uint64) uint64    // of integers, conditions and strings
	floats func(a, b uint64) uint64    // of floats
	checks func(a, b int) (int, error) // of integers, where it can fail, in place of ints
	extent extent                      // nil: not known
}

// kinds are some of the kinds, a bit each.
type kinds uint8

const (
	intKind     kinds = 1 << Int
	floatKind   kinds = 1 << Float
	boolKind    kinds = 1 << Bool
	stringKind  kinds = 1 << String
	numberKinds kinds = intKind | floatKind
)

func (k kinds) has(of Kind) bool { return k>>of&1 != 0 }

var operators = [Codes]operator{
	Add: {
		text: "+", infix: true, takes: numberKinds | stringKind,
		checks: addInts, floats: ofFloats(func(a, b float64) float64 { return a + b }), extent: sumExtent,
	},
	Subtract: {
		text: "-", infix: true, takes: numberKinds,
		checks: subInts, floats: ofFloats(func(a, b float64) float64 { return a - b }), extent: differenceExtent,
	},
	Multiply: {
		text: "*", infix: true, takes: numberKinds,
		checks: mulInts, floats: ofFloats(func(a, b float64) float64 { return a * b }), extent: productExtent,
	},
	Divide: {
		text: "/", infix: true, takes: floatKind,
		floats: ofFloats(func(a, b float64) float64 { return a / b }), extent: quotientExtent(itself),
	},
	Quotient: {
		text: "div", takes: intKind,
		checks: quotient, extent: quotientExtent(math.Trunc),
	},
	Remainder: {
		text: "%", infix: true, takes: intKind,
		checks: remainder, extent: remainderExtent,
	},
	FloorDiv: {
		text: "floor_div", takes: intKind,
		checks: floorDivInts, extent: quotientExtent(math.Floor),
	},
	FloorMod: {
		text: "floor_mod", takes: intKind,
		checks: floorModInts, extent: remainderExtent,
	},
	Power: {
		text: "**", infix: true, takes: floatKind,
		floats: ofFloats(math.Pow),
	},
	Negate: {
		takes:  numberKinds,
		checks: negative, floats: ofFloat(func(a float64) float64 { return -a }), extent: negativeExtent,
	},
	Minimum: {
		text: "min", takes: numberKinds,
		ints: ofInts(least), floats: ofFloats(math.Min), extent: leastExtent,
	},
	Maximum: {
		text: "max", takes: numberKinds,
		ints: ofInts(most), floats: ofFloats(math.Max), extent: mostExtent,
	},
	Absolute: {
		text: "abs", takes: numberKinds,
		checks: absolute, floats: ofFloat(math.Abs), extent: absoluteExtent,
	},
	Ceil: {
		text: "ceil", takes: floatKind,
		floats: ofFloat(math.Ceil), extent: growing(math.Ceil),
	},
	Floor: {
		text: "floor", takes: floatKind,
		floats: ofFloat(math.Floor), extent: growing(math.Floor),
	},
	Round: {
		text: "round", takes: floatKind,
		floats: ofFloat(math.Round), extent: growing(math.Round),
	},
	ToFloat: {
		text: "float", takes: numberKinds, gives: floatKind,
		ints: intToFloat, extent: growing(itself),
	},
	ToInt: {
		text: "int", takes: numberKinds, gives: intKind,
		floats: floatToInt, extent: growing(math.Trunc),
	},
	Not: {
		takes: boolKind,
		ints:  not, extent: func(a, _ Bounds) (lo, hi float64) { return 1 - a[1], 1 - a[0] },
	},
	And: {
		text: "and", infix: true, takes: boolKind,
		extent: leastExtent,
	},
	Or: {
		text: "or", infix: true, takes: boolKind,
		extent: mostExtent,
	},
	Equal: {
		text: "==", infix: true, takes: numberKinds | boolKind | stringKind, gives: boolKind,
		ints: intsAre(equal), floats: floatsAre(equal), extent: equalExtent,
	},
	Less: {
		text: "<", infix: true, takes: numberKinds | stringKind, gives: boolKind,
		ints: intsAre(less), floats: floatsAre(less), extent: lessExtent,
	},
	LessEqual: {
		text: "<=", infix: true, takes: numberKinds | stringKind, gives: boolKind,
		ints: intsAre(lessEqual), floats: floatsAre(lessEqual), extent: lessEqualExtent,
	},
	In: {
		takes: intKind | stringKind, gives: boolKind,
	},
	Contains:   {text: "contains", infix: true, takes: stringKind, gives: boolKind},
	StartsWith: {text: "startsWith", infix: true, takes: stringKind, gives: boolKind},
	EndsWith:   {text: "endsWith", infix: true, takes: stringKind, gives: boolKind},
	Matches:    {text: "matches", infix: true, takes: stringKind, gives: boolKind},
	Length: {
		text: "len", takes: stringKind, gives: intKind,
		extent: func(_, _ Bounds) (lo, hi float64) { return 0, math.MaxInt64 },
	},
}

// infixes and calls are the operations that are written between their arguments, and as functions.
var infixes, calls = map[string]Code{}, map[string]Code{}

func init() {
	for code, d := range operators {
		if d.infix {
			infixes[d.text] = Code(code)
		} else if d.text != "" {
			calls[d.text] = Code(code)
		}
	}
	infixes["&&"], infixes["||"], infixes["^"] = And, Or, Power
}

type scalar interface{ int64 | float64 }

func least(a, b int64) int64          { return min(a, b) }
func most(a, b int64) int64           { return max(a, b) }
func itself(f float64) float64        { return f }
func equal[T scalar](a, b T) bool     { return a == b }
func less[T scalar](a, b T) bool      { return a < b }
func lessEqual[T scalar](a, b T) bool { return a <= b }
func not(a, _ uint64) uint64          { return a ^ 1 }
func intToFloat(a, _ uint64) uint64   { return math.Float64bits(float64(int64(a))) }
func floatToInt(a, _ uint64) uint64   { return uint64(int64(math.Float64frombits(a))) }

func ofInts(g func(a, b int64) int64) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 { return uint64(g(int64(a), int64(b))) }
}

func ofFloats(g func(a, b float64) float64) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 { return math.Float64bits(g(math.Float64frombits(a), math.Float64frombits(b))) }
}

func ofFloat(g func(a float64) float64) func(a, _ uint64) uint64 {
	return func(a, _ uint64) uint64 { return math.Float64bits(g(math.Float64frombits(a))) }
}

func intsAre(g func(a, b int64) bool) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 { return Bit(g(int64(a), int64(b))) }
}

func floatsAre(g func(a, b float64) bool) func(a, b uint64) uint64 {
	return func(a, b uint64) uint64 { return Bit(g(math.Float64frombits(a), math.Float64frombits(b))) }
}

// compute is the value of an operation on values, whose kinds it looks at.
func (o *Operation) compute(values []any) (any, error) {
	switch o.Code {
	case Call:
		return functionNamed[o.Function].compute(values)
	case In:
		return slices.Contains(values[1:], values[0]), nil
	}
	return computeTwo(o.Code, values[0], values[len(values)-1])
}

// computeTwo is compute of an operation on two values, or on one that is both.
func computeTwo(code Code, a, b any) (any, error) {
	d := &operators[code]
	k, ok := KindOf(a)
	other, also := KindOf(b)
	switch {
	case !ok:
		return nil, fmt.Errorf("%s is neither a number, nor a condition, nor a text", describe(a))
	case !also:
		return nil, fmt.Errorf("%s is neither a number, nor a condition, nor a text", describe(b))
	case d.gives.has(k) && d.takes.has(k) && k != Bool:
		return a, nil // the conversion of what it is already
	case k != other || k == Int && d.takes == floatKind:
		x, y, err := twoFloats(a, b)
		switch {
		case err != nil && code == Equal:
			return false, nil
		case err != nil:
			return nil, err
		case code == Minimum && !(x <= y), code == Maximum && !(x >= y):
			return b, nil
		case code == Minimum, code == Maximum:
			return a, nil
		}
		k, a, b = Float, x, y
	}
	gives := k
	if d.gives != 0 {
		gives = Kind(bits.TrailingZeros8(uint8(d.gives)))
	}
	switch {
	case !d.takes.has(k):
		return nil, fmt.Errorf("it does not take %s", describe(a))
	case k == String:
		return computeTexts(code, a.(string), b.(string))
	case k == Int && d.checks != nil:
		return d.checks(a.(int), b.(int))
	case k == Float:
		return Value(gives, d.floats(Raw(a), Raw(b))), nil
	}
	return Value(gives, d.ints(Raw(a), Raw(b))), nil
}

func computeTexts(code Code, a, b string) (any, error) {
	switch code {
	case Add:
		return a + b, nil
	case Contains:
		return strings.Contains(a, b), nil
	case StartsWith:
		return strings.HasPrefix(a, b), nil
	case EndsWith:
		return strings.HasSuffix(a, b), nil
	case Matches:
		return regexp.MatchString(b, a)
	case Length:
		return utf8.RuneCountInString(a), nil
	case Less:
		return a < b, nil
	case LessEqual:
		return a <= b, nil
	}
	return a == b, nil
}
