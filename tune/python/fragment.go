package python

import (
	"math"
	"strconv"
	"strings"
)

// A level is how tightly a fragment of a translation holds together.
type level int

const (
	loose level = iota // a conditional
	orLevel
	andLevel
	compareLevel
	addLevel
	multiplyLevel
	signLevel
	atomLevel
)

// A fragment is the translation of a part of an expression.
type fragment struct {
	source   string
	level    level
	kind     kind
	span     span   // of integers
	zero     bool   // of numbers: whether it can be 0
	constant any    // nil where it is not known
	items    []item // of a list that is not constant
}

// An item is one of a list. With a guard it belongs to the list only where that is true.
type item struct {
	guard *fragment
	value fragment
}

// at is the source of the fragment where something at a level is wanted: in parentheses
// where it holds together less.
func (f fragment) at(l level) string {
	if f.level < l {
		return "(" + f.source + ")"
	}
	return f.source
}

// constantFragment is a value as it is written in the language of package expression.
func constantFragment(column int, v any) fragment {
	f := fragment{level: atomLevel, constant: v, zero: !truth(v)}
	switch v := v.(type) {
	case int:
		f.kind, f.span, f.source = wholeKind, span{float64(v), float64(v)}, strconv.Itoa(v)
		if v == math.MinInt64 {
			f.source, f.level = "-9223372036854775807 - 1", addLevel
		} else if v < 0 {
			f.level = signLevel
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			failf(column, "%v is not a finite number", v)
		}
		f.kind, f.source = realKind, strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(f.source, ".e") {
			f.source += ".0"
		}
		if math.Signbit(v) {
			f.level = signLevel
		}
	case bool:
		f.kind, f.source = truthKind, strconv.FormatBool(v)
	case string:
		f.kind, f.source = textKind, strconv.Quote(v)
	case *list:
		f.kind = listKind
	}
	return f
}

// list are the items of a list.
func (f fragment) list() []item {
	l, ok := f.constant.(*list)
	if !ok {
		return f.items
	}
	items := make([]item, len(l.items))
	for i, v := range l.items {
		items[i].value = constantFragment(0, v)
	}
	return items
}

func isConstant(f fragment) bool { return f.constant != nil }

// number is a fragment as a number: a bool is 1 or 0.
func (f fragment) number() fragment {
	if f.kind != truthKind {
		return f
	}
	if b, ok := f.constant.(bool); ok {
		i, _ := integer(b)
		return constantFragment(0, i)
	}
	return fragment{source: f.at(orLevel) + " ? 1 : 0", level: loose, kind: wholeKind, span: bothTruth, zero: true}
}

// condition is a fragment as a condition.
func (f fragment) condition() fragment {
	switch {
	case f.kind == truthKind:
		return f
	case isConstant(f):
		return constantFragment(0, truth(f.constant))
	case f.kind == listKind:
		return anyOf(f.list(), func(fragment) fragment { return constantFragment(0, true) })
	case f.kind == textKind:
		return truthFragment(f.at(addLevel)+` != ""`, compareLevel)
	}
	return truthFragment(f.at(addLevel)+" != 0", compareLevel)
}

func truthFragment(source string, l level) fragment {
	checkSize(0, source)
	return fragment{source: source, level: l, kind: truthKind, zero: true}
}

// negation is the opposite of a condition.
func (f fragment) negation() fragment {
	if b, ok := f.constant.(bool); ok {
		return constantFragment(0, !b)
	}
	return truthFragment("not ("+f.source+")", signLevel)
}

// both and either are conditions of two.
func both(a, b fragment) fragment {
	if c, ok := a.constant.(bool); ok {
		if c {
			return b
		}
		return a
	}
	if c, ok := b.constant.(bool); ok && c {
		return a
	}
	return truthFragment(a.at(andLevel)+" and "+b.at(andLevel), andLevel)
}

func either(a, b fragment) fragment {
	if c, ok := a.constant.(bool); ok {
		if c {
			return a
		}
		return b
	}
	if c, ok := b.constant.(bool); ok && !c {
		return a
	}
	return truthFragment(a.at(orLevel)+" or "+b.at(orLevel), orLevel)
}

// checkSize refuses a translation that became too large.
func checkSize(column int, source string) {
	if len(source) > maxTranslation {
		failf(column, "the expression becomes too large; its comprehensions or conditions multiply")
	}
}

// anyOf is whether a condition holds for any item of a list.
func anyOf(items []item, condition func(fragment) fragment) fragment {
	result := constantFragment(0, false)
	for _, i := range items {
		c := condition(i.value)
		if i.guard != nil {
			c = both(*i.guard, c)
		}
		result = either(result, c)
	}
	return result
}

// allOf is whether a condition holds for all items of a list.
func allOf(items []item, condition func(fragment) fragment) fragment {
	result := constantFragment(0, true)
	for _, i := range items {
		c := condition(i.value)
		if i.guard != nil {
			c = either(i.guard.negation(), c)
		}
		result = both(result, c)
	}
	return result
}

// called is a call of a function of package expression.
func called(function string, k kind, arguments ...fragment) fragment {
	sources := make([]string, len(arguments))
	for i, a := range arguments {
		sources[i] = a.source
	}
	source := function + "(" + strings.Join(sources, ", ") + ")"
	checkSize(0, source)
	return fragment{source: source, level: atomLevel, kind: k, span: all64, zero: true}
}
