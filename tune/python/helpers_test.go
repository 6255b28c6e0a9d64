package python

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/expression"
)

// scopes are the names of an environment for a translation and for package expression. What a name
// can be is more than what it is, as with the values of a parameter.
func scopes(t testing.TB, values map[string]any, more map[string][]any) (Scope, expression.Scope) {
	t.Helper()
	mine, its := Scope{}, expression.Scope{}
	for name, v := range values {
		d, err := expression.DomainOf(append([]any{v}, more[name]...))
		if err != nil {
			t.Fatal(err)
		}
		mine[name], its[name] = d, v
		if d.Kind == expression.Number {
			its[name] = nil
		}
	}
	return mine, its
}

// translated is the value of an expression by way of package expression.
func translated(e *Expression, condition bool, mine Scope, its expression.Scope, values map[string]any) (v any, source string, err error) {
	translate := e.Number
	if condition {
		translate = e.Condition
	}
	if source, err = translate(mine); err != nil {
		return nil, "", err
	}
	compiled, err := expression.Compile(source, its)
	if err != nil {
		return nil, source, fmt.Errorf("it does not compile: %w", err)
	}
	if condition {
		v, err = compiled.Bool(values)
	} else {
		v, err = compiled.Eval(values)
	}
	return v, source, err
}

// same reports whether two values of Go are the same, an int and a float not being so.
func same(a, b any) bool {
	x, xFloat := a.(float64)
	y, yFloat := b.(float64)
	if xFloat && yFloat {
		return x == y || math.IsNaN(x) && math.IsNaN(y)
	}
	return reflect.DeepEqual(a, b)
}

// printed is an expression in full parentheses.
func printed(n node) string {
	all := func(nodes []node) string {
		texts := make([]string, len(nodes))
		for i, n := range nodes {
			texts[i] = printed(n)
		}
		return strings.Join(texts, ", ")
	}
	switch n := n.(type) {
	case *literal:
		switch v := n.value.(type) {
		case string:
			return quotedText(v)
		case bool:
			return map[bool]string{true: "True", false: "False"}[v]
		case float64:
			text := strconv.FormatFloat(v, 'g', -1, 64)
			if !strings.ContainsAny(text, ".e") {
				text += ".0"
			}
			return text
		case int:
			if v == math.MinInt {
				return "(- 0x8000000000000000)"
			}
			return fmt.Sprintf("%#x", v)
		case uint64:
			return fmt.Sprintf("%#x", v)
		}
	case *name:
		return n.id
	case *display:
		end := map[string]string{"[": "]", "(": ")", "{": "}"}[n.open]
		text := all(n.items)
		if n.open == "(" && len(n.items) == 1 {
			text += ","
		}
		return n.open + text + end
	case *unary:
		return "(" + n.operator + " " + printed(n.operand) + ")"
	case *binary:
		return "(" + printed(n.left) + " " + n.operator + " " + printed(n.right) + ")"
	case *boolean:
		texts := make([]string, len(n.operands))
		for i, o := range n.operands {
			texts[i] = printed(o)
		}
		return "(" + strings.Join(texts, " "+n.operator+" ") + ")"
	case *comparison:
		text := printed(n.first)
		for _, l := range n.links {
			text += " " + l.operator + " " + printed(l.right)
		}
		return "(" + text + ")"
	case *conditional:
		return "(" + printed(n.then) + " if " + printed(n.condition) + " else " + printed(n.otherwise) + ")"
	case *subscript:
		return printed(n.of) + "[" + printed(n.index) + "]"
	case *call:
		return n.function + "(" + all(n.arguments) + ")"
	case *comprehension:
		text := n.open + printed(n.element)
		for _, c := range n.clauses {
			text += " for " + c.variable + " in " + printed(c.iterable)
			for _, condition := range c.conditions {
				text += " if " + printed(condition)
			}
		}
		return text + map[string]string{"[": "]", "(": ")"}[n.open]
	}
	panic(fmt.Sprintf("a node of type %T", n))
}

func quotedText(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		fmt.Fprintf(&b, `\U%08x`, c)
	}
	return b.String() + `"`
}

// isTrue is a value of Go as a condition of Python.
func isTrue(v any) bool {
	if items, ok := v.([]any); ok {
		return len(items) > 0
	}
	return v != 0 && v != 0.0 && v != "" && v != false
}
