package python

import "slices"

// Condition is the expression as a condition in the language of package expression, for names that
// are as the scope says. A number is true unless it is 0, a text or a list unless it is
// empty. Errors are of type [*Error].
func (e *Expression) Condition(s Scope) (source string, err error) {
	defer catch(e.source, &err)
	t := &translator{names: s}
	f := t.condition(e.root, nil)
	return t.checked(e.root.place(), f).source, nil
}

// Number is the expression as a number in the language of package expression.
func (e *Expression) Number(s Scope) (source string, err error) {
	defer catch(e.source, &err)
	t := &translator{names: s}
	f := t.number(e.root, nil)
	return t.checked(e.root.place(), f).source, nil
}

// The bounds of a translation: the bytes that it has, so that it stays within the 10000 nodes
// that package expression compiles, the items of a list in it, and the parts
// that are translated in all, comprehensions being unrolled.
const (
	maxTranslation = 20_000
	maxUnrolled    = 2000
	maxParts       = 50_000
)

type translator struct {
	names Scope
	parts int

	// To compute the expression, names have values, and all parts are constant. What the result
	// does not depend on is not computed.
	values map[string]any
	steps  int
}

// A binding is a variable of a comprehension and what it stands for.
type binding struct {
	variable string
	value    fragment
	outer    *binding
}

func (b *binding) get(id string) (fragment, bool) {
	for ; b != nil; b = b.outer {
		if b.variable == id {
			return b.value, true
		}
	}
	return fragment{}, false
}

// checked refuses a fragment that became too large.
func (t *translator) checked(column int, f fragment) fragment {
	if t.values == nil {
		checkSize(column, f.source)
	}
	return f
}

func (t *translator) translate(n node, b *binding) fragment {
	if t.values != nil {
		t.step(n.place(), 1)
	} else if t.parts++; t.parts > maxParts {
		failf(n.place(), "the expression becomes too large; its comprehensions multiply")
	}
	f := t.checked(n.place(), t.part(n, b))
	if text, ok := f.constant.(string); ok {
		t.step(n.place(), len(text)/8)
	}
	return f
}

func (t *translator) part(n node, b *binding) fragment {
	switch n := n.(type) {
	case *literal:
		return constantFragment(n.place(), n.known())
	case *name:
		return t.name(n, b)
	case *display:
		if n.open == "{" {
			failf(n.place(), "a set can only stand behind in; write a list")
		}
		return t.display(n, b)
	case *unary:
		return t.unary(n, b)
	case *binary:
		return t.binary(n, b)
	case *boolean:
		return t.boolean(n, b)
	case *comparison:
		return t.comparison(n, b)
	case *conditional:
		if t.values != nil {
			if truth(t.translate(n.condition, b).constant) {
				return t.translate(n.then, b)
			}
			return t.translate(n.otherwise, b)
		}
		return t.choice(n.place(), t.condition(n.condition, b), t.translate(n.then, b), t.translate(n.otherwise, b))
	case *subscript:
		return t.subscript(n, b)
	case *call:
		return t.call(n, b)
	case *comprehension:
		return t.comprehension(n, b)
	}
	failf(n.place(), "this cannot be translated")
	return fragment{}
}

// condition is a part of which only counts whether it is true.
func (t *translator) condition(n node, b *binding) fragment {
	if n, ok := n.(*boolean); ok && t.values == nil {
		join, result := both, constantFragment(n.place(), true)
		if n.operator == "or" {
			join, result = either, constantFragment(n.place(), false)
		}
		for _, operand := range n.operands {
			result = t.checked(n.place(), join(result, t.condition(operand, b)))
		}
		return result
	}
	return t.translate(n, b).condition()
}

// number is a part that must be a number.
func (t *translator) number(n node, b *binding) fragment {
	f := t.translate(n, b).number()
	if !f.kind.isNumber() {
		failf(n.place(), "expected a number, found %v", f.kind)
	}
	return f
}

func (t *translator) name(n *name, b *binding) fragment {
	if f, ok := b.get(n.id); ok {
		return f
	}
	if v, ok := t.values[n.id]; ok {
		return constantFragment(n.place(), v)
	}
	d, ok := t.names[n.id]
	if !ok {
		failf(n.place(), "nothing is named %s%s", n.id, t.hint(n.id))
	}
	return fragment{source: n.id, level: atomLevel, kind: d.kind, span: d.span, zero: d.zero}
}

func (t *translator) unary(n *unary, b *binding) fragment {
	if n.operator == "not" {
		return t.condition(n.operand, b).negation()
	}
	f := t.translate(n.operand, b)
	if isConstant(f) {
		return constantFragment(n.place(), unaryOf(n.place(), n.operator, f.constant))
	}
	f = f.number()
	if !f.kind.isNumber() || n.operator == "~" && f.kind == realKind {
		failf(n.place(), "%q does not apply to %v", n.operator, f.kind)
	}
	switch n.operator {
	case "+":
		return f
	case "~":
		return t.compute(n.place(), "^", f, constantFragment(n.place(), -1))
	}
	return t.negative(n.place(), f)
}

func (t *translator) negative(column int, f fragment) fragment {
	if f.kind == realKind {
		return fragment{source: "-" + f.at(atomLevel), level: signLevel, kind: realKind, zero: f.zero}
	}
	r := t.compute(column, "-", constantFragment(column, 0), f)
	if f.kind == wholeKind && r.level != atomLevel { // it cannot leave 64 bits
		r.source, r.level = "-"+f.at(atomLevel), signLevel
	}
	return r
}

// boolean as a value is the operand that decides.
func (t *translator) boolean(n *boolean, b *binding) fragment {
	result := t.translate(n.operands[0], b)
	for _, operand := range n.operands[1:] {
		if t.values != nil {
			if truth(result.constant) == (n.operator == "or") {
				return result
			}
			result = t.translate(operand, b)
			continue
		}
		right := t.translate(operand, b)
		switch {
		case result.kind == truthKind && right.kind == truthKind && n.operator == "and":
			result = both(result, right)
		case result.kind == truthKind && right.kind == truthKind:
			result = either(result, right)
		case n.operator == "and":
			result = t.choice(n.place(), result.condition(), right, result)
		default:
			result = t.choice(n.place(), result.condition(), result, right)
		}
		t.checked(n.place(), result)
	}
	return result
}

// choice is one of two values by a condition.
func (t *translator) choice(column int, condition, then, otherwise fragment) fragment {
	if c, ok := condition.constant.(bool); ok {
		if c {
			return then
		}
		return otherwise
	}
	if then.kind != otherwise.kind {
		then, otherwise = then.number(), otherwise.number()
	}
	f := fragment{level: loose, kind: then.kind, zero: then.zero || otherwise.zero}
	switch {
	case then.kind == listKind || otherwise.kind == listKind:
		failf(column, "a list that depends on a condition is not allowed")
	case then.kind.isNumber() && otherwise.kind.isNumber() && then.kind != otherwise.kind:
		f.kind = numberKind
	case then.kind != otherwise.kind:
		failf(column, "%v or %v, by a condition, is not allowed", then.kind, otherwise.kind)
	case then.kind == wholeKind:
		f.span = then.span.union(otherwise.span)
	}
	f.source = condition.at(orLevel) + " ? " + then.at(orLevel) + " : " + otherwise.at(orLevel)
	return f
}

func (t *translator) subscript(n *subscript, b *binding) fragment {
	of, index := t.translate(n.of, b), t.translate(n.index, b)
	if isConstant(of) && isConstant(index) {
		return constantFragment(n.place(), subscriptOf(n.place(), of.constant, index.constant))
	}
	if of.kind != listKind {
		failf(n.place(), "a subscript of %v is not allowed", of.kind)
	}
	if !isConstant(index) || slices.ContainsFunc(of.list(), func(i item) bool { return i.guard != nil }) {
		failf(n.place(), "a subscript that depends on parameters is not allowed")
	}
	places := &list{}
	for place := range of.list() {
		places.items = append(places.items, place)
	}
	return of.list()[subscriptOf(n.place(), places, index.constant).(int)].value
}
