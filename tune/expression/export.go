package expression

import (
	_ "embed" // the operations in each language
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/ndtune/ndtune/internal/excerpt"
)

// A Language is one in which an exported expression is written.
type Language string

// The languages.
const (
	C      Language = "C" // C99, which is C++ too
	Python Language = "Python"
	Go     Language = "Go"
)

//go:embed runtime/expression.h
var runtimeC string

//go:embed runtime/expression.py
var runtimePython string

//go:embed runtime/expression.go.txt
var runtimeGo string

// Runtime returns the operations that exported expressions and launches call. That of Go has no package clause; its file imports
// cmp, math, math/big and slices.
func Runtime(l Language) string {
	return map[Language]string{C: runtimeC, Python: runtimePython, Go: runtimeGo}[l]
}

// An exported expression is limited, because compilers limit the depth of parentheses.
const (
	maxExportDepth = 80
	maxExportSize  = 100_000 // in the language of specifications
)

const roundedPower = "languages round a power differently, unless the exponent is an integer, a rounded number or a half"

// helpers are the names of operations that no function of the language has.
var helpers = map[Code]string{
	Add: "add", Subtract: "sub", Multiply: "mul", Divide: "divide", Remainder: "mod", Power: "pow", Negate: "neg",
	Equal: "equal", Less: "less", LessEqual: "less_equal",
}

// Export returns the expression in another language, and the kind of its value. It computes the same as [Expression.Eval]
// from variables of the kinds in the scope: an integer is an int64_t, an int of Python or an int64; a float a double, a
// float or a float64; a condition an int (0 or 1), a bool or a bool; a text a const char *, a str or a string.
// The map has the identifiers of the names that the expression reads, such as "n" and "device.local_memory".
//
// The text calls the operations of [Runtime]. One that has no value, such as a division by zero, sets *failed in C,
// where failed is an int * in scope; it raises ValueError in Python, and panics with an ndError in Go.
//
// The error of an expression that cannot be exported names it, the part that is the cause, and the reason.
func (e *Expression) Export(l Language, names map[string]string) (text string, k Kind, err error) {
	x := exporter{language: l, names: names}
	switch n := e.lowered; {
	case n == nil:
		x.refuseTree(e)
	case n.Size() > maxExportSize:
		x.refuse(e.source, fmt.Sprintf("it is longer than %d bytes", maxExportSize))
	default:
		text, k = x.text(n, 0), n.Kind
	}
	if x.err != nil {
		return "", 0, fmt.Errorf("%s cannot be exported to %s: %w", e, l, x.err)
	}
	return text, k, nil
}

// ExportInt is [Expression.Export] of an expression that [Expression.Int] computes: a float must be a whole number.
func (e *Expression) ExportInt(l Language, names map[string]string) (string, error) {
	text, k, err := e.Export(l, names)
	switch {
	case err != nil || k == Int:
		return text, err
	case k != Float:
		return "", fmt.Errorf("%s cannot be exported to %s: it is %s, not a number", e, l, k)
	}
	x := exporter{language: l}
	return x.call("size", true, text), nil
}

// Literal returns a value of a name in another language.
func Literal(l Language, v any) (string, error) {
	x := exporter{language: l}
	if _, ok := KindOf(v); !ok {
		return "", fmt.Errorf("%v, a %T, is no value of an expression", v, v)
	}
	return x.literal(v), x.err
}

// An exporter writes nodes in another language.
type exporter struct {
	language Language
	names    map[string]string
	err      error // the first
}

func (x *exporter) refuse(part, reason string) string {
	if x.err == nil {
		x.err = fmt.Errorf("%s: %s", excerpt.Of(part), reason)
	}
	return ""
}

// refuseTree names the innermost part of an expression that has no nodes.
func (x *exporter) refuseTree(e *Expression) {
	tree, err := parser.ParseWithConfig(e.source, language())
	if err != nil {
		x.refuse(e.source, err.Error()) // it was parsed before
		return
	}
	ast.Walk(&tree.Node, treeVisitor{x, e.used})
	x.refuse(e.source, "only ndtune computes it")
}

// A treeVisitor refuses the first part that has no nodes. Parts are visited before those that hold them.
type treeVisitor struct {
	*exporter
	used Scope
}

func (v treeVisitor) Visit(node *ast.Node) {
	if lower(*node, v.used) != nil {
		return
	}
	reason := "only ndtune computes it"
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if example, ok := v.used[n.Value]; !ok || example != nil {
			return // a part of a call, of a field or of the declaration of a variable
		}
		reason = "its values are of more than one kind"
	case *ast.ArrayNode, *ast.PointerNode:
		return // the operator or the function around it is the part
	case *ast.PredicateNode:
		v.err = nil
		return // the function around it
	case *ast.MemberNode:
		reason = "it is neither a number, nor a condition, nor a text"
	case *ast.VariableDeclaratorNode:
		v.err, reason = nil, "it declares a variable"
	case *ast.BuiltinNode:
		reason = "it computes with a list, or with another kind than numbers"
	case *ast.CallNode:
		reason = "it takes numbers of another kind"
	case *ast.BinaryNode:
		switch n.Operator {
		case "..":
			return
		case "in":
			reason = "the list has items that are not constant and may fail, or are of another kind"
		default:
			reason = "the operator takes other kinds"
		}
	}
	v.refuse((*node).String(), reason)
}

// call is a call of an operation of the runtime.
func (x *exporter) call(operation string, fails bool, args ...string) string {
	name := "nd_" + operation
	switch {
	case x.language == Go:
		words := strings.Split(operation, "_")
		for i, w := range words {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
		name = "nd" + strings.Join(words, "")
	case x.language == C && fails:
		args = append(args, "failed")
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// text is a node in the language: a call, a name, a literal or text in parentheses.
func (x *exporter) text(n *Node, depth int) string {
	if depth > maxExportDepth {
		return x.refuse(n.String(), fmt.Sprintf("it is nested more than %d deep", maxExportDepth))
	}
	switch v := n.constant(); {
	case n.Kind == Number:
		return x.refuse(n.String(), "only the computation tells whether it is an integer or a float")
	case n.Code == Name:
		name := n.Name
		if n.Field != "" {
			name += "." + n.Field
		}
		if id, ok := x.names[name]; ok {
			return id
		}
		return x.refuse(name, "the exported program does not know it")
	case v != nil:
		return x.literal(v)
	}
	takesFloats := definitions[n.Code].takes == floatKind || n.Code == ToFloat || n.Code == Call && len(n.Args) == 1
	args := make([]string, len(n.Args))
	for i, a := range n.Args {
		switch {
		case a.isImplicit() && a.constant() == nil && takesFloats:
			args[i] = x.asReal(a.Args[0], depth+1)
		case a.isImplicit() && a.Args[0].Kind == Number:
			args[i] = x.text(a.Args[0], depth+1) // refuses it
		case a.Kind == Number && takesFloats && n.Kind == Float:
			args[i] = x.asReal(a, depth+1)
		default:
			args[i] = x.text(a, depth+1)
		}
	}
	switch n.Code {
	case ToFloat:
		if n.Args[0].Kind == Number {
			return args[0]
		}
		return x.float(args[0])
	case Not:
		return map[Language]string{C: "(!", Python: "(not ", Go: "(!"}[x.language] + args[0] + ")"
	case And:
		return "(" + args[0] + map[Language]string{C: " && ", Python: " and ", Go: " && "}[x.language] + args[1] + ")"
	case Or:
		return "(" + args[0] + map[Language]string{C: " || ", Python: " or ", Go: " || "}[x.language] + args[1] + ")"
	case If:
		return x.choice(n.Kind, args)
	case Call:
		return x.function(n, args)
	case In:
		args = slices.Insert(args, 1, strconv.Itoa(len(args)-1))
		if n.Args[0].Kind == String {
			return x.call("text_in", false, args...)
		}
		return x.call("in", false, args...)
	case Power:
		if !isWholeOrHalf(n.Args[1]) {
			return x.refuse(n.String(), roundedPower)
		}
	}
	if n.Args[0].Kind == String && n.Code != Equal {
		return x.refuse(n.String(), "texts are only compared for equality")
	}
	name, ok := helpers[n.Code]
	if !ok {
		name = definitions[n.Code].text
	}
	switch {
	case n.Code == ToInt:
	case n.Args[0].Kind == Float:
		name = "real_" + name
	case n.Code == Equal && n.Args[0].Kind == Bool:
		name = "truth_equal"
	case n.Code == Equal && n.Args[0].Kind == String:
		name = "text_equal"
	}
	return x.call(name, definitions[n.Code].checks != nil, args...)
}

// isWholeOrHalf reports whether a number has no fraction for certain, or is a half.
func isWholeOrHalf(n *Node) bool {
	if f, ok := n.constant().(float64); ok {
		return f == math.Trunc(f) || math.Abs(f) == 0.5
	}
	switch n.Code {
	case Ceil, Floor, Round:
		return true
	case ToFloat, Negate:
		return isWholeOrHalf(n.Args[0])
	case If:
		return isWholeOrHalf(n.Args[1]) && isWholeOrHalf(n.Args[2])
	}
	return n.Kind == Int
}

// asReal is a number as a float, also one that is an integer or a float by the computation.
func (x *exporter) asReal(n *Node, depth int) string {
	switch {
	case n.Kind == Number && n.Code == If:
		return x.choice(Float, []string{x.text(n.Args[0], depth+1), x.asReal(n.Args[1], depth+1), x.asReal(n.Args[2], depth+1)})
	case n.Kind == Number && n.Function == "power" && n.Of == [2]Kind{Int, Int}:
		return x.call("power_real", true, x.text(n.Args[0], depth+1), x.text(n.Args[1], depth+1))
	case n.Kind == Int && n.constant() == nil:
		return x.float(x.text(n, depth))
	case n.Kind == Int:
		return x.text(n.float(), depth)
	}
	return x.text(n, depth)
}

// float is an integer as a float.
func (x *exporter) float(whole string) string {
	return map[Language]string{C: "((double)", Python: "(float", Go: "(float64"}[x.language] + "(" + whole + "))"
}

func (x *exporter) choice(k Kind, args []string) string {
	switch x.language {
	case C:
		return fmt.Sprintf("(%s ? %s : %s)", args[0], args[1], args[2])
	case Python:
		return fmt.Sprintf("(%s if %s else %s)", args[1], args[0], args[2])
	}
	result := [...]string{Int: "int64", Float: "float64", Bool: "bool", String: "string"}[k]
	return fmt.Sprintf("func() %s { if %s { return %s }; return %s }()", result, args[0], args[1], args[2])
}

// function is a call of a function of the language.
func (x *exporter) function(n *Node, args []string) string {
	floats := 0
	kinds := make([]string, len(args))
	for i, a := range n.Args {
		kinds[i] = "int"
		if a.Kind == Float {
			floats++
			kinds[i] = "real"
		}
	}
	name := n.Function
	always := name == "sqrt" || name == "log2" // of floats
	switch {
	case floats == 0 && len(args) == 1 && !always:
		return args[0] // rounded
	case floats == 0 && !always:
		return x.call(name, name != "compare" && !strings.HasPrefix(name, "bit_"), args...)
	case name == "compare" && floats == 1:
		return x.call(strings.Join(kinds, "_")+"_compare", true, args...)
	case name == "power" && !isWholeOrHalf(n.Args[1]):
		return x.refuse(n.String(), roundedPower)
	}
	for i, a := range n.Args {
		if a.Kind != Float {
			args[i] = x.float(args[i])
		}
	}
	plain, checked := strings.CutPrefix(name, "checked_") // floats do not overflow
	return x.call("real_"+plain, !checked, args...)
}

// literal is a constant.
func (x *exporter) literal(v any) string {
	switch v := v.(type) {
	case int:
		switch {
		case x.language == Go:
			return fmt.Sprintf("int64(%d)", v)
		case x.language == Python:
			return fmt.Sprintf("(%d)", v)
		case v == math.MinInt64:
			return "INT64_MIN"
		case v < 0:
			return fmt.Sprintf("(-INT64_C(%d))", -v)
		}
		return fmt.Sprintf("INT64_C(%d)", v)
	case float64:
		s, _ := literal(v)
		switch {
		case math.IsInf(v, 0) || math.IsNaN(v):
			return x.refuse(s, "is not a finite number")
		case x.language == Go && v == 0 && math.Signbit(v):
			return "math.Copysign(0, -1)"
		case x.language == Go:
			return "float64(" + s + ")"
		}
		return "(" + s + ")"
	case bool:
		switch {
		case x.language == Go:
			return strconv.FormatBool(v)
		case x.language == Python && v:
			return "True"
		case x.language == Python:
			return "False"
		case v:
			return "1"
		}
		return "0"
	}
	return x.quoted(v.(string))
}

// quoted is a text. Escapes of three octal digits mean the same in C and Go, of eight hexadecimal ones in Python and Go.
func (x *exporter) quoted(s string) string {
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return x.refuse(strconv.Quote(s), "a text in UTF-8 without a zero is wanted")
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r >= ' ' && r <= '~' && (r != '?' || x.language != C): // ?? begins a trigraph of C
			b.WriteRune(r)
		case x.language == C:
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return `"` + b.String() + `"`
}
