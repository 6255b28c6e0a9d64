package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/excerpt"
)

// An interpreter computes a tree part by part. It takes what has no nodes: lists, variables, and values whose kinds only the computation
// tells; and it finds the part that fails. After an error all values are nil.
type interpreter struct {
	environment map[string]any
	variables   map[string]any
	items       [][2]any // with their indices, of the functions of lists around the part
	made        int      // items of all lists so far
	err         *file.Error
}

// interpret computes the expression by its tree.
func (e *Expression) interpret(environment map[string]any) (any, error) {
	i := interpreter{environment: environment}
	v := i.value(e.tree)
	if i.err != nil {
		return nil, readable(e.source, i.err)
	}
	return v, nil
}

// fail keeps the first error.
func (i *interpreter) fail(at ast.Node, format string, args ...any) any {
	if i.err == nil {
		i.err = &file.Error{Location: at.Location(), Message: fmt.Sprintf(format, args...)}
	}
	return nil
}

func (i *interpreter) value(part ast.Node) any {
	switch part := part.(type) {
	case *ast.IntegerNode:
		return part.Value
	case *ast.FloatNode:
		return part.Value
	case *ast.BoolNode:
		return part.Value
	case *ast.StringNode:
		return part.Value
	case *ast.IdentifierNode:
		v, ok := i.variables[part.Value]
		if !ok {
			v = i.environment[part.Value]
		}
		return v
	case *ast.PointerNode:
		item := i.items[len(i.items)-1]
		if part.Name == "index" {
			return item[1]
		}
		return item[0]
	case *ast.PredicateNode:
		return i.value(part.Node)
	case *ast.MemberNode:
		v := i.value(part.Node)
		if record, ok := v.(map[string]any); ok {
			return record[as[string](i, part.Property)]
		}
		list, at := i.list(part, v), as[int](i, part.Property)
		if n := len(list); at < -n || at >= n {
			return i.fail(part, "index out of range: %d (array length is %d)", at, n)
		} else if at < 0 {
			at += n
		}
		return list[at]
	case *ast.UnaryNode:
		switch part.Operator {
		case "-":
			return i.apply(part, Negate, i.value(part.Node))
		case "+":
			return i.value(part.Node)
		}
		return !as[bool](i, part.Node)
	case *ast.BinaryNode:
		return i.binary(part)
	case *ast.ConditionalNode:
		if as[bool](i, part.Cond) {
			return i.value(part.Exp1)
		}
		return i.value(part.Exp2)
	case *ast.ArrayNode:
		return each.Of(part.Nodes, i.value)
	case *ast.VariableDeclaratorNode:
		if i.variables == nil {
			i.variables = map[string]any{}
		}
		i.variables[part.Name] = i.value(part.Value)
		defer delete(i.variables, part.Name)
		return i.value(part.Expr)
	case *ast.BuiltinNode:
		return i.call(part, part.Name, part.Arguments)
	case *ast.CallNode:
		return i.call(part, part.Callee.String(), part.Arguments)
	}
	return i.fail(part, "%s is not in the language of expressions", excerpt.Of(part.String()))
}

// as is the value of a part, which has a type.
func as[T any](i *interpreter, part ast.Node) T {
	v := i.value(part)
	t, ok := v.(T)
	if !ok {
		i.fail(part, "%s is not a %T", describe(v), t)
	}
	return t
}

// list is a value as a list.
func (i *interpreter) list(at ast.Node, v any) []any {
	switch list := v.(type) {
	case []any:
		return list
	case []int:
		return each.Of(list, func(v int) any { return v })
	case []string:
		return each.Of(list, func(v string) any { return v })
	}
	i.fail(at, "%s is not a list", describe(v))
	return nil
}

// apply computes an operation on one or two values.
func (i *interpreter) apply(at ast.Node, code Code, values ...any) any {
	v, err := computeTwo(code, values[0], values[len(values)-1])
	switch name := operators[code].text; {
	case err == nil:
		return v
	case operators[code].infix && len(values) == 2:
		return i.fail(at, "%v %s %v: %v", values[0], name, values[1], err)
	default:
		return i.failed(at, name, values, err)
	}
}

// function calls one of the functions of this package.
func (i *interpreter) function(at ast.Node, name string, values []any) any {
	v, err := functionNamed[name].compute(values)
	if err != nil {
		return i.failed(at, name, values, err)
	}
	return v
}

func (i *interpreter) failed(at ast.Node, name string, values []any, err error) any {
	texts := each.Of(values, func(v any) string { return fmt.Sprint(v) })
	return i.fail(at, "%s(%s): %v", name, strings.Join(texts, ", "), err)
}

func (i *interpreter) binary(part *ast.BinaryNode) any {
	code := infixes[part.Operator]
	switch {
	case code == And:
		return as[bool](i, part.Left) && as[bool](i, part.Right)
	case code == Or:
		return as[bool](i, part.Left) || as[bool](i, part.Right)
	case part.Operator == "..":
		first, last := as[int](i, part.Left), as[int](i, part.Right)
		if last < first || !i.grow(part, uint(last-first)) {
			return []any(nil)
		}
		list := make([]any, last-first+1)
		for k := range list {
			list[k] = first + k
		}
		return list
	}
	a, b := i.value(part.Left), i.value(part.Right)
	switch part.Operator {
	case "in":
		return slices.ContainsFunc(i.list(part, b), func(item any) bool { return i.apply(part, Equal, item, a) == true })
	case ">":
		return i.apply(part, Less, b, a)
	case ">=":
		return i.apply(part, LessEqual, b, a)
	case "!=":
		return i.apply(part, Equal, a, b) == false
	case "%":
		return i.function(part, "%", []any{a, b})
	}
	return i.apply(part, code, a, b)
}

// maxItems bounds the items of all lists that one computation makes.
const maxItems = 1_000_000

// grow reports whether there is room for a list with some items more than one.
func (i *interpreter) grow(at ast.Node, more uint) bool {
	if more >= uint(maxItems-i.made) {
		i.fail(at, "its lists have more than %d items", maxItems)
		return false
	}
	i.made += int(more) + 1
	return true
}

// call computes a function of numbers or of a list.
func (i *interpreter) call(at ast.Node, name string, arguments []ast.Node) any {
	if IsFunction(name) {
		return i.function(at, name, each.Of(arguments, i.value))
	}
	first := i.value(arguments[0])
	code, isOperation := calls[name]
	if _, isScalar := KindOf(first); isScalar && isOperation && code != Minimum && code != Maximum {
		return i.apply(at, code, first)
	} else if isScalar {
		first = []any{first}
	}
	list := i.list(at, first)
	if code == Minimum || code == Maximum {
		list = append(slices.Clip(list), each.Of(arguments[1:], i.value)...)
		if len(list) == 0 {
			return i.fail(at, "the list is empty")
		}
		return i.fold(at, code, list[0], list[1:])
	}
	results := list
	if len(arguments) > 1 {
		if (name == "map" || name == "filter") && len(list) > 0 && !i.grow(at, uint(len(list)-1)) {
			return nil
		}
		results = make([]any, len(list))
		i.items = append(i.items, [2]any{})
		for index, item := range list {
			if i.err != nil {
				break
			}
			i.items[len(i.items)-1] = [2]any{item, index}
			results[index] = i.value(arguments[1])
		}
		i.items = i.items[:len(i.items)-1]
		if i.err != nil {
			return nil
		}
	}
	switch name {
	case "len":
		return len(list)
	case "map":
		return results
	case "sum":
		return i.fold(at, Add, 0, results)
	}
	var kept []any
	for index, holds := range results {
		if _, ok := holds.(bool); !ok {
			return i.fail(at, "%s is not a condition", describe(holds))
		}
		if holds == true {
			kept = append(kept, list[index])
		}
	}
	switch name {
	case "filter":
		return kept
	case "count":
		return len(kept)
	case "all":
		return len(kept) == len(list)
	case "any":
		return len(kept) > 0
	case "none":
		return len(kept) == 0
	}
	return len(kept) == 1 // one
}

// fold computes an operation on a value and a list, one after the other.
func (i *interpreter) fold(at ast.Node, code Code, value any, list []any) any {
	for _, item := range list {
		value = i.apply(at, code, value, item)
	}
	return value
}
