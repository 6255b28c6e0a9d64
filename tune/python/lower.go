package python

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/expression"
)

// A Scope gives a translation its names. The domain of a name decides how it is translated:
// where an integer cannot leave 64 bits, it is computed without a check.
type Scope map[string]expression.Domain

// Condition is the expression as a condition in the language of package expression, for names that
// are as the scope says. A number is true unless it is 0, a text or a list unless it is
// empty. Errors are of type [*Error].
func (e *Expression) Condition(s Scope) (source string, err error) {
	return e.translate(s, (*lowering).condition)
}

// Number is the expression as a number in the language of package expression.
func (e *Expression) Number(s Scope) (source string, err error) {
	return e.translate(s, (*lowering).number)
}

func (e *Expression) translate(s Scope, as func(*lowering, node, *binding) *expression.Node) (source string, err error) {
	defer catch(e.source, &err)
	l := &lowering{names: map[string]any{}}
	for name, domain := range s {
		l.names[name] = expression.NewName(name, domain)
	}
	return l.bound(e.root.place(), as(l, e.root, nil)).String(), nil
}

// Eval computes the expression: an int, a float64, a bool, a string or a []any of them. The
// environment has such a value for every name that the expression reads. Errors are of type
// [*Error].
func (e *Expression) Eval(environment map[string]any) (v any, err error) {
	defer catch(e.source, &err)
	l := &lowering{names: map[string]any{}, computes: true}
	for name, v := range environment {
		l.names[name] = lowered(name, v)
	}
	return plain(l.lower(e.root, nil)), nil
}

// The bounds of a translation: the bytes that it has, so that it stays within the 10000 nodes
// that package expression compiles, the items of a list in it, and the parts that are lowered in
// all, comprehensions being unrolled.
const (
	maxTranslation = 20_000
	maxUnrolled    = 2000
	maxParts       = 200_000
)

// The bounds of a computation: the items of one list, the operations and items in all, and the
// bytes of a text.
const (
	maxItems = 1_000_000
	maxSteps = 5_000_000
	maxText  = 1_000_000
)

// A lowering makes nodes of package expression of the parts of an expression. The value of a part
// is a *expression.Node, or a *list, which is unrolled.
type lowering struct {
	names map[string]any // by name, its value
	steps int

	// To compute an expression, its names are constants, and so are all parts. A part that cannot be
	// computed is an error, and a part that does not matter is not lowered.
	computes bool
}

// A binding is a variable of a comprehension and its value.
type binding struct {
	variable string
	value    any
	outer    *binding
}

// step counts work, so that a lowering ends in time.
func (l *lowering) step(column, n int) {
	switch l.steps += n; {
	case l.computes && l.steps > maxSteps:
		failf(column, "computing the expression takes more than %d operations", maxSteps)
	case !l.computes && l.steps > maxParts:
		failf(column, "the expression becomes too large; its comprehensions multiply")
	}
}

// bound refuses a node that became too large, or that has no value where it must have one.
func (l *lowering) bound(column int, n *expression.Node) *expression.Node {
	if n.Err != nil && (l.computes || errors.Is(n.Err, expression.ErrOverflow) || errors.Is(n.Err, expression.ErrInfinite)) {
		failf(column, "%v", n.Err)
	}
	text, isText := n.Value.(string)
	switch {
	case isText && len(text) > maxText:
		failf(column, "the text would have %d bytes, more than %d", len(text), maxText)
	case isText:
		l.step(column, len(text)/8)
	case !l.computes && n.Size() > maxTranslation:
		failf(column, "the expression becomes too large; its comprehensions or conditions multiply")
	}
	return n
}

// lower is the value of a part.
func (l *lowering) lower(n node, b *binding) any {
	l.step(n.place(), 1)
	v := l.part(n, b)
	if v, ok := v.(*expression.Node); ok {
		l.bound(n.place(), v)
	}
	return v
}

func (l *lowering) part(n node, b *binding) any {
	switch n := n.(type) {
	case *literal:
		return expression.Const(n.known())
	case *name:
		return l.name(n, b)
	case *display:
		if n.open == "{" {
			failf(n.place(), "a set can only stand behind in; write a list")
		}
		return l.display(n, b)
	case *unary:
		return l.unary(n, b)
	case *binary:
		return l.binary(n, b)
	case *boolean:
		return l.boolean(n, b)
	case *comparison:
		return l.comparison(n, b)
	case *conditional:
		condition := l.condition(n.condition, b)
		if l.computes {
			if condition.Value == true {
				return l.lower(n.then, b)
			}
			return l.lower(n.otherwise, b)
		}
		return l.choice(n.place(), condition, l.lower(n.then, b), l.lower(n.otherwise, b))
	case *subscript:
		return l.subscript(n, b)
	case *call:
		return l.call(n, b)
	case *comprehension:
		return l.comprehension(n, b)
	}
	panic(fmt.Sprintf("python: a node of type %T", n))
}

// condition is a part of which only counts whether it is true.
func (l *lowering) condition(n node, b *binding) *expression.Node {
	if n, ok := n.(*boolean); ok {
		code, decides := n.code()
		result := expression.Const(!decides)
		for _, operand := range n.operands {
			if l.computes && result.Value == decides {
				break
			}
			result = l.bound(n.place(), expression.Apply(code, result, l.condition(operand, b)))
		}
		return result
	}
	return asCondition(l.lower(n, b))
}

// number is a part that must be a number.
func (l *lowering) number(n node, b *binding) *expression.Node {
	v := l.lower(n, b)
	x := asNumber(v)
	if x == nil {
		failf(n.place(), "expected a number, found %s", describe(v))
	}
	return x
}

// asNode is a value as a node; nil of a list.
func asNode(v any) *expression.Node {
	n, _ := v.(*expression.Node)
	return n
}

// asCondition is a value as a condition: a list is true unless it is empty.
func asCondition(v any) *expression.Node {
	if v, ok := v.(*list); ok {
		return v.join(expression.Or, func(any) *expression.Node { return expression.Const(true) })
	}
	return asNode(v).Condition()
}

// asNumber is a value as a number: True is 1; nil where it is none.
func asNumber(v any) *expression.Node {
	if n := asNode(v); n != nil {
		return n.AsNumber()
	}
	return nil
}

// describe is the type of a value in a message.
func describe(v any) string {
	switch v := v.(type) {
	case *expression.Node:
		return v.Kind.String()
	case *list:
		if v.tuple && v.isConstant() {
			return "a tuple"
		}
	}
	return "a list"
}

func (l *lowering) name(n *name, b *binding) any {
	for ; b != nil; b = b.outer {
		if b.variable == n.id {
			return b.value
		}
	}
	v, ok := l.names[n.id]
	if !ok {
		failf(n.place(), "nothing is named %s%s", n.id, nearest.Hint(n.id, slices.Sorted(maps.Keys(l.names))))
	}
	return v
}
