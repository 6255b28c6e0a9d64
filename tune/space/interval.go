package space

import "math"

// exactLimit bounds the integers that bounds hold exactly; what can be larger can be
// anything, since integers wrap around.
const exactLimit = 1 << 53

// widened are bounds that hold for certain: of integers that may have wrapped around, and of
// what is no number, those of everything.
func widened(k kind, lo, hi float64) [2]float64 {
	if math.IsNaN(lo) || math.IsNaN(hi) || (k == whole && (lo < -exactLimit || hi > exactLimit)) {
		lo, hi = math.Inf(-1), math.Inf(1)
	}
	if k == truth {
		lo, hi = max(lo, 0), min(hi, 1)
	}
	return [2]float64{lo, hi}
}

// operationBounds are the bounds of an operation by those of its arguments: every value that
// it can have lies within. For conditions 0 and 0 is false for certain, 1 and 1 true.
func operationBounds(n *node, args [][2]float64) (lo, hi float64) {
	var a, b [2]float64
	if len(args) > 0 {
		a = args[0]
	}
	if len(args) > 1 {
		b = args[1]
	}
	switch n.op {
	case opAdd:
		return a[0] + b[0], a[1] + b[1]
	case opSubtract:
		return a[0] - b[1], a[1] - b[0]
	case opMultiply:
		return extremes(a, b, func(x, y float64) float64 { return x * y })
	case opDivide:
		if b[0] > 0 || b[1] < 0 {
			return extremes(a, b, func(x, y float64) float64 { return x / y })
		}
	case opQuotient:
		if b[0] > 0 || b[1] < 0 {
			return extremes(a, b, func(x, y float64) float64 { return math.Trunc(x / y) })
		}
	case opFloorDiv:
		if b[0] > 0 || b[1] < 0 {
			return extremes(a, b, func(x, y float64) float64 { return math.Floor(x / y) })
		}
	case opRemainder, opFloorMod:
		if a[0] >= 0 && b[0] > 0 {
			if a[1] < b[0] {
				return a[0], a[1]
			}
			return 0, min(a[1], b[1]-1)
		}
	case opNegate:
		return -a[1], -a[0]
	case opMinimum:
		return min(a[0], b[0]), min(a[1], b[1])
	case opMaximum:
		return max(a[0], b[0]), max(a[1], b[1])
	case opAbsolute:
		switch {
		case a[0] >= 0:
			return a[0], a[1]
		case a[1] <= 0:
			return -a[1], -a[0]
		}
		return 0, max(-a[0], a[1])
	case opCeil:
		return math.Ceil(a[0]), math.Ceil(a[1])
	case opFloor:
		return math.Floor(a[0]), math.Floor(a[1])
	case opRound:
		return math.Round(a[0]), math.Round(a[1])
	case opToReal:
		return a[0], a[1]
	case opToWhole:
		return math.Trunc(a[0]), math.Trunc(a[1])
	case opNot:
		return 1 - a[1], 1 - a[0]
	case opAnd:
		return min(a[0], b[0]), min(a[1], b[1])
	case opOr:
		return max(a[0], b[0]), max(a[1], b[1])
	case opLess:
		return certainly(a[1] < b[0], a[0] >= b[1])
	case opLessEqual:
		return certainly(a[1] <= b[0], a[0] > b[1])
	case opEqual:
		return certainly(a[0] == a[1] && a == b, a[1] < b[0] || b[1] < a[0])
	case opIf:
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
func extremes(a, b [2]float64, f func(x, y float64) float64) (lo, hi float64) {
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
