package python

import (
	"math/big"
	"slices"

	"github.com/ndtune/ndtune/internal/nearest"
)

func (t *translator) hint(id string) string {
	var known []string
	for name := range t.names {
		known = append(known, name)
	}
	slices.Sort(known)
	return nearest.Hint(id, known)
}

// display is a list, a tuple or a set: its items.
func (t *translator) display(n *display, b *binding) fragment {
	if len(n.items) > maxUnrolled {
		failf(n.place(), "a list of more than %d items is not allowed here", maxUnrolled)
	}
	f := fragment{kind: listKind}
	constants := &List{Tuple: n.open == "("}
	for _, i := range n.items {
		v := t.translate(i, b)
		f.items = append(f.items, item{value: v})
		if isConstant(v) {
			constants.Items = append(constants.Items, v.constant)
		}
	}
	if len(constants.Items) == len(n.items) {
		f.constant = constants
	}
	return f
}

// comprehension unrolls its loops: there is an item for each round, guarded by conditions
// that depend on parameters.
func (t *translator) comprehension(n *comprehension, b *binding) fragment {
	f := fragment{kind: listKind}
	t.loop(n, n.clauses, b, nil, &f)
	constants := &List{}
	for _, i := range f.items {
		if i.guard != nil || !isConstant(i.value) {
			return f
		}
		constants.Items = append(constants.Items, i.value.constant)
	}
	f.constant = constants
	return f
}

func (t *translator) loop(n *comprehension, clauses []clause, b *binding, guard *fragment, into *fragment) {
	if len(clauses) == 0 {
		if len(into.items) == maxUnrolled {
			failf(n.place(), "the comprehension has more than %d rounds", maxUnrolled)
		}
		into.items = append(into.items, item{guard, t.translate(n.element, b)})
		return
	}
	c := clauses[0]
	iterable := t.translate(c.iterable, b)
	if iterable.kind != listKind {
		failf(c.iterable.place(), "a comprehension over %v is not allowed", iterable.kind)
	}
rounds:
	for _, i := range iterable.items {
		inner := &binding{c.variable, i.value, b}
		here := guarded(guard, i.guard)
		for _, condition := range c.conditions {
			holds := t.condition(condition, inner)
			if v, ok := holds.constant.(bool); ok {
				if !v {
					continue rounds
				}
				continue
			}
			here = guarded(here, &holds)
			t.checked(c.place(), *here)
		}
		t.loop(n, clauses[1:], inner, here, into)
	}
}

func guarded(a, b *fragment) *fragment {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	f := both(*a, *b)
	return &f
}

// rangeBounds are the bounds of a range, of which the step is constant.
func (t *translator) rangeBounds(n *call, b *binding) (start, stop, step fragment) {
	bounds := make([]fragment, len(n.arguments))
	for i, a := range n.arguments {
		if bounds[i] = t.number(a, b); bounds[i].kind != wholeKind {
			failf(a.place(), "range takes integers, not %v", bounds[i].kind)
		}
	}
	start, step = constantFragment(n.place(), newInteger(0)), constantFragment(n.place(), newInteger(1))
	switch len(bounds) {
	case 1:
		stop = bounds[0]
	case 2:
		start, stop = bounds[0], bounds[1]
	default:
		start, stop, step = bounds[0], bounds[1], bounds[2]
	}
	if !isConstant(step) {
		failf(n.place(), "a range whose step depends on parameters is not allowed")
	}
	if step.span.lo.Sign() == 0 {
		failf(n.place(), "the step of a range is not 0")
	}
	return start, stop, step
}

// rangeItems are the items of a range: all that it can have, each guarded by whether it has
// it where that depends on parameters.
func (t *translator) rangeItems(n *call, b *binding) fragment {
	start, stop, step := t.rangeBounds(n, b)
	f := fragment{kind: listKind}
	by := step.span.lo
	within := "<"
	if by.Sign() < 0 {
		within = ">"
	}
	for i := 0; ; i++ {
		offset := new(big.Int).Mul(by, newInteger(i))
		lo, hi := new(big.Int).Add(start.span.lo, offset), new(big.Int).Add(start.span.hi, offset)
		if by.Sign() > 0 && lo.Cmp(stop.span.hi) >= 0 || by.Sign() < 0 && hi.Cmp(stop.span.lo) <= 0 {
			break
		}
		if i == maxUnrolled {
			failf(n.place(), "the range can have more than %d items, too many to be unrolled", maxUnrolled)
		}
		t.parts++
		v := start
		if i > 0 {
			v = t.advanced(n.place(), start, offset)
		}
		round := item{value: v}
		if holds := t.link(link{n.column, within, nil}, v, stop); !isConstant(holds) {
			round.guard = &holds
		}
		f.items = append(f.items, round)
	}
	if isConstant(start) && isConstant(stop) {
		constants := &List{}
		for _, i := range f.items {
			constants.Items = append(constants.Items, i.value.constant)
		}
		f.constant = constants
	}
	return f
}

// advanced is a start with an offset added.
func (t *translator) advanced(column int, start fragment, offset *big.Int) fragment {
	if i, ok := start.constant.(*big.Int); ok {
		return constantFragment(column, new(big.Int).Add(i, offset))
	}
	return t.compute(column, "+", start, constantFragment(column, offset))
}
