package python

import (
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

// add adds an item to a list.
func (f *fragment) add(i item) {
	l, constant := f.constant.(*list)
	if constant && i.guard == nil && isConstant(i.value) {
		l.items = append(l.items, i.value.constant)
		return
	}
	f.items, f.constant = append(f.list(), i), nil
}

// display is a list, a tuple or a set: its items.
func (t *translator) display(n *display, b *binding) fragment {
	if len(n.items) > maxUnrolled && t.values == nil {
		failf(n.place(), "a list of more than %d items is not allowed here", maxUnrolled)
	}
	f := fragment{kind: listKind, constant: &list{tuple: n.open == "("}}
	for _, i := range n.items {
		f.add(item{value: t.translate(i, b)})
	}
	return f
}

// comprehension unrolls its loops: there is an item for each round, guarded by conditions
// that depend on parameters.
func (t *translator) comprehension(n *comprehension, b *binding) fragment {
	f := fragment{kind: listKind, constant: &list{}}
	rounds := 0
	t.loop(n, n.clauses, b, nil, func(guard *fragment, b *binding) {
		rounds++
		switch {
		case t.values != nil && rounds > maxItems:
			failf(n.place(), "the comprehension makes more than %d items", maxItems)
		case t.values == nil && rounds > maxUnrolled:
			failf(n.place(), "the comprehension has more than %d rounds", maxUnrolled)
		}
		f.add(item{guard, t.translate(n.element, b)})
	})
	return f
}

func (t *translator) loop(n *comprehension, clauses []clause, b *binding, guard *fragment, round func(guard *fragment, b *binding)) {
	if len(clauses) == 0 {
		round(guard, b)
		return
	}
	c := clauses[0]
	iterable := t.translate(c.iterable, b)
	each := func(i item) {
		inner := &binding{c.variable, i.value, b}
		here := guarded(guard, i.guard)
		for _, condition := range c.conditions {
			holds := t.condition(condition, inner)
			if v, ok := holds.constant.(bool); ok {
				if !v {
					return
				}
				continue
			}
			here = guarded(here, &holds)
			t.checked(c.place(), *here)
		}
		t.loop(n, clauses[1:], inner, here, round)
	}
	switch {
	case isConstant(iterable) && (t.values != nil || iterable.kind == listKind):
		for _, v := range iterate(c.iterable.place(), iterable.constant) {
			t.step(c.place(), 1)
			each(item{value: constantFragment(c.place(), v)})
		}
	case iterable.kind != listKind:
		failf(c.iterable.place(), "a comprehension over %v is not allowed", iterable.kind)
	default:
		for _, i := range iterable.items {
			each(i)
		}
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
	start, step = constantFragment(n.place(), 0), constantFragment(n.place(), 1)
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
	if step.span.lo == 0 {
		failf(n.place(), "the step of a range is not 0")
	}
	return start, stop, step
}

// rangeItems are the items of a range: all that it can have, each guarded by whether it has
// it where that depends on parameters.
func (t *translator) rangeItems(n *call, b *binding) fragment {
	start, stop, step := t.rangeBounds(n, b)
	by, _ := integer(step.constant)
	f := fragment{kind: listKind, constant: &list{}}
	within := "<"
	if by < 0 {
		within = ">"
	}
	exact := start.span.isExact() && stop.span.isExact()
	for i := 0; ; i++ {
		offset := float64(i) * float64(by)
		if by > 0 && start.span.lo+offset >= stop.span.hi || by < 0 && start.span.hi+offset <= stop.span.lo {
			break
		}
		if i == maxUnrolled || !exact {
			failf(n.place(), "the range can have more than %d items, too many to be unrolled", maxUnrolled)
		}
		t.parts++
		v := start
		if i > 0 {
			v = t.advanced(n.place(), start, i*by)
		}
		round := item{value: v}
		if holds := t.link(link{n.column, within, nil}, v, stop); !isConstant(holds) {
			round.guard = &holds
		}
		f.add(round)
	}
	return f
}

// advanced is a start with an offset added.
func (t *translator) advanced(column int, start fragment, offset int) fragment {
	if i, ok := start.constant.(int); ok {
		return constantFragment(column, i+offset)
	}
	return t.compute(column, "+", start, constantFragment(column, offset))
}
