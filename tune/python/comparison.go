package python

import (
	"math"
	"strings"
)

// comparison translates a chain: a < b < c is a < b and b < c.
func (t *translator) comparison(n *comparison, b *binding) fragment {
	result := constantFragment(n.place(), true)
	left := t.translate(n.first, b)
	for _, l := range n.links {
		if t.values != nil && result.constant == false {
			return result
		}
		var right fragment
		if set, ok := l.right.(*display); ok && set.open == "{" && strings.HasSuffix(l.operator, "in") {
			right = t.display(set, b)
		} else if c, ok := l.right.(*call); ok && c.function == "range" && t.values == nil && strings.HasSuffix(l.operator, "in") {
			result = t.checked(l.place(), both(result, t.inRange(l, left, c, b)))
			left = fragment{kind: listKind}
			continue
		} else {
			right = t.translate(l.right, b)
		}
		result = t.checked(l.place(), both(result, t.link(l, left, right)))
		left = right
	}
	return result
}

// link is one comparison of two.
func (t *translator) link(l link, a, b fragment) fragment {
	if isConstant(a) && isConstant(b) {
		return constantFragment(l.place(), compare(l.place(), l.operator, a.constant, b.constant))
	}
	switch l.operator {
	case "in":
		return t.among(l, a, b)
	case "not in":
		return t.among(l, a, b).negation()
	}
	equality := l.operator == "==" || l.operator == "!="
	x, y := a.number(), b.number()
	switch {
	case a.kind == listKind || b.kind == listKind:
		failf(l.place(), "comparing lists is not allowed")
	case a.kind == truthKind && b.kind == truthKind && equality, a.kind == textKind && b.kind == textKind:
		return truthFragment(a.at(addLevel)+" "+l.operator+" "+b.at(addLevel), compareLevel)
	case x.kind == textKind || y.kind == textKind:
		if !equality {
			failf(l.place(), "%q does not apply to %v and %v", l.operator, a.kind, b.kind)
		}
		return constantFragment(l.place(), l.operator == "!=") // of different types, they are never equal
	case x.kind == wholeKind && y.kind == wholeKind, isExact(x) && isExact(y):
		return truthFragment(x.at(addLevel)+" "+l.operator+" "+y.at(addLevel), compareLevel)
	}
	return truthFragment(called("compare", wholeKind, x, y).source+" "+l.operator+" 0", compareLevel)
}

// among is whether a value is one of a list, or a text a part of another.
func (t *translator) among(l link, a, in fragment) fragment {
	switch {
	case in.kind == textKind && a.kind == textKind:
		return truthFragment(in.at(addLevel)+" contains "+a.at(addLevel), compareLevel)
	case in.kind == textKind:
		failf(l.place(), "%v is not looked for in a text", a.kind)
	case in.kind != listKind:
		failf(l.place(), "%v has no items to look among", in.kind)
	case a.kind == listKind:
		failf(l.place(), "a list is not looked for in a list")
	}
	if source, ok := plainList(a, in.list()); ok {
		return truthFragment(a.at(addLevel)+" in "+source, compareLevel)
	}
	same := link{l.column, "==", nil}
	return anyOf(in.list(), func(v fragment) fragment {
		return t.checked(l.place(), t.link(same, a, v))
	})
}

// plainList is a list of constants of the kind of a value, as package expression writes it.
func plainList(a fragment, items []item) (source string, ok bool) {
	if a.kind != wholeKind && a.kind != textKind || len(items) == 0 {
		return "", false
	}
	sources := make([]string, len(items))
	for i, item := range items {
		if item.guard != nil || !isConstant(item.value) || item.value.kind != a.kind {
			return "", false
		}
		sources[i] = item.value.source
	}
	return "[" + strings.Join(sources, ", ") + "]", true
}

// inRange is whether a number is one of a range, which need not be made for that.
func (t *translator) inRange(l link, a fragment, c *call, b *binding) fragment {
	checkCall(c)
	start, stop, step := t.rangeBounds(c, b)
	x := a.number()
	if !x.kind.isNumber() {
		if a.kind == listKind {
			failf(l.place(), "a list is not looked for in a range")
		}
		return constantFragment(l.place(), l.operator == "not in")
	}
	down := step.span.hi < 0
	first, last := "<=", "<"
	if down {
		first, last = ">=", ">"
	}
	at := l.column
	result := both(t.link(link{at, first, nil}, start, x), t.link(link{at, last, nil}, x, stop))
	if math.Abs(step.span.lo) != 1 || x.kind != wholeKind {
		distance := x
		if start.span != (span{}) {
			distance = t.compute(l.place(), "-", x, start)
		}
		rest := t.compute(l.place(), "%", distance, step)
		result = both(result, t.link(link{at, "==", nil}, rest, constantFragment(l.place(), 0)))
	}
	if l.operator == "not in" {
		return result.negation()
	}
	return result
}
