package expression

import (
	"math"
	"slices"
)

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
	Length   // of a text, in characters
	Codes    // how many there are
)

// An operator is all that sets an operation apart. It computes with raw values of 64 bits; an
// operation on one argument disregards the second.
type operator struct {
	text   string // between its arguments; at the level of atoms before them, as a function
	level  level
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
	numberKinds kinds = intKind | floatKind | 1<<Number
)

func (k kinds) has(of Kind) bool { return k>>of&1 != 0 }

var operators = [Codes]operator{
	Add: {
		text: "+", level: addLevel, takes: numberKinds | stringKind,
		checks: addInts, floats: ofFloats(func(a, b float64) float64 { return a + b }), extent: sumExtent,
	},
	Subtract: {
		text: "-", level: addLevel, takes: numberKinds,
		checks: subInts, floats: ofFloats(func(a, b float64) float64 { return a - b }), extent: differenceExtent,
	},
	Multiply: {
		text: "*", level: multiplyLevel, takes: numberKinds,
		checks: mulInts, floats: ofFloats(func(a, b float64) float64 { return a * b }), extent: productExtent,
	},
	Divide: {
		text: "/", level: multiplyLevel, takes: floatKind,
		floats: ofFloats(func(a, b float64) float64 { return a / b }), extent: quotientExtent(itself),
	},
	Quotient: {
		text: "div", level: atomLevel, takes: intKind,
		checks: quotient, extent: quotientExtent(math.Trunc),
	},
	Remainder: {
		text: "%", level: multiplyLevel, takes: intKind,
		checks: remainder, extent: remainderExtent,
	},
	FloorDiv: {
		text: "floor_div", level: atomLevel, takes: intKind,
		checks: floorDivInts, extent: quotientExtent(math.Floor),
	},
	FloorMod: {
		text: "floor_mod", level: atomLevel, takes: intKind,
		checks: floorModInts, extent: remainderExtent,
	},
	Power: {
		text: "**", level: signLevel, takes: floatKind,
		floats: ofFloats(math.Pow),
	},
	Negate: {
		level: signLevel, takes: numberKinds,
		checks: negative, floats: ofFloat(func(a float64) float64 { return -a }), extent: negativeExtent,
	},
	Minimum: {
		text: "min", level: atomLevel, takes: intKind | floatKind,
		ints: ofInts(least), floats: ofFloats(math.Min), extent: leastExtent,
	},
	Maximum: {
		text: "max", level: atomLevel, takes: intKind | floatKind,
		ints: ofInts(most), floats: ofFloats(math.Max), extent: mostExtent,
	},
	Absolute: {
		text: "abs", level: atomLevel, takes: numberKinds,
		checks: absolute, floats: ofFloat(math.Abs), extent: absoluteExtent,
	},
	Ceil: {
		text: "ceil", level: atomLevel, takes: floatKind,
		floats: ofFloat(math.Ceil), extent: growing(math.Ceil),
	},
	Floor: {
		text: "floor", level: atomLevel, takes: floatKind,
		floats: ofFloat(math.Floor), extent: growing(math.Floor),
	},
	Round: {
		text: "round", level: atomLevel, takes: floatKind,
		floats: ofFloat(math.Round), extent: growing(math.Round),
	},
	ToFloat: {
		text: "float", level: atomLevel, takes: numberKinds, gives: floatKind,
		ints: intToFloat, extent: growing(itself),
	},
	ToInt: {
		text: "int", level: atomLevel, takes: numberKinds, gives: intKind,
		floats: floatToInt, extent: growing(math.Trunc),
	},
	Not: {
		level: signLevel, takes: boolKind,
		ints: not, extent: func(a, _ Bounds) (lo, hi float64) { return 1 - a[1], 1 - a[0] },
	},
	And: {
		text: "and", level: andLevel, takes: boolKind,
		extent: leastExtent,
	},
	Or: {
		text: "or", level: orLevel, takes: boolKind,
		extent: mostExtent,
	},
	Equal: {
		text: "==", level: compareLevel, takes: numberKinds | boolKind | stringKind, gives: boolKind,
		ints: intsAre(equal), floats: floatsAre(equal), extent: equalExtent,
	},
	Less: {
		text: "<", level: compareLevel, takes: numberKinds | stringKind, gives: boolKind,
		ints: intsAre(less), floats: floatsAre(less), extent: lessExtent,
	},
	LessEqual: {
		text: "<=", level: compareLevel, takes: numberKinds | stringKind, gives: boolKind,
		ints: intsAre(lessEqual), floats: floatsAre(lessEqual), extent: lessEqualExtent,
	},
	In: {
		level: compareLevel, takes: intKind | stringKind, gives: boolKind,
	},
	Contains: {
		text: "contains", level: compareLevel, takes: stringKind, gives: boolKind,
	},
	Length: {
		text: "len", level: atomLevel, takes: stringKind, gives: intKind,
		extent: func(_, _ Bounds) (lo, hi float64) { return 0, math.MaxInt64 },
	},
}

// codeOf is the operation that is written so, as a function or between its arguments.
func codeOf(text string, isFunction bool) (Code, bool) {
	i := slices.IndexFunc(operators[:], func(d operator) bool { return d.text == text && (d.level == atomLevel) == isFunction })
	return Code(max(i, 0)), i >= 0
}

type number interface{ int64 | float64 }

func least(a, b int64) int64          { return min(a, b) }
func most(a, b int64) int64           { return max(a, b) }
func itself(f float64) float64        { return f }
func equal[T number](a, b T) bool     { return a == b }
func less[T number](a, b T) bool      { return a < b }
func lessEqual[T number](a, b T) bool { return a <= b }
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
