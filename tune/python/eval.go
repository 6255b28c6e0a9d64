package python

import (
	"math/big"
	"strings"
)

// The bounds of an evaluation: the items of one list, the operations and items in all, the
// bits of an integer, and the bytes of a text.
const (
	maxItems = 1_000_000
	maxSteps = 5_000_000
	maxBits  = 4096
	maxText  = 1_000_000
)

// Eval computes the expression. The environment has a value for every name that it reads.
// Errors are of type [*Error].
func (e *Expression) Eval(environment map[string]Value) (v Value, err error) {
	defer catch(e.source, &err)
	return (&evaluator{}).eval(e.root, &scope{names: environment}), nil
}

// A scope has the names that a part of an expression sees: those of the environment, or the
// variable of a comprehension before those of an outer scope.
type scope struct {
	names    map[string]Value
	variable string
	value    Value
	outer    *scope
}

func (s *scope) get(id string) (Value, bool) {
	for ; s.outer != nil; s = s.outer {
		if s.variable == id {
			return s.value, true
		}
	}
	v, ok := s.names[id]
	return v, ok
}

// An evaluator computes, and counts what it does.
type evaluator struct{ steps int }

// step counts work, so that an expression ends in time.
func (e *evaluator) step(column, n int) {
	if e.steps += n; e.steps > maxSteps {
		failf(column, "computing the expression takes more than %d operations", maxSteps)
	}
}

func (e *evaluator) eval(n node, s *scope) Value {
	e.step(n.place(), 1)
	switch n := n.(type) {
	case *literal:
		return n.value
	case *name:
		v, ok := s.get(n.id)
		if !ok {
			failf(n.place(), "nothing is named %s", n.id)
		}
		return v
	case *display:
		if n.open == "{" {
			failf(n.place(), "a set can only stand behind in; write a list")
		}
		return &List{e.each(n.items, s), n.open == "("}
	case *unary:
		return unaryOf(n.place(), n.operator, e.eval(n.operand, s))
	case *binary:
		return e.binaryOf(n.place(), n.operator, e.eval(n.left, s), e.eval(n.right, s))
	case *boolean:
		return e.boolean(n, s)
	case *comparison:
		return e.comparison(n, s)
	case *conditional:
		if truth(e.eval(n.condition, s)) {
			return e.eval(n.then, s)
		}
		return e.eval(n.otherwise, s)
	case *subscript:
		return subscriptOf(n.place(), e.eval(n.of, s), e.eval(n.index, s))
	case *call:
		checkCall(n)
		return e.call(n, e.each(n.arguments, s))
	case *comprehension:
		l := &List{}
		e.loop(n, n.clauses, s, l)
		return l
	}
	failf(n.place(), "this cannot be computed")
	return nil
}

func (e *evaluator) each(nodes []node, s *scope) []Value {
	values := make([]Value, len(nodes))
	for i, n := range nodes {
		values[i] = e.eval(n, s)
	}
	return values
}

// boolean is the operand that decides.
func (e *evaluator) boolean(n *boolean, s *scope) (v Value) {
	for _, operand := range n.operands {
		if v = e.eval(operand, s); truth(v) == (n.operator == "or") {
			return v
		}
	}
	return v
}

func (e *evaluator) comparison(n *comparison, s *scope) Value {
	left := e.eval(n.first, s)
	for _, l := range n.links {
		var right Value
		if set, ok := l.right.(*display); ok && set.open == "{" && strings.HasSuffix(l.operator, "in") {
			right = &List{Items: e.each(set.items, s)}
		} else {
			right = e.eval(l.right, s)
		}
		if list, ok := right.(*List); ok {
			e.step(l.place(), len(list.Items))
		}
		if !compare(l.place(), l.operator, left, right) {
			return false
		}
		left = right
	}
	return true
}

// loop runs the loops of a comprehension and gathers its elements.
func (e *evaluator) loop(n *comprehension, clauses []clause, s *scope, into *List) {
	if len(clauses) == 0 {
		if len(into.Items) == maxItems {
			failf(n.place(), "the comprehension makes more than %d items", maxItems)
		}
		into.Items = append(into.Items, e.eval(n.element, s))
		return
	}
	c := clauses[0]
	for _, v := range iterate(c.iterable.place(), e.eval(c.iterable, s)) {
		inner := &scope{variable: c.variable, value: v, outer: s}
		e.step(c.place(), 1)
		if e.all(c.conditions, inner) {
			e.loop(n, clauses[1:], inner, into)
		}
	}
}

func (e *evaluator) all(conditions []node, s *scope) bool {
	for _, c := range conditions {
		if !truth(e.eval(c, s)) {
			return false
		}
	}
	return true
}

// iterate are the items of a list or the characters of a text.
func iterate(column int, v Value) []Value {
	switch v := v.(type) {
	case *List:
		return v.Items
	case string:
		var items []Value
		for _, c := range v {
			items = append(items, string(c))
		}
		return items
	}
	failf(column, "%s has no items", typeName(v))
	return nil
}

func subscriptOf(column int, of, index Value) Value {
	items := iterate(column, of)
	i, ok := integer(index)
	if !ok {
		failf(column, "an index is an integer, not %s", typeName(index))
	}
	if i.Sign() < 0 {
		i = new(big.Int).Add(i, big.NewInt(int64(len(items))))
	}
	if i.Sign() < 0 || i.Cmp(big.NewInt(int64(len(items)))) >= 0 {
		failf(column, "the index %v lies beyond the %d items", index, len(items))
	}
	return items[i.Int64()]
}
