package problem

import (
	"slices"

	"github.com/ndtune/ndtune/tune/expression"
)

// A Step is a part of the work of a problem: the launch of a kernel, or a list of steps. It is a [Stage] with its
// expressions compiled and the defaults filled in.
type Step struct {
	Kernel    string // "": Steps
	Arguments []int  // in the order of the kernel: indices of [Problem.Arguments]
	Steps     []Step

	// The index space of the kernel.
	ProblemSize  []*expression.Expression
	BlockSize    [3]*expression.Expression   // nil: 1
	GridDiv      [3][]*expression.Expression // has the BlockSize itself where that is the default
	GlobalOffset []*expression.Expression

	Repeat *expression.Expression // a number or a condition; nil: once
	Index  string                 // the name of the number of the repetition, from 0; "": none
	Swap   [2]string              // the buffers that change places between repetitions; empty: none
}

// Steps returns what a run of the problem launches. A problem that is no pipeline has one step.
func (p *Problem) Steps() []Step { return p.steps(p.stages) }

func (p *Problem) steps(list []stage) []Step {
	var all []Step
	for _, s := range list {
		step := Step{Kernel: s.kernel, Arguments: s.arguments, Steps: p.steps(s.stages), Repeat: s.repeat, Index: s.index}
		if s.swap[0] != s.swap[1] {
			step.Swap = [2]string{p.arguments[s.swap[0]].Name, p.arguments[s.swap[1]].Name}
		}
		if s.shape != nil {
			step.ProblemSize, step.BlockSize, step.GridDiv, step.GlobalOffset = s.shape.problemSize, s.shape.blockSize, s.shape.gridDiv, s.shape.offset
		}
		all = append(all, step)
	}
	return all
}

// Expressions returns the expressions of the sizes of a step and of those within it, without those of arguments.
func (s *Step) Expressions() []*expression.Expression {
	all := slices.Concat(s.ProblemSize, s.BlockSize[:], s.GridDiv[0], s.GridDiv[1], s.GridDiv[2], s.GlobalOffset, []*expression.Expression{s.Repeat})
	for _, inner := range s.Steps {
		all = append(all, inner.Expressions()...)
	}
	return slices.DeleteFunc(all, func(e *expression.Expression) bool { return e == nil })
}

// Expressions returns all expressions of an argument.
func (a *ArgumentInfo) Expressions() []*expression.Expression {
	all := append(a.Values(), a.Pixels...)
	for _, one := range a.Alternatives {
		all = append(append(all, one.Condition), one.Argument.Expressions()...)
	}
	return all
}

// ConstantExpression returns the expression of a constant that is computed from others, or nil.
func (p *Problem) ConstantExpression(constant string) *expression.Expression {
	return p.computed[constant]
}
