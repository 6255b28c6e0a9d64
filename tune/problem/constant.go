package problem

import (
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/task"
)

// compileConstant compiles the expression of a host constant. It returns nil for other constants.
func compileConstant(c task.Constant, before map[string]any) (*expression.Expression, error) {
	source := c.Expression(before)
	if source == "" {
		return nil, nil
	}
	e, err := expression.Compile(source, before)
	if err != nil {
		err = fmt.Errorf("the value of a host constant is computed from the constants before it, and a text has quotes of its own: %w", err)
	}
	return e, err
}

// Computed returns constants with the values of those that are computed from others. One that cannot be computed is as it was.
func Computed(constants []task.Constant) []task.Constant {
	p := Problem{definition: task.Definition{Constants: constants}, constants: map[string]any{}, computed: map[string]*expression.Expression{}}
	p.compileConstants(&fieldErrors{})
	return p.Constants()
}

// Constants returns the constants of the definition with the values of those that are computed from others.
func (p *Problem) Constants() []task.Constant {
	all := slices.Clone(p.definition.Constants)
	for i := range all {
		if p.computed[all[i].Name] != nil {
			all[i].Value = p.constants[all[i].Name]
		}
	}
	return all
}

// Reads reports whether an expression depends on a constant: it reads it, or a constant that is computed from it.
func (p *Problem) Reads(e *expression.Expression, constant string) bool {
	return slices.ContainsFunc(e.Names(), func(name string) bool { return p.Depends(name, constant) })
}

// Depends reports whether a constant is another one, or is computed from it.
func (p *Problem) Depends(name, on string) bool {
	e := p.computed[name]
	return name == on || e != nil && p.Reads(e, on)
}

// ConstantExpression returns the expression of a constant that is computed from others, or nil.
func (p *Problem) ConstantExpression(constant string) *expression.Expression {
	return p.computed[constant]
}
