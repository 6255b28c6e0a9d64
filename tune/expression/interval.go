package expression

import "math"

// exactLimit bounds the integers that bounds hold exactly; what can be larger can be
// anything, since integers wrap around.
const exactLimit = 1 << 53

// Bounds are the least and the largest that a part of an expression can be, as a number: of
// conditions 0 and 0 where it is false for certain, 1 and 1 where it is true.
type Bounds [2]float64

// Unbounded are the bounds of what can be anything.
var Unbounded = Bounds{math.Inf(-1), math.Inf(1)}

// BoundsOf are bounds that hold for certain: of integers that may have wrapped around, and of
// what is no number, those of everything.
func BoundsOf(k Kind, lo, hi float64) Bounds {
	if math.IsNaN(lo) || math.IsNaN(hi) || (k == Whole && (lo < -exactLimit || hi > exactLimit)) {
		lo, hi = math.Inf(-1), math.Inf(1)
	}
	if k == Truth {
		lo, hi = max(lo, 0), min(hi, 1)
	}
	return Bounds{lo, hi}
}

// Bounds are the bounds of an operation by those of its arguments: every value that it can
// have lies within.
func (o *Operation) Bounds(args []Bounds) Bounds {
	lo, hi := o.Extent(args)
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
		return by[0] <= 0 && by[1] >= 0 || o.Code == FloorDiv && args[0][0] < -exactLimit && by[0] <= -1
	}
	return false
}

// Extent is [Operation.Bounds] of integers and floats that have no end.
func (o *Operation) Extent(args []Bounds) (lo, hi float64) {
	var a, b Bounds
	if len(args) > 0 {
		a = args[0]
	}
	if len(args) > 1 {
		b = args[1]
	}
	switch o.Code {
	case Add:
		return a[0] + b[0], a[1] + b[1]
	case Subtract:
		return a[0] - b[1], a[1] - b[0]
	case Multiply:
		return extremes(a, b, func(x, y float64) float64 { return x * y })
	case Divide:
		if b[0] > 0 || b[1] < 0 {
			return extremes(a, b, func(x, y float64) float64 { return x / y })
		}
	case Quotient:
		if b[0] > 0 || b[1] < 0 {
			return extremes(a, b, func(x, y float64) float64 { return math.Trunc(x / y) })
		}
	case FloorDiv:
		if b[0] > 0 || b[1] < 0 {
			return extremes(a, b, func(x, y float64) float64 { return math.Floor(x / y) })
		}
	case Remainder, FloorMod:
		if a[0] >= 0 && b[0] > 0 {
			if a[1] < b[0] {
				return a[0], a[1]
			}
			return 0, min(a[1], b[1]-1)
		}
	case Negate:
		return -a[1], -a[0]
	case Minimum:
		return min(a[0], b[0]), min(a[1], b[1])
	case Maximum:
		return max(a[0], b[0]), max(a[1], b[1])
	case Absolute:
		switch {
		case a[0] >= 0:
			return a[0], a[1]
		case a[1] <= 0:
			return -a[1], -a[0]
		}
		return 0, max(-a[0], a[1])
	case Ceil:
		return math.Ceil(a[0]), math.Ceil(a[1])
	case Floor:
		return math.Floor(a[0]), math.Floor(a[1])
	case Round:
		return math.Round(a[0]), math.Round(a[1])
	case ToReal:
		return a[0], a[1]
	case ToWhole:
		return math.Trunc(a[0]), math.Trunc(a[1])
	case Not:
		return 1 - a[1], 1 - a[0]
	case And:
		return min(a[0], b[0]), min(a[1], b[1])
	case Or:
		return max(a[0], b[0]), max(a[1], b[1])
	case Less:
		return certainly(a[1] < b[0], a[0] >= b[1])
	case LessEqual:
		return certainly(a[1] <= b[0], a[0] > b[1])
	case Equal:
		return certainly(a[0] == a[1] && a == b, a[1] < b[0] || b[1] < a[0])
	case If:
		switch c := args[2]; {
		case a[0] >= 1:
			return b[0], b[1]
		case a[1] <= 0:
			return c[0], c[1]
		default:
			return min(b[0], c[0]), max(b[1], c[1])
		}
	}
	return math.Inf(-1), math.Inf(1)
}

// extremes are the least and the largest of a function that is monotonic in each argument.
func extremes(a, b Bounds, f func(x, y float64) float64) (lo, hi float64) {
	p, q, r, s := f(a[0], b[0]), f(a[0], b[1]), f(a[1], b[0]), f(a[1], b[1])
	return min(p, q, r, s), max(p, q, r, s)
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
