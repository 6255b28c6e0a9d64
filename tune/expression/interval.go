package expression

import (
	"math"
)

// exactLimit bounds the integers that bounds hold exactly; what can be as large can be
// anything.
const exactLimit = 1 << 53

// Bounds are the least and the largest that a part of an expression can be, as a number: of
// conditions 0 and 0 where it is false for certain, 1 and 1 where it is true.
type Bounds [2]float64

// Unbounded are the bounds of what can be anything.
var Unbounded = Bounds{math.Inf(-1), math.Inf(1)}

// BoundsOf are bounds that hold for certain: of large integers, of floats that may be infinite or NaN, and of
// what is no number, those of everything.
func BoundsOf(k Kind, lo, hi float64) Bounds {
	if math.IsNaN(hi-lo) || k == Int && max(-lo, hi) >= exactLimit || k == Float && math.IsInf(hi-lo, 0) {
		lo, hi = math.Inf(-1), math.Inf(1)
	}
	if k == Bool {
		lo, hi = max(lo, 0), min(hi, 1)
	}
	return Bounds{lo, hi}
}

// Bounds are the bounds of an operation by those of its arguments: every value that it can
// have lies within.
func (o *Operation) Bounds(args []Bounds) Bounds {
	lo, hi := o.extent(args)
	return BoundsOf(o.Kind, lo, hi)
}

// Fails reports whether the operation can fail for arguments within bounds.
func (o *Operation) Fails(args []Bounds) bool {
	switch o.Code {
	case Call:
		return true
	case Quotient, Remainder, FloorDiv, FloorMod:
		by := args[1]
		// The least integer has no quotient by -1 among the integers.
		return by[0] <= 0 && by[1] >= 0 || (o.Code == Quotient || o.Code == FloorDiv) && args[0][0] < -exactLimit && by[0] <= -1
	}
	return false
}

// Overflows reports whether the operation can leave the integers for arguments within bounds.
func (o *Operation) Overflows(args []Bounds) bool {
	switch o.Code {
	case Add, Subtract, Multiply, Negate, Absolute:
		lo, hi := o.extent(args)
		return o.Kind == Int && !(max(-lo, hi) <= 1<<62) // NaN, too
	}
	return false
}

// extent is [Operation.Bounds] of integers and floats that have no end.
func (o *Operation) extent(args []Bounds) (lo, hi float64) {
	extent := operators[o.Code].extent
	switch len(args) {
	case 2:
		if extent != nil {
			return extent(args[0], args[1])
		}
	case 1:
		if extent != nil {
			return extent(args[0], Bounds{})
		}
	case 3:
		if o.Code == If {
			return choiceExtent(args[0], args[1], args[2])
		}
	}
	return Unbounded[0], Unbounded[1]
}

func choiceExtent(condition, yes, no Bounds) (lo, hi float64) {
	switch {
	case condition[0] >= 1:
		return yes[0], yes[1]
	case condition[1] <= 0:
		return no[0], no[1]
	}
	return min(yes[0], no[0]), max(yes[1], no[1])
}

// An extent gives the bounds of a result by those of two arguments.
type extent func(a, b Bounds) (lo, hi float64)

func sumExtent(a, b Bounds) (lo, hi float64)        { return a[0] + b[0], a[1] + b[1] }
func differenceExtent(a, b Bounds) (lo, hi float64) { return a[0] - b[1], a[1] - b[0] }
func negativeExtent(a, _ Bounds) (lo, hi float64)   { return -a[1], -a[0] }
func leastExtent(a, b Bounds) (lo, hi float64)      { return min(a[0], b[0]), min(a[1], b[1]) }
func mostExtent(a, b Bounds) (lo, hi float64)       { return max(a[0], b[0]), max(a[1], b[1]) }
func lessExtent(a, b Bounds) (lo, hi float64)       { return certainly(a[1] < b[0], a[0] >= b[1]) }
func lessEqualExtent(a, b Bounds) (lo, hi float64)  { return certainly(a[1] <= b[0], a[0] > b[1]) }

func equalExtent(a, b Bounds) (lo, hi float64) {
	return certainly(a[0] == a[1] && a == b, a[1] < b[0] || b[1] < a[0])
}

func productExtent(a, b Bounds) (lo, hi float64) {
	p, q, r, s := a[0]*b[0], a[0]*b[1], a[1]*b[0], a[1]*b[1]
	return min(p, q, r, s), max(p, q, r, s)
}

// growing is the extent of a function of one argument that never falls.
func growing(f func(float64) float64) extent {
	return func(a, _ Bounds) (lo, hi float64) { return f(a[0]), f(a[1]) }
}

// quotientExtent is that of a quotient that a function rounds: of floats, not at all.
func quotientExtent(round func(float64) float64) extent {
	return func(a, b Bounds) (lo, hi float64) {
		if b[0] <= 0 && b[1] >= 0 {
			return Unbounded[0], Unbounded[1]
		}
		p, q, r, s := round(a[0]/b[0]), round(a[0]/b[1]), round(a[1]/b[0]), round(a[1]/b[1])
		return min(p, q, r, s), max(p, q, r, s)
	}
}

func remainderExtent(a, b Bounds) (lo, hi float64) {
	switch {
	case a[0] < 0 || b[0] <= 0:
		return Unbounded[0], Unbounded[1]
	case a[1] < b[0]:
		return a[0], a[1]
	}
	return 0, min(a[1], b[1]-1)
}

func absoluteExtent(a, _ Bounds) (lo, hi float64) {
	switch {
	case a[0] >= 0:
		return a[0], a[1]
	case a[1] <= 0:
		return -a[1], -a[0]
	}
	return 0, max(-a[0], a[1])
}

// certainly are the bounds of a condition that is true for certain, or false for certain, or
// neither. Infinite bounds compare as equal without being so.
func certainly(yes, no bool) (lo, hi float64) {
	switch {
	case yes && !no:
		return 1, 1
	case no && !yes:
		return 0, 0
	}
	return 0, 1
}
