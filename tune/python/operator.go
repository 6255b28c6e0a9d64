package python

import (
	"strings"

	"github.com/ndtune/ndtune/tune/expression"
)

// An arithmetic is an operator of numbers: the function that computes it as Python does, and the
// operation that does the same for some numbers; else zero.
type arithmetic struct {
	function string
	code     expression.Code
}

var arithmetics = map[string]arithmetic{
	"+": {"checked_add", expression.Add}, "-": {"checked_sub", expression.Subtract}, "*": {"checked_mul", expression.Multiply},
	"/": {"true_div", expression.Divide}, "//": {"floor_div", expression.Quotient}, "%": {"floor_mod", expression.Remainder},
	"**": {"power", 0}, "&": {"bit_and", 0}, "|": {"bit_or", 0}, "^": {"bit_xor", 0}, "<<": {"shift_left", 0}, ">>": {"shift_right", 0},
}

// compute is an operator of two numbers: the operation where it does the same for all values that
// the numbers can have, else the function.
func (l *lowering) compute(column int, operator string, a, b *expression.Node) *expression.Node {
	of := arithmetics[operator]
	whole := a.Kind == expression.Int && b.Kind == expression.Int
	native := false
	switch {
	case a.Value != nil && b.Value != nil:
	case operator == "/":
		native = !b.CanBeZero() && a.IsExact() && b.IsExact()
	case operator == "//" || operator == "%":
		native = whole && a.Bounds[0] >= 0 && b.Bounds[0] >= 0 && b.Bounds[1] > 0
	case whole && of.code != 0:
		lo, hi := (&expression.Operation{Code: of.code}).Extent([]expression.Bounds{a.Bounds, b.Bounds})
		native = expression.Bounds{lo, hi}.Fit64()
	default:
		native = of.code != 0 && (a.Kind == expression.Float || b.Kind == expression.Float)
	}
	if native {
		return expression.Apply(of.code, a, b)
	}
	n := expression.CallOf(of.function, a, b)
	if n == nil {
		failf(column, "%q does not apply to %v and %v", operator, a.Kind, b.Kind)
	}
	return l.bound(column, n)
}

func (l *lowering) unary(n *unary, b *binding) any {
	if n.operator == "not" {
		return expression.Apply(expression.Not, l.condition(n.operand, b))
	}
	v := l.lower(n.operand, b)
	x := asNumber(v)
	if x == nil || n.operator == "~" && x.Kind == expression.Float {
		failf(n.place(), "%q does not apply to %s", n.operator, describe(v))
	}
	switch n.operator {
	case "~":
		return l.compute(n.place(), "^", x, expression.Const(-1))
	case "-":
		return l.negative(n.place(), x)
	}
	return x
}

func (l *lowering) negative(column int, x *expression.Node) *expression.Node {
	if x.Kind == expression.Float || x.Kind == expression.Int && x.Value == nil && (expression.Bounds{-x.Bounds[1], -x.Bounds[0]}).Fit64() {
		return expression.Apply(expression.Negate, x)
	}
	return l.compute(column, "-", expression.Const(0), x)
}

func (l *lowering) binary(n *binary, b *binding) any {
	left, right := l.lower(n.left, b), l.lower(n.right, b)
	p, q := asNode(left), asNode(right)
	if p != nil && q != nil && p.Kind == q.Kind {
		switch {
		case p.Kind == expression.Bool && n.operator == "&":
			return expression.Apply(expression.And, p, q)
		case p.Kind == expression.Bool && n.operator == "|":
			return expression.Apply(expression.Or, p, q)
		case p.Kind == expression.Bool && n.operator == "^":
			return expression.Compare("!=", p, q)
		case p.Kind == expression.String && n.operator == "+":
			return expression.Apply(expression.Add, p, q)
		}
	}
	x, y := asNumber(left), asNumber(right)
	switch {
	case x != nil && y != nil:
		return l.compute(n.place(), n.operator, x, y)
	case n.operator == "+" && p == nil && q == nil:
		if v := l.joined(n.place(), left.(*list), right.(*list)); v != nil {
			return v
		}
	case n.operator == "*" && integer(left) != nil:
		return l.repeated(n.place(), right, *integer(left))
	case n.operator == "*" && integer(right) != nil:
		return l.repeated(n.place(), left, *integer(right))
	case n.operator == "%" && p != nil && p.Kind == expression.String:
		failf(n.place(), "formatting a text with %% is not allowed")
	}
	failf(n.place(), "%q does not apply to %s and %s", n.operator, describe(left), describe(right))
	return nil
}

// boolean as a value is the operand that decides.
func (l *lowering) boolean(n *boolean, b *binding) any {
	code, decides := n.code()
	result := l.lower(n.operands[0], b)
	for _, operand := range n.operands[1:] {
		condition := asCondition(result)
		if l.computes && condition.Value == decides {
			return result
		}
		right := l.lower(operand, b)
		if x, y := asNode(result), asNode(right); x != nil && y != nil {
			if joined := expression.Apply(code, x, y); joined != nil {
				result = l.bound(n.place(), joined)
				continue
			}
		}
		if then, otherwise := right, result; decides {
			result = l.choice(n.place(), condition, otherwise, then)
		} else {
			result = l.choice(n.place(), condition, then, otherwise)
		}
	}
	return result
}

// code is the operation, and the condition of an operand that decides.
func (n *boolean) code() (c expression.Code, decides bool) {
	if n.operator == "or" {
		return expression.Or, true
	}
	return expression.And, false
}

// choice is one of two values by a condition.
func (l *lowering) choice(column int, condition *expression.Node, then, otherwise any) any {
	switch condition.Value {
	case true:
		return then
	case false:
		return otherwise
	}
	a, b := asNode(then), asNode(otherwise)
	if a == nil || b == nil {
		failf(column, "a list that depends on a condition is not allowed")
	}
	if a.Kind != b.Kind && a.AsNumber() != nil && b.AsNumber() != nil {
		a, b = a.AsNumber(), b.AsNumber()
	}
	n := expression.Apply(expression.If, condition, a, b)
	if n == nil {
		failf(column, "%v or %v, by a condition, is not allowed", a.Kind, b.Kind)
	}
	return l.bound(column, n)
}

// unfolded is a number that a translation does not compute with, though it is constant. The digest
// of a problem covers the text of a translation, and some texts have never had results of constants.
func (l *lowering) unfolded(n *expression.Node) *expression.Node {
	if l.computes || n.Value == nil {
		return n
	}
	return expression.NewName(n.String(), expression.Domain{Kind: n.Kind, Bounds: n.Bounds})
}

// comparison lowers a chain: a < b < c is a < b and b < c.
func (l *lowering) comparison(n *comparison, b *binding) any {
	result := expression.Const(true)
	left := l.lower(n.first, b)
	for _, link := range n.links {
		if l.computes && result.Value == false {
			return result
		}
		var holds *expression.Node
		operator, negated := strings.CutPrefix(link.operator, "not ")
		c, isCall := link.right.(*call)
		set, isDisplay := link.right.(*display)
		switch {
		case operator == "in" && isCall && c.function == "range":
			holds, left = l.inRange(link.column, left, c, b), &list{}
		case operator == "in" && isDisplay:
			right := l.display(set, b)
			holds, left = l.among(link.place(), left, right), right
		default:
			right := l.lower(link.right, b)
			holds, left = l.compare(link.place(), operator, left, right), right
		}
		if negated {
			holds = expression.Apply(expression.Not, holds)
		}
		result = l.bound(link.place(), expression.Apply(expression.And, result, holds))
	}
	return result
}

// compare is one comparison of two values.
func (l *lowering) compare(column int, operator string, left, right any) *expression.Node {
	if operator == "in" {
		return l.among(column, left, right)
	}
	equality := operator == "==" || operator == "!="
	a, b := asNode(left), asNode(right)
	if a == nil || b == nil {
		if !isConstant(left) || !isConstant(right) {
			failf(column, "comparing lists is not allowed")
		}
		if !equality {
			failf(column, "%q does not apply to %s and %s", operator, describe(left), describe(right))
		}
		return expression.Const(l.equal(column, left, right) == (operator == "=="))
	}
	x, y := a.AsNumber(), b.AsNumber()
	switch {
	case a.Kind == b.Kind && (a.Kind == expression.String || a.Kind == expression.Bool && equality):
		return expression.Compare(operator, a, b)
	case x == nil || y == nil:
		if !equality {
			failf(column, "%q does not apply to %v and %v", operator, a.Kind, b.Kind)
		}
		return expression.Const(operator == "!=") // of different types, they are never equal
	case x.Kind == expression.Int && y.Kind == expression.Int, x.IsExact() && y.IsExact():
		return expression.Compare(operator, x, y)
	}
	return expression.Compare(operator, expression.CallOf("compare", x, y), expression.Const(0))
}

// among is whether a value is one of a list, or a text a part of another.
func (l *lowering) among(column int, left, right any) *expression.Node {
	a := asNode(left)
	in, isList := right.(*list)
	switch text := asNode(right); {
	case isList && a == nil && !(isConstant(left) && in.isConstant()):
		failf(column, "a list is not looked for in a list")
	case isList:
	case text.Kind != expression.String:
		failf(column, "%v has no items to look among", text.Kind)
	case a == nil || a.Kind != expression.String:
		failf(column, "%s is not looked for in a text", describe(left))
	default:
		return expression.Apply(expression.Contains, text, a)
	}
	if a != nil && a.Value == nil && len(in.items) > 0 && in.isConstant() {
		nodes := []*expression.Node{a}
		for _, i := range in.items {
			nodes = append(nodes, asNode(i.value()))
		}
		if n := expression.Apply(expression.In, nodes...); n != nil {
			return n
		}
	}
	return in.join(expression.Or, func(v any) *expression.Node { return l.compare(column, "==", left, v) })
}

// inRange is whether a number is one of a range, which need not be made for that.
func (l *lowering) inRange(at column, left any, c *call, b *binding) *expression.Node {
	checkCall(c)
	start, stop, step := l.rangeBounds(c, b)
	x := asNumber(left)
	if x == nil {
		if _, isList := left.(*list); isList {
			failf(at.place(), "a list is not looked for in a range")
		}
		return expression.Const(false)
	}
	by := step.Value.(int)
	first, last := "<=", "<"
	if by < 0 {
		first, last = ">=", ">"
	}
	result := expression.Apply(expression.And, l.compare(at.place(), first, start, x), l.compare(at.place(), last, x, stop))
	if by == 1 || by == -1 {
		if x.Kind == expression.Int {
			return result
		}
	}
	x = l.unfolded(x)
	if start.Value != 0 {
		x = l.compute(at.place(), "-", x, start)
	}
	rest := l.compute(at.place(), "%", x, step)
	return expression.Apply(expression.And, result, l.compare(at.place(), "==", rest, expression.Const(0)))
}
