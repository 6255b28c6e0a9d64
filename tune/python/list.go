package python

import (
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/expression"
)

// A list is a list or a tuple, of which the items are known, if not their values.
type list struct {
	items []item
	tuple bool
}

// An item is one of a list. With a guard it belongs to the list only where that is true. Lists can
// be long: a constant is held as its value.
type item struct {
	guard *expression.Node
	held  any
}

func newItem(guard *expression.Node, v any) item {
	if n := asNode(v); n != nil && n.Value != nil {
		v = n.Value
	}
	return item{guard, v}
}

// value is the item as the value of a part.
func (i item) value() any {
	if n := expression.Const(i.held); n != nil {
		return n
	}
	return i.held
}

// lowered is the Go value of a name as that of a part: a number, a bool, a text or a slice of them.
func lowered(name string, v any) any {
	if items, ok := v.([]any); ok {
		l := &list{}
		for _, v := range items {
			l.items = append(l.items, newItem(nil, lowered(name, v)))
		}
		return l
	}
	n := expression.Const(v)
	if n == nil {
		failf(0, "%s: %v, a %T, is no value of an expression", name, v, v)
	}
	return n
}

// plain is a constant value as one of Go: a list is a []any.
func plain(v any) any {
	switch v := v.(type) {
	case *list:
		items := make([]any, len(v.items))
		for i, item := range v.items {
			items[i] = plain(item.held)
		}
		return items
	case *expression.Node:
		return v.Value
	}
	return v
}

func isConstant(v any) bool {
	switch v := v.(type) {
	case *list:
		return v.isConstant()
	case *expression.Node:
		return v.Value != nil
	}
	return true
}

func (l *list) isConstant() bool {
	return !slices.ContainsFunc(l.items, func(i item) bool { return i.guard != nil || !isConstant(i.held) })
}

func (l *list) isGuarded() bool {
	return slices.ContainsFunc(l.items, func(i item) bool { return i.guard != nil })
}

// join is whether a condition holds for any item (by Or), or for all (by And).
func (l *list) join(code expression.Code, condition func(any) *expression.Node) *expression.Node {
	decides := code == expression.Or
	result := expression.Const(!decides)
	for _, i := range l.items {
		c := condition(i.value())
		switch {
		case i.guard != nil && decides:
			c = expression.Apply(expression.And, i.guard, c)
		case i.guard != nil:
			c = expression.Apply(expression.Or, expression.Apply(expression.Not, i.guard), c)
		}
		if result = expression.Apply(code, result, c); result.Value == decides {
			break
		}
	}
	return result
}

// integer is the value of a constant integer, True being 1; else nil.
func integer(v any) *int {
	if n := asNumber(v); n != nil {
		if i, ok := n.Value.(int); ok {
			return &i
		}
	}
	return nil
}

// equal reports whether constants are equal: numbers by their value, all else also by type.
func (l *lowering) equal(column int, a, b any) bool {
	x, ok := a.(*list)
	y, also := b.(*list)
	if !ok && !also {
		return l.compare(column, "==", a, b).Value == true
	}
	return ok && also && x.tuple == y.tuple && slices.EqualFunc(x.items, y.items, func(i, j item) bool { return l.equal(column, i.value(), j.value()) })
}

// iterate are the items of a list, or the characters of a constant text. The use says what
// another value cannot do.
func (l *lowering) iterate(column int, v any, use string) *list {
	if v, ok := v.(*list); ok {
		return v
	}
	n := v.(*expression.Node)
	text, ok := n.Value.(string)
	switch {
	case ok:
		l.step(column, len(text))
		characters := &list{}
		for _, c := range text {
			characters.items = append(characters.items, item{nil, string(c)})
		}
		return characters
	case n.Value != nil:
		failf(column, "%v has no items", n.Kind)
	}
	failf(column, use, n.Kind)
	return nil
}

func (l *lowering) boundItems(column, items int) {
	if items > maxItems {
		failf(column, "the list would have %d items, more than %d", items, maxItems)
	}
	l.step(column, items)
}

// joined are two lists as one, or two tuples; nil where it is one of each.
func (l *lowering) joined(column int, a, b *list) *list {
	if a.tuple != b.tuple && l.computes {
		return nil
	}
	l.boundItems(column, len(a.items)+len(b.items))
	return &list{slices.Concat(a.items, b.items), a.tuple}
}

// repeated is a text, a list or a tuple several times.
func (l *lowering) repeated(column int, v any, times int) any {
	times = min(max(times, 0), maxItems+1)
	switch v := v.(type) {
	case *list:
		l.boundItems(column, len(v.items)*times)
		if len(v.items) == 0 {
			return v
		}
		return &list{slices.Repeat(v.items, times), v.tuple}
	case *expression.Node:
		if text, ok := v.Value.(string); ok {
			if size := len(text) * times; size > maxText {
				failf(column, "the text would have %d bytes, more than %d", size, maxText)
			}
			return expression.Const(strings.Repeat(text, times))
		}
	}
	failf(column, "%q does not apply to an integer and %s", "*", describe(v))
	return nil
}

// display is a list, a tuple or a set: its items.
func (l *lowering) display(n *display, b *binding) *list {
	if len(n.items) > maxUnrolled && !l.computes {
		failf(n.place(), "a list of more than %d items is not allowed here", maxUnrolled)
	}
	d := &list{tuple: n.open == "("}
	for _, i := range n.items {
		d.items = append(d.items, newItem(nil, l.lower(i, b)))
	}
	return d
}

// comprehension unrolls its loops: there is an item for each round, guarded by conditions
// that depend on parameters.
func (l *lowering) comprehension(n *comprehension, b *binding) *list {
	made := &list{}
	var loop func(clauses []clause, guard *expression.Node, b *binding)
	loop = func(clauses []clause, guard *expression.Node, b *binding) {
		if len(clauses) == 0 {
			switch {
			case l.computes && len(made.items) == maxItems:
				failf(n.place(), "the comprehension makes more than %d items", maxItems)
			case !l.computes && len(made.items) == maxUnrolled:
				failf(n.place(), "the comprehension has more than %d rounds", maxUnrolled)
			}
			made.items = append(made.items, newItem(guard, l.lower(n.element, b)))
			return
		}
		c := clauses[0]
	rounds:
		for _, i := range l.iterate(c.iterable.place(), l.lower(c.iterable, b), "a comprehension over %v is not allowed").items {
			l.step(c.place(), 1)
			inner := &binding{c.variable, i.value(), b}
			here := both(guard, i.guard)
			for _, condition := range c.conditions {
				holds := l.condition(condition, inner)
				switch holds.Value {
				case true:
				case false:
					continue rounds
				default:
					here = l.bound(c.place(), both(here, holds))
				}
			}
			loop(clauses[1:], here, inner)
		}
	}
	loop(n.clauses, nil, b)
	return made
}

// both is a guard of two, either of which may be nil.
func both(a, b *expression.Node) *expression.Node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return expression.Apply(expression.And, a, b)
}

// rangeBounds are the bounds of a range, of which the step is constant.
func (l *lowering) rangeBounds(n *call, b *binding) (start, stop, step *expression.Node) {
	bounds := make([]*expression.Node, len(n.arguments))
	for i, a := range n.arguments {
		v := l.lower(a, b)
		if bounds[i] = asNumber(v); bounds[i] == nil || bounds[i].Kind != expression.Int {
			failf(a.place(), "range takes integers, not %s", describe(v))
		}
	}
	start, step = expression.Const(0), expression.Const(1)
	switch len(bounds) {
	case 1:
		stop = bounds[0]
	case 2:
		start, stop = bounds[0], bounds[1]
	default:
		start, stop, step = bounds[0], bounds[1], bounds[2]
	}
	switch step.Value {
	case nil:
		failf(n.place(), "a range whose step depends on parameters is not allowed")
	case 0:
		failf(n.place(), "the step of a range is not 0")
	}
	return start, stop, step
}

// rangeItems are the items of a range: all that it can have, each guarded by whether it has
// it where that depends on parameters.
func (l *lowering) rangeItems(n *call, b *binding) *list {
	start, stop, step := l.rangeBounds(n, b)
	by, within := step.Value.(int), "<"
	extent := stop.Bounds[1] - start.Bounds[0]
	if by < 0 {
		within, extent = ">", stop.Bounds[0]-start.Bounds[1]
	}
	count := math.Ceil(extent / float64(by))
	switch exact := start.IsExact() && stop.IsExact(); {
	case l.computes && count > maxItems:
		failf(n.place(), "the range has %.0f items, more than %d", count, maxItems)
	case !l.computes && count > maxUnrolled:
		failf(n.place(), "the range can have more than %d items, too many to be unrolled", maxUnrolled)
	case !exact && (l.computes || count > 0):
		failf(n.place(), "a range of integers beyond 2⁵³ is not allowed")
	}
	r := &list{}
	for i := range int(max(count, 0)) {
		l.step(n.place(), 1)
		if first, ok := start.Value.(int); ok && stop.Value != nil {
			r.items = append(r.items, item{nil, first + i*by})
			continue
		}
		v := start
		if i > 0 {
			v = l.compute(n.place(), "+", start, expression.Const(i*by))
		}
		guard := l.compare(n.place(), within, v, stop)
		if guard.Value != nil {
			guard = nil
		}
		r.items = append(r.items, newItem(guard, v))
	}
	return r
}

func (l *lowering) subscript(n *subscript, b *binding) any {
	of := l.iterate(n.place(), l.lower(n.of, b), "a subscript of %v is not allowed")
	index := l.lower(n.index, b)
	i := integer(index)
	switch {
	case !isConstant(index) || of.isGuarded():
		failf(n.place(), "a subscript that depends on parameters is not allowed")
	case i == nil:
		failf(n.place(), "an index is an integer, not %s", describe(index))
	}
	place := *i
	if place < 0 {
		place += len(of.items)
	}
	if place < 0 || place >= len(of.items) {
		failf(n.place(), "the index %v lies beyond the %d items", index, len(of.items))
	}
	return of.items[place].value()
}
