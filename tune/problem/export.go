package problem

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/expression"
)

// A Step is a part of the work of a problem, as an exported program does it: the launch of a kernel, or a list of
// steps. It is a [Stage] with its expressions compiled and the defaults filled in.
type Step struct {
	Kernel    string         // "": Steps
	Arguments []StepArgument // in the order of the kernel
	Steps     []Step

	// The index space of the kernel.
	ProblemSize  []*expression.Expression
	BlockSize    [3]*expression.Expression // nil: 1
	GridDiv      [3][]*expression.Expression
	GlobalOffset []*expression.Expression

	Repeat *expression.Expression // a number or a condition; nil: once
	Index  string                 // the name of the number of the repetition, from 0; "": none
	Swap   [2]string              // the buffers that change places between repetitions; empty: none

	problem *Problem
}

// A StepArgument is an argument of a kernel.
type StepArgument struct {
	Name    string
	Kind    ArgumentKind
	Element Element
	Local   *expression.Expression // the elements of local memory; else nil
	Scalars []StepScalar           // the value of a scalar, or of each member of a struct
	Raw     []byte                 // the value of a scalar byte by byte; nil: Scalars

	alternatives []alternative
}

// A StepScalar is a value that a kernel gets.
type StepScalar struct {
	Path   string                   // of the member of a struct; "": the argument itself
	Type   array.Type               // of the value
	Offset int                      // in bytes
	Lanes  []*expression.Expression // of a value with expressions, else nil
	Value  any                      // a plain value or a list of lanes
}

// Steps returns what a run of the problem launches. A problem that is no pipeline has one step.
func (p *Problem) Steps() []Step { return p.steps(p.stages) }

func (p *Problem) steps(list []stage) []Step {
	var all []Step
	for _, s := range list {
		step := Step{Kernel: s.kernel, Steps: p.steps(s.stages), Repeat: s.repeat, Index: s.index, problem: p}
		if s.swap[0] != s.swap[1] {
			step.Swap = [2]string{p.arguments[s.swap[0]].Name, p.arguments[s.swap[1]].Name}
		}
		if s.shape != nil {
			step.ProblemSize, step.BlockSize, step.GridDiv, step.GlobalOffset = s.shape.problemSize, s.shape.blockSize, s.shape.gridDiv, s.shape.offset
		}
		for _, i := range s.arguments {
			step.Arguments = append(step.Arguments, p.arguments[i].exported())
		}
		all = append(all, step)
	}
	return all
}

func (a *ArgumentInfo) exported() StepArgument {
	given := StepArgument{Name: a.Name, Kind: a.Kind, Element: a.Element, Raw: a.Raw, alternatives: a.Alternatives}
	if a.Kind == LocalArgument {
		given.Local = a.Elements
	}
	for _, v := range a.Scalars {
		given.Scalars = append(given.Scalars, StepScalar{Path: v.at.Path, Type: v.at.Type, Offset: v.at.Offset, Lanes: v.lanes, Value: v.value})
	}
	return given
}

// NDRange returns a function of a language that computes the launch of the step's kernel, with the same sizes as
// [Problem.Launches]. It needs [expression.Runtime]. The parameters of the function are declarations in the language,
// and names maps the names that expressions read to identifiers; constants without one become literals.
//
//	C:      static int NAME(PARAMETERS, nd_range *range), which returns 0, or 1 if it failed
//	Python: def NAME(PARAMETERS), which returns the global size, the local size and the offset, or raises ValueError
//	Go:     func NAME(PARAMETERS) (ndRange, error)
func (s *Step) NDRange(l expression.Language, name string, parameters []string, names map[string]string) (string, error) {
	if s.Kernel == "" {
		return "", fmt.Errorf("%s: the step is a list of steps, which has no NDRange", name)
	}
	w := s.problem.functionWriter(l, names)
	w.function(name, parameters, "nd_range *range", "(r ndRange, err error)", func() {
		sizes := w.ndrange(s)
		w.statement(map[expression.Language]string{
			expression.C:      "return nd_launch(range, " + sizes + ", failed)",
			expression.Python: "return nd_launch(" + sizes + ")",
			expression.Go:     "return ndLaunch(" + sizes + "), nil",
		}[l])
	})
	if w.err != nil {
		return "", fmt.Errorf("the NDRange of %s: %w", s.Kernel, w.err)
	}
	return w.String(), nil
}

// ExportNames returns names for the export of expressions. Constants that have no name there become literals of the language, or
// expressions if they are computed from constants that have one.
func (p *Problem) ExportNames(l expression.Language, names map[string]string) (map[string]string, error) {
	if p == nil { // of a step that belongs to no problem
		return names, nil
	}
	all, variable := maps.Clone(names), map[string]bool{}
	for name := range names {
		variable[name] = true
	}
	for _, c := range p.definition.Constants {
		e := p.computed[c.Name]
		switch {
		case variable[c.Name]:
		case e != nil && slices.ContainsFunc(e.Names(), func(name string) bool { return variable[name] }):
			text, _, err := e.Export(l, all)
			if err != nil {
				return nil, fmt.Errorf("the constant %s: %w", c.Name, err)
			}
			all[c.Name], variable[c.Name] = text, true
		default:
			if text, err := expression.Literal(l, p.constants[c.Name]); err == nil {
				all[c.Name] = text
			}
		}
	}
	return all, nil
}

func (p *Problem) functionWriter(l expression.Language, names map[string]string) functionWriter {
	names, err := p.ExportNames(l, names)
	return functionWriter{language: l, names: names, err: err}
}

// A functionWriter writes a function in a language.
type functionWriter struct {
	strings.Builder
	language expression.Language
	names    map[string]string // of what expressions read
	depth    int
	err      error // the first
}

// declared matches the name that a declaration of C declares.
var declared = regexp.MustCompile(`(\w+)\s*(?:\[\w*\])?\s*$`)

// function writes a function. In C it gets further parameters, in Go it has named results, of which err is one.
func (w *functionWriter) function(name string, parameters []string, furtherC, resultsGo string, body func()) {
	list := strings.Join(parameters, ", ")
	switch w.language {
	case expression.C:
		w.block("static inline int "+name+"("+strings.Join(append(slices.Clone(parameters), furtherC), ", ")+")", func() {
			for _, d := range parameters {
				if m := declared.FindStringSubmatch(d); m != nil {
					w.statement("(void)" + m[1]) // perhaps no expression reads it
				}
			}
			w.statement("int has_failed = 0, *failed = &has_failed")
			body()
		})
	case expression.Python:
		w.block("def "+name+"("+list+")", body)
	case expression.Go:
		w.block("func "+name+"("+list+") "+resultsGo, func() {
			w.statement("defer ndRecover(&err)")
			body()
		})
	}
}

func (w *functionWriter) line(text string) {
	indent := "    "
	if w.language == expression.Go {
		indent = "\t"
	}
	w.WriteString(strings.Repeat(indent, w.depth) + text + "\n")
}

func (w *functionWriter) statement(text string) {
	if w.language == expression.C {
		text += ";"
	}
	w.line(text)
}

// block writes statements after a head. In Python, those without a head are no block.
func (w *functionWriter) block(head string, body func()) {
	switch {
	case w.language != expression.Python:
		w.line(strings.TrimSpace(head + " {"))
		defer w.line("}")
	case head == "":
		body()
		return
	default:
		w.line(head + ":")
	}
	w.depth++
	body()
	w.depth--
}

// when writes statements that depend on a condition.
func (w *functionWriter) when(condition string, body func()) {
	if w.language == expression.C {
		condition = "(" + condition + ")"
	}
	w.block("if "+condition, body)
}

// call is a call of an operation of [expression.Runtime].
func (w *functionWriter) call(operation string, args ...string) string {
	name := "nd_" + operation
	switch w.language {
	case expression.C:
		args = append(args, "failed")
	case expression.Go:
		name = "nd"
		for word := range strings.SplitSeq(operation, "_") {
			name += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// whole is an expression that [expression.Expression.Int] computes.
func (w *functionWriter) whole(e *expression.Expression) string {
	text, err := e.ExportInt(w.language, w.names)
	w.fail(err)
	return text
}

func (w *functionWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// ndrange writes the computation of the sizes of a launch, and returns them as arguments of nd_launch.
func (w *functionWriter) ndrange(s *Step) string {
	w.statement(map[expression.Language]string{
		expression.C:      "double fraction[3] = {1, 1, 1}; int64_t size[3] = {1, 1, 1}, block[3] = {1, 1, 1}, divisor[3] = {1, 1, 1}, offset[3] = {0, 0, 0}",
		expression.Python: "size, block, divisor, fraction, offset = [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [0, 0, 0]",
		expression.Go:     "size, block, divisor, fraction, offset := [3]int64{1, 1, 1}, [3]int64{1, 1, 1}, [3]int64{1, 1, 1}, [3]float64{1, 1, 1}, [3]int64{}",
	}[w.language])
	assign := func(e *expression.Expression, array string, dimension int, product bool) {
		to, value := fmt.Sprintf("%s[%d]", array, dimension), ""
		switch text, kind, _ := e.Export(w.language, w.names); {
		case product && kind == expression.Float: // perhaps no whole number
			fraction := fmt.Sprintf("fraction[%d]", dimension)
			if w.language == expression.C {
				to, value = fraction, w.call("fraction", "&"+to, fraction, text)
			} else {
				to, value = to+", "+fraction, w.call("fraction", to, fraction, text)
			}
		case product:
			value = w.call("divisor", to, w.whole(e))
		default:
			value = w.whole(e)
		}
		assignment := func() { w.statement(to + " = " + value) }
		if s.BlockSize[0] != nil && (dimension > 0 && array == "block" || product && e == s.BlockSize[dimension]) {
			w.when("block[0] != 0", assignment) // else the driver chooses
		} else {
			assignment()
		}
	}
	blocks := 0
	for i, e := range s.BlockSize {
		if e != nil {
			blocks = i + 1
			assign(e, "block", i, false)
		}
	}
	for i, e := range s.ProblemSize {
		assign(e, "size", i, false)
		for _, by := range s.GridDiv[i] {
			assign(by, "divisor", i, true)
		}
	}
	for i, e := range s.GlobalOffset {
		assign(e, "offset", i, false)
	}
	return fmt.Sprintf("%d, %d, size, block, divisor, fraction, offset", len(s.ProblemSize), blocks)
}

// Expressions returns the expressions of a step and of those within it.
func (s *Step) Expressions() []*expression.Expression {
	all := slices.Concat(s.ProblemSize, s.BlockSize[:], s.GridDiv[0], s.GridDiv[1], s.GridDiv[2], s.GlobalOffset, []*expression.Expression{s.Repeat})
	for _, a := range s.Arguments {
		all = append(all, a.Local)
		for _, one := range a.alternatives {
			all = append(all, one.condition)
		}
		for _, v := range a.Scalars {
			all = append(all, v.Lanes...)
		}
	}
	for _, inner := range s.Steps {
		all = append(all, inner.Expressions()...)
	}
	return slices.DeleteFunc(all, func(e *expression.Expression) bool { return e == nil })
}
