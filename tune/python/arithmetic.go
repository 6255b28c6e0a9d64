package python

import (
	"errors"
	"slices"

	"github.com/ndtune/ndtune/tune/expression"
)

// binary translates an operator that computes.
func (t *translator) binary(n *binary, b *binding) fragment {
	left, right := t.translate(n.left, b), t.translate(n.right, b)
	if isConstant(left) && isConstant(right) {
		if f, ok := t.folded(n, left.constant, right.constant); ok {
			return f
		}
	}
	if left.kind == truthKind && right.kind == truthKind {
		switch n.operator {
		case "&":
			return both(left, right)
		case "|":
			return either(left, right)
		case "^":
			return truthFragment(left.at(addLevel)+" != "+right.at(addLevel), compareLevel)
		}
	}
	if left.kind == listKind && right.kind == listKind && n.operator == "+" {
		items := slices.Concat(left.list(), right.list())
		if len(items) > maxUnrolled {
			failf(n.place(), "a list of more than %d items is not allowed here", maxUnrolled)
		}
		return fragment{kind: listKind, items: items}
	}
	if left.kind == textKind && right.kind == textKind && n.operator == "+" {
		return fragment{source: left.at(addLevel) + " + " + right.at(multiplyLevel), level: addLevel, kind: textKind, zero: true}
	}
	x, y := left.number(), right.number()
	if !x.kind.isNumber() || !y.kind.isNumber() {
		failf(n.place(), "%q does not apply to %v and %v", n.operator, left.kind, right.kind)
	}
	return t.compute(n.place(), n.operator, x, y)
}

// folded computes an operator of two constants. Where that fails, so does the expression, but
// only when it comes to it.
func (t *translator) folded(n *binary, a, b any) (fragment, bool) {
	v, ok := t.attempt(func() any { return t.binaryOf(n.place(), n.operator, a, b) })
	if !ok {
		return fragment{}, false
	}
	return constantFragment(n.place(), v), true
}

// attempt computes a value; not ok where that fails. An integer beyond 64 bits is an error at
// once.
func (t *translator) attempt(compute func() any) (v any, ok bool) {
	if t.values != nil {
		return compute(), true
	}
	defer func() {
		if r := recover(); r != nil {
			if f, is := r.(failure); !is || errors.Is(f.cause, expression.ErrOverflow) {
				panic(r)
			}
			v, ok = nil, false
		}
	}()
	return compute(), true
}

// compute is an operator of two numbers: an operator of package expression where that does the same
// for all values that the numbers can have, else a function.
func (t *translator) compute(column int, operator string, a, b fragment) fragment {
	whole := a.kind == wholeKind && b.kind == wholeKind
	floats := a.kind == realKind || b.kind == realKind
	checked := called(operatorFunctions[operator], numberKind, a, b)
	switch {
	case whole:
		checked.kind = wholeKind
	case floats:
		checked.kind = realKind
	}
	switch operator {
	case "+", "-", "*":
		if floats {
			return native(operator, realKind, a, b)
		}
		if whole {
			s := spanOf(operator, a.span, b.span)
			checked.span = s.in64()
			if s.fits64() {
				f := native(operator, wholeKind, a, b)
				f.span, f.zero = s, s.hasZero()
				return f
			}
		}
	case "/":
		checked.kind = realKind
		if !canBeZero(b) && isExact(a) && isExact(b) {
			return native("/", realKind, a, b)
		}
	case "//", "%":
		if whole {
			s := spanOf(operator, a.span, b.span).in64()
			checked.span, checked.zero = s, s.hasZero()
			if a.span.lo >= 0 && b.span.lo >= 0 && b.span.hi > 0 {
				return towardsZero(operator, a, b, checked)
			}
		}
	case "**":
		if whole && b.span.lo < 0 {
			checked.kind = numberKind
		}
		checked.span = spanOf(operator, a.span64(), b.span64())
	default:
		if floats {
			failf(column, "%q does not apply to %v and %v", operator, a.kind, b.kind)
		}
		checked.kind = wholeKind
		checked.span = spanOf(operator, a.span64(), b.span64()).in64()
	}
	return checked
}

func (f fragment) span64() span {
	if f.kind == wholeKind {
		return f.span
	}
	return all64
}

// canBeZero reports whether a number can be 0.
func canBeZero(f fragment) bool {
	if f.kind == wholeKind && !f.span.hasZero() {
		return false
	}
	return f.zero
}

// isExact reports whether a number is a float, or an integer that a float holds.
func isExact(f fragment) bool {
	return f.kind == realKind || f.kind == wholeKind && f.span.isExact()
}

// native is an operator of package expression, which associates to the left.
func native(operator string, k kind, a, b fragment) fragment {
	l := addLevel
	if operator != "+" && operator != "-" {
		l = multiplyLevel
	}
	return fragment{source: a.at(l) + " " + operator + " " + b.at(l+1), level: l, kind: k, zero: true}
}

// towardsZero is the quotient or the remainder of integers that are not negative, for which
// rounding down is rounding towards zero.
func towardsZero(operator string, a, b, like fragment) fragment {
	f := called("div", wholeKind, a, b)
	if operator == "%" {
		f = native("%", wholeKind, a, b)
	}
	f.span, f.zero = like.span, like.zero
	return f
}
