package export

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune/expression"
)

// A code is an operation of an exported rule, in postfix order: its arguments come before it. The files evaluate.h and
// evaluate.py compute it. Its operand is
//
//   - of int, float, bool and text, the constant,
//   - of name, the number of a name,
//   - of all others, the number of arguments.
type code struct {
	Operation string
	Operand   any
}

// Rules are limited.
const (
	maxStack = 120    // values at once; evaluate.h has some more
	maxCodes = 50_000 // operations of one expression
)

const roundedPower = "languages round a power differently, unless the exponent is an integer, a rounded number or a half"

// A compiler turns an expression into code. After an error, the code has no meaning.
type compiler struct {
	lookup lookup
	codes  []code
	height int // of the stack after the code
	most   int // of the stack
	err    error
}

// A lookup returns the code of a name, such as «n» and «device.local_memory», or the node from which it is computed.
type lookup func(name string) (k code, computed *expression.Node, err error)

// compile returns the code of an expression, and its kind. The error of an expression that cannot be exported names it, the
// part that is the cause, and the reason.
func compile(e *expression.Expression, names lookup) ([]code, expression.Kind, error) {
	c := compiler{lookup: names}
	n, err := e.Root()
	if c.err = err; err == nil {
		c.add(n)
		switch {
		case len(c.codes) > maxCodes:
			c.refuse(e.String(), fmt.Sprintf("it needs more than %d operations", maxCodes))
		case c.most > maxStack:
			c.refuse(e.String(), fmt.Sprintf("it needs more than %d values at once", maxStack))
		}
	}
	if c.err != nil {
		return nil, 0, fmt.Errorf("%s cannot be exported: %w", e, c.err)
	}
	return c.codes, n.Kind, nil
}

func (c *compiler) refuse(part, reason string) {
	if c.err == nil {
		c.err = fmt.Errorf("%s: %s", excerpt.Of(part), reason)
	}
}

// push adds code that puts a value on the stack.
func (c *compiler) push(k code) {
	c.codes = append(c.codes, k)
	c.height++
	c.most = max(c.most, c.height)
}

// operate adds an operation on the topmost values of the stack.
func (c *compiler) operate(operation string, arguments int) {
	c.codes = append(c.codes, code{operation, arguments})
	c.height -= arguments - 1
}

// operations are the names of operations. Those of floats have the prefix float_ before them.
var operations = map[expression.Code]string{
	expression.Add: "add", expression.Subtract: "sub", expression.Multiply: "mul", expression.Divide: "divide",
	expression.Quotient: "div", expression.Remainder: "mod", expression.FloorDiv: "floor_div", expression.FloorMod: "floor_mod",
	expression.Power: "pow", expression.Negate: "neg", expression.Minimum: "min", expression.Maximum: "max",
	expression.Absolute: "abs", expression.Ceil: "ceil", expression.Floor: "floor", expression.Round: "round",
	expression.Equal: "equal", expression.Less: "less", expression.LessEqual: "less_equal",
	expression.Not: "not", expression.And: "and", expression.Or: "or", expression.If: "if", expression.ToInt: "to_int",
}

// add adds a node.
func (c *compiler) add(n *expression.Node) {
	switch {
	case n.Code == expression.Name:
		c.addName(n)
	case n.Code == expression.Let:
		c.refuse(n.String(), "it declares a variable")
	case n.Code == expression.Constant:
		k, err := constantCode(n.Value)
		if err != nil {
			c.refuse(n.String(), err.Error())
		}
		c.push(k)
	case n.Code == expression.In:
		c.addIn(n)
	case n.Code == expression.Call:
		c.addCall(n)
	case n.Code == expression.ToFloat:
		c.addFloat(n.Args[0])
	default:
		c.addOperation(n)
	}
}

// addName adds a name, or a field of a record.
func (c *compiler) addName(n *expression.Node) {
	name := n.Name
	if n.Field != "" {
		name += "." + n.Field
	}
	switch k, computed, err := c.lookup(name); {
	case err != nil:
		c.refuse(name, err.Error())
	case computed != nil:
		c.add(computed)
	default:
		c.push(k)
	}
}

// constantCode returns the code of a value.
func constantCode(v any) (code, error) {
	switch v := v.(type) {
	case int:
		return code{"int", v}, nil
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return code{}, errors.New("is not a finite number")
		}
		return code{"float", v}, nil
	case bool:
		return code{"bool", v}, nil
	case string:
		return code{"text", v}, checkText(v)
	}
	return code{}, fmt.Errorf("a %T is no value of an expression", v)
}

// addIn compares a value with constants, one after the other.
func (c *compiler) addIn(n *expression.Node) {
	equal := "equal"
	if n.Args[0].Kind == expression.String {
		equal = "text_equal"
	}
	for i, item := range n.Args[1:] {
		c.add(n.Args[0])
		c.add(item)
		c.operate(equal, 2)
		if i > 0 {
			c.operate("or", 2)
		}
	}
}

// addFloat adds a number as a float.
func (c *compiler) addFloat(n *expression.Node) {
	i, isInt := n.Value.(int)
	switch {
	case isInt:
		c.push(code{"float", float64(i)})
	case n.Kind == expression.Int:
		c.add(n)
		c.operate("to_float", 1)
	default:
		c.add(n)
	}
}

// addOperation adds an operation and its arguments.
func (c *compiler) addOperation(n *expression.Node) {
	for _, a := range n.Args {
		c.add(a)
	}
	name, of := operations[n.Code], n.Args[0].Kind
	switch {
	case n.Code == expression.Power && !isWholeOrHalf(n.Args[1]):
		c.refuse(n.String(), roundedPower)
	case n.Code == expression.Equal && of == expression.String:
		name = "text_equal"
	case of == expression.Float && n.Code != expression.ToInt:
		name = "float_" + name
	}
	c.operate(name, len(n.Args))
}

// addCall adds a call of a function of the language of specifications.
func (c *compiler) addCall(n *expression.Node) {
	var kinds []string
	floats := 0
	for _, a := range n.Args {
		kind := "int"
		if a.Kind == expression.Float {
			kind = "float"
			floats++
		}
		kinds = append(kinds, kind)
	}
	name := n.Function
	add := c.add
	switch {
	case name == "compare" && floats == 1:
		name = strings.Join(kinds, "_") + "_compare"
	case name == "float power":
		name = "power_float"
	case name == "power" && floats > 0 && !isWholeOrHalf(n.Args[1]):
		c.refuse(n.String(), roundedPower)
		return
	case floats > 0 || name == "sqrt" || name == "log2":
		add = c.addFloat
		name = "float_" + name
	}
	for _, a := range n.Args {
		add(a)
	}
	if floats > 0 || len(n.Args) > 1 || strings.HasPrefix(name, "float_") { // else an integer is rounded, which changes nothing
		c.operate(name, len(n.Args))
	}
}

// isWholeOrHalf reports whether a number has no fraction for certain, or is a half.
func isWholeOrHalf(n *expression.Node) bool {
	if f, ok := n.Value.(float64); ok {
		return f == math.Trunc(f) || math.Abs(f) == 0.5
	}
	switch n.Code {
	case expression.Ceil, expression.Floor, expression.Round:
		return true
	case expression.ToFloat, expression.Negate:
		return isWholeOrHalf(n.Args[0])
	case expression.If:
		return isWholeOrHalf(n.Args[1]) && isWholeOrHalf(n.Args[2])
	}
	return n.Kind == expression.Int
}
