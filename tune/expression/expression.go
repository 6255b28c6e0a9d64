package expression

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	syntax "github.com/expr-lang/expr/parser/operator"
	"github.com/expr-lang/expr/types"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/nearest"
)

// An Expression is a compiled expression of a specification. It is immutable and safe for
// concurrent use.
type Expression struct {
	source    string
	names     []string
	tree      ast.Node
	root      *Node             // nil where a part has no node
	reason    error             // why there is no root
	evaluator func() *evaluator // of the root
}

// A Scope gives an expression its names: for each an example of the value that it will
// have, from which the compiler takes the type. A nil example stands for any type, a
// map[string]any for a record whose fields are known.
type Scope map[string]any

// maxNodes bounds the time of the compiler.
const maxNodes = 100_000

// Compile checks and compiles an expression. Every name must be in scope.
func Compile(source string, scope Scope) (*Expression, error) {
	if strings.TrimSpace(source) == "" {
		return nil, errors.New("the expression is empty")
	}
	if text := strings.TrimSpace(source); text == fmt.Sprint(math.MinInt) {
		source = "-9223372036854775807 - 1" // its digits alone are no integer
	} else if isLarge(text) {
		source = strconv.Quote(text)
	}
	if err := refuseComments(source); err != nil {
		return nil, err
	}
	own := *language()
	config := &own
	config.MaxNodes = maxNodes
	tree, err := parser.ParseWithConfig(source, config)
	if err != nil {
		return nil, readable(source, err)
	}
	free, err := namesIn(&tree.Node)
	if err != nil {
		return nil, readable(source, err)
	}
	used := Scope{} // the whole scope can hold thousands of names
	for _, name := range free.names {
		example, ok := scope[name]
		if !ok {
			hint := nearest.Hint(name, append(slices.Sorted(maps.Keys(scope)), "true", "false"))
			return nil, fmt.Errorf("in %q: nothing is named %s%s", excerpt.Around(source, free.columns[name]), name, hint)
		}
		if used[name] = example; isLarge(example) && strings.TrimSpace(source) != name {
			return nil, fmt.Errorf("in %q: %s is %s", excerpt.Around(source, free.columns[name]), name, describe(example))
		}
	}
	for name := range free.local {
		if example, ok := scope[name]; ok {
			used[name] = example // the compiler refuses to declare it again
		}
	}
	config.WithEnv(used.types())
	if _, err := checker.Check(tree, config); err != nil {
		return nil, readable(source, err)
	}
	ast.Walk(&tree.Node, operatorAgain{})
	l := lowerer{names: used}
	e := &Expression{source: source, names: free.names, tree: tree.Node}
	if e.root = l.lower(tree.Node); e.root == nil || e.root.Kind == Number {
		e.root = nil
		e.reason = cmp.Or(l.err, fmt.Errorf("%s: only the computation tells whether it is an integer or a float", e))
	}
	e.evaluator = sync.OnceValue(func() *evaluator { return newEvaluator(e.root) })
	return e, nil
}

// language is that of expr-lang with those of its functions that compute, and with the functions
// of this package. Its tables are only read: a compilation works with a copy of the rest.
var language = sync.OnceValue(func() *conf.Config {
	syntax.Unary["not"] = syntax.Binary["=="] // as in Python, «not a in b» is «not (a in b)»
	config := conf.CreateNew()
	for name := range config.Builtins {
		if !slices.Contains(builtins, name) {
			config.Disabled[name] = true
			delete(config.Builtins, name)
		}
	}
	for _, f := range functions {
		config.Functions[f.name] = &builtin.Function{Name: f.name, Types: []reflect.Type{reflect.TypeOf(f.signature)}}
	}
	return config
})

// types is the scope in the words of expr-lang.
func (s Scope) types() types.Map {
	m := make(types.Map, len(s))
	for name, example := range s {
		switch example := example.(type) {
		case nil:
			m[name] = types.Any
		case map[string]any:
			m[name] = Scope(example).types()
		default:
			m[name] = types.TypeOf(example)
		}
	}
	return m
}

// refuseComments finds what expr-lang would take for a comment outside a string.
func refuseComments(source string) error {
	var quote byte
	for i := 0; i < len(source); i++ {
		c := source[i]
		switch {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '/' && i+1 < len(source) && source[i+1] == '/':
			const hint = "// would begin a comment; write div(a, b) for the integer quotient"
			return inColumn(source, utf8.RuneCountInString(source[:i])+1, hint)
		case c == '/' && i+1 < len(source) && source[i+1] == '*':
			return inColumn(source, utf8.RuneCountInString(source[:i])+1, "comments are not allowed in an expression")
		}
	}
	return nil
}

// A nameCollector gathers the names that an expression reads.
type nameCollector struct {
	names   []string
	columns map[string]int // by name, from 1
	local   map[string]bool
	callees map[string]bool
	err     error
}

func (c *nameCollector) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if n.Value == "$env" {
			c.err = errors.New("$env is not allowed in an expression; name the parameter")
			return
		}
		if !slices.Contains(c.names, n.Value) {
			c.names = append(c.names, n.Value)
			c.columns[n.Value] = n.Location().From + 1
		}
	case *ast.BinaryNode:
		if _, ok := infixes[n.Operator]; !ok && !slices.Contains([]string{"..", "in", ">", ">=", "!=", "%"}, n.Operator) {
			c.refuse(n, n.Operator)
		}
		if n.Operator == "%" {
			ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: "%"}, Arguments: []ast.Node{n.Left, n.Right}})
		}
	case *ast.NilNode, *ast.MapNode, *ast.SliceNode, *ast.ChainNode, *ast.SequenceNode:
		c.refuse(n, excerpt.Of(n.String()))
	case *ast.BuiltinNode:
		if !slices.Contains(builtins, n.Name) {
			c.refuse(n, n.Name)
		}
	case *ast.VariableDeclaratorNode:
		c.local[n.Name] = true
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			if _, known := builtin.Index[callee.Value]; known { // the checker says that it is not enabled
				c.callees[callee.Value] = true
			}
		}
	}
}

// refuse keeps the first error about what expr-lang has and this language has not.
func (c *nameCollector) refuse(part ast.Node, what string) {
	if c.err == nil {
		c.err = &file.Error{Location: part.Location(), Message: what + " is not in the language of expressions"}
	}
}

// namesIn collects the names that an expression reads, in the order of their appearance,
// without the functions it calls and the variables it declares itself. Every % becomes a call of the function of
// that name, which takes floats, too.
func namesIn(root *ast.Node) (*nameCollector, error) {
	c := &nameCollector{columns: map[string]int{}, local: map[string]bool{}, callees: map[string]bool{}}
	ast.Walk(root, c)
	if c.err != nil {
		return nil, c.err
	}
	c.names = slices.DeleteFunc(c.names, func(name string) bool {
		return c.local[name] || c.callees[name] || IsFunction(name)
	})
	return c, nil
}

// operatorAgain makes operators of the calls of %.
type operatorAgain struct{}

func (operatorAgain) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.CallNode); ok && n.Callee.String() == "%" {
		ast.Patch(node, &ast.BinaryNode{Operator: "%", Left: n.Arguments[0], Right: n.Arguments[1]})
	}
}

// readable turns an error of the compiler into one line with its place.
func readable(source string, err error) error {
	if at, is := errors.AsType[*file.Error](err); is {
		at = at.Bind(file.NewSource(source))
		return fmt.Errorf("in %q, column %d: %s", excerpt.Around(source, at.From+1), at.Column+1, at.Message)
	}
	return fmt.Errorf("in %q: %w", excerpt.Of(source), err)
}

func inColumn(source string, column int, message string) error {
	return fmt.Errorf("in %q, column %d: %s", excerpt.Around(source, column), column, message)
}

// String is the expression as it was written, shortened where it is long: it is for messages.
func (e *Expression) String() string { return excerpt.Of(e.source) }

// Names are the names that the expression reads.
func (e *Expression) Names() []string { return e.names }

// Reads reports whether the expression reads any of the names.
func (e *Expression) Reads(names ...string) bool {
	return slices.ContainsFunc(e.names, func(n string) bool { return slices.Contains(names, n) })
}

// Root is the expression as nodes. The error names the innermost part that has no node, and says why.
func (e *Expression) Root() (*Node, error) { return e.root, e.reason }

// Eval computes the expression. The environment holds a value for every name that it
// reads.
func (e *Expression) Eval(environment map[string]any) (any, error) {
	if e.root != nil {
		if v, ok := e.evaluator().eval(environment); ok {
			return v, nil
		}
	}
	return e.interpret(environment)
}

// Int computes the expression as an integer. A float that is a whole number is one.
func (e *Expression) Int(environment map[string]any) (int, error) {
	v, err := e.Eval(environment)
	if err != nil {
		return 0, err
	}
	switch v := v.(type) {
	case int:
		return v, nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int(v), nil
		}
		return 0, fmt.Errorf("%q is %v, not a whole number; use div(a, b), ceil(x) or floor(x)", e, v)
	}
	return 0, fmt.Errorf("%q is %s, not a number", e, describe(v))
}

// Float computes the expression as a number.
func (e *Expression) Float(environment map[string]any) (float64, error) {
	v, err := e.Eval(environment)
	if err != nil {
		return 0, err
	}
	f, err := toFloat(v)
	if err != nil {
		return 0, fmt.Errorf("%q is %s, not a number", e, describe(v))
	}
	return f, nil
}

// Exact computes the expression as a number: as a float64 if that holds it, else as an int, or as the digits of a larger integer.
func (e *Expression) Exact(environment map[string]any) (any, error) {
	v, err := e.Eval(environment)
	if i, ok := v.(int); err != nil || isLarge(v) || ok && (float64(i) >= 1<<63 || int(float64(i)) != i) {
		return v, err
	}
	return e.Float(environment)
}

// Bool computes the expression as a condition. As in C, a number is true unless it is 0.
func (e *Expression) Bool(environment map[string]any) (bool, error) {
	v, err := e.Eval(environment)
	if err != nil {
		return false, err
	}
	if b, ok := v.(bool); ok {
		return b, nil
	}
	f, err := toFloat(v)
	if err != nil {
		return false, fmt.Errorf("%q is %s, not a condition", e, describe(v))
	}
	return f != 0, nil
}

// isLarge reports whether a value is an integer above the largest int, which is a text.
func isLarge(v any) bool {
	text, _ := v.(string)
	u, err := strconv.ParseUint(text, 10, 64)
	return err == nil && u > math.MaxInt
}

func describe(v any) string {
	if isLarge(v) {
		return fmt.Sprintf("%s, beyond the integers that expressions compute with", v)
	}
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("the text %q", excerpt.Of(v))
	case bool:
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("a %T", v)
}
