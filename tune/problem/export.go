package problem

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

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

	constants map[string]any
}

// A StepArgument is an argument of a kernel.
type StepArgument struct {
	Name    string
	Kind    ArgumentKind
	Element Element
	Local   *expression.Expression // the elements of local memory; else nil
	Scalars []StepScalar           // the value of a scalar, or of each member of a struct
	Raw     []byte                 // the value of a scalar byte by byte; nil: Scalars
}

// A StepScalar is a value that a kernel gets.
type StepScalar struct {
	Path   string                   // of the member of a struct; "": the argument itself
	Offset int                      // in bytes
	Lanes  []*expression.Expression // of a value with expressions, else nil
	Value  any                      // a plain value or a list of lanes
}

// Steps returns what a run of the problem launches. A problem that is no pipeline has one step.
func (p *Problem) Steps() []Step { return p.steps(p.stages) }

func (p *Problem) steps(list []stage) []Step {
	var all []Step
	for _, s := range list {
		step := Step{Kernel: s.kernel, Steps: p.steps(s.stages), Repeat: s.repeat, Index: s.index, constants: p.constants}
		if s.swap[0] != s.swap[1] {
			step.Swap = [2]string{p.arguments[s.swap[0]].Name, p.arguments[s.swap[1]].Name}
		}
		if s.shape != nil {
			step.ProblemSize, step.BlockSize, step.GridDiv, step.GlobalOffset = s.shape.problemSize, s.shape.blockSize, s.shape.gridDiv, s.shape.offset
		}
		for _, i := range s.arguments {
			a := &p.arguments[i]
			given := StepArgument{Name: a.Name, Kind: a.kind, Element: a.element, Raw: a.raw}
			if a.kind == LocalArgument {
				given.Local = a.size
			}
			for _, v := range a.scalars {
				given.Scalars = append(given.Scalars, StepScalar{Path: v.at.Path, Offset: v.at.Offset, Lanes: v.lanes, Value: v.value})
			}
			step.Arguments = append(step.Arguments, given)
		}
		all = append(all, step)
	}
	return all
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
	w := rangeWriter{language: l, names: s.WithConstants(l, names)}
	w.begin(name, parameters)
	blocks := 0
	for i, e := range s.BlockSize {
		if e != nil {
			blocks = i + 1
			w.assign(e, i > 0 && s.BlockSize[0] != nil, fmt.Sprintf("block[%d]", i), "%s")
		}
	}
	for i, e := range s.ProblemSize {
		w.assign(e, false, fmt.Sprintf("size[%d]", i), "%s")
		for _, by := range s.GridDiv[i] {
			divisor := fmt.Sprintf("divisor[%d]", i)
			w.assign(by, by == s.BlockSize[i] && s.BlockSize[0] != nil, divisor, w.divisor()+"("+divisor+", %s"+w.failed()+")")
		}
	}
	for i, e := range s.GlobalOffset {
		w.assign(e, false, fmt.Sprintf("offset[%d]", i), "%s")
	}
	w.end(len(s.ProblemSize), blocks)
	if w.err != nil {
		return "", fmt.Errorf("the NDRange of %s: %w", s.Kernel, w.err)
	}
	return w.String(), nil
}

// WithConstants returns names for the export of the step's expressions. Constants that have no name there become
// literals of the language.
func (s *Step) WithConstants(l expression.Language, names map[string]string) map[string]string {
	all := map[string]string{}
	for constant, v := range s.constants {
		if text, err := expression.Literal(l, v); err == nil {
			all[constant] = text
		}
	}
	maps.Copy(all, names)
	return all
}

// A rangeWriter writes a function that computes a launch.
type rangeWriter struct {
	strings.Builder
	language expression.Language
	names    map[string]string
	err      error
}

func (w *rangeWriter) divisor() string {
	if w.language == expression.Go {
		return "ndDivisor"
	}
	return "nd_divisor"
}

// failed is the last argument of an operation that can fail.
func (w *rangeWriter) failed() string {
	if w.language == expression.C {
		return ", failed"
	}
	return ""
}

// declared matches the name that a declaration of C declares.
var declared = regexp.MustCompile(`(\w+)\s*(?:\[\w*\])?\s*$`)

func (w *rangeWriter) begin(name string, declarations []string) {
	parameters := strings.Join(declarations, ", ")
	switch w.language {
	case expression.C:
		fmt.Fprintf(w, "static inline int %s(%s) {\n", name, strings.Join(append(slices.Clone(declarations), "nd_range *range"), ", "))
		for _, d := range declarations {
			if m := declared.FindStringSubmatch(d); m != nil {
				fmt.Fprintf(w, "    (void)%s;\n", m[1]) // perhaps no expression reads it
			}
		}
		w.WriteString("    int64_t size[3] = {1, 1, 1}, block[3] = {1, 1, 1}, divisor[3] = {1, 1, 1}, offset[3] = {0, 0, 0};\n    int has_failed = 0, *failed = &has_failed;\n")
	case expression.Python:
		fmt.Fprintf(w, "def %s(%s):\n    size, block, divisor, offset = [1, 1, 1], [1, 1, 1], [1, 1, 1], [0, 0, 0]\n", name, parameters)
	case expression.Go:
		fmt.Fprintf(w, "func %s(%s) (r ndRange, err error) {\n\tdefer ndRecover(&err)\n\tsize, block, divisor, offset := [3]int64{1, 1, 1}, [3]int64{1, 1, 1}, [3]int64{1, 1, 1}, [3]int64{}\n", name, parameters)
	}
}

// assign writes the assignment of an expression in a format, if wanted only where the block size is not the driver's choice.
func (w *rangeWriter) assign(e *expression.Expression, conditional bool, to, format string) {
	text, err := e.ExportInt(w.language, w.names)
	if err != nil && w.err == nil {
		w.err = err
	}
	text = to + " = " + fmt.Sprintf(format, text)
	switch {
	case w.language == expression.C && conditional:
		text = "    if (block[0] != 0) " + text + ";"
	case w.language == expression.C:
		text = "    " + text + ";"
	case w.language == expression.Python && conditional:
		text = "    if block[0] != 0:\n        " + text
	case w.language == expression.Python:
		text = "    " + text
	case conditional:
		text = "\tif block[0] != 0 {\n\t\t" + text + "\n\t}"
	default:
		text = "\t" + text
	}
	w.WriteString(text + "\n")
}

func (w *rangeWriter) end(dimensions, blocks int) {
	w.WriteString(map[expression.Language]string{
		expression.C:      fmt.Sprintf("    return nd_launch(range, %d, %d, size, block, divisor, offset, failed);\n}\n", dimensions, blocks),
		expression.Python: fmt.Sprintf("    return nd_launch(%d, %d, size, block, divisor, offset)\n", dimensions, blocks),
		expression.Go:     fmt.Sprintf("\treturn ndLaunch(%d, %d, size, block, divisor, offset), nil\n}\n", dimensions, blocks),
	}[w.language])
}

// Expressions returns the expressions of a step and of those within it.
func (s *Step) Expressions() []*expression.Expression {
	all := slices.Concat(s.ProblemSize, s.BlockSize[:], s.GridDiv[0], s.GridDiv[1], s.GridDiv[2], s.GlobalOffset, []*expression.Expression{s.Repeat})
	for _, a := range s.Arguments {
		all = append(all, a.Local)
		for _, v := range a.Scalars {
			all = append(all, v.Lanes...)
		}
	}
	for _, inner := range s.Steps {
		all = append(all, inner.Expressions()...)
	}
	return slices.DeleteFunc(all, func(e *expression.Expression) bool { return e == nil })
}
