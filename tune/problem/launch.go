package problem

import (
	"fmt"

	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/launch"
	"github.com/ndtune/ndtune/tune/task"
)

// compileShape compiles an index space, whose fields begin with a prefix.
func (p *Problem) compileShape(errs *fieldErrors, prefix string, given task.Shape, scope expression.Scope) (s launch.Shape) {
	if n := len(given.ProblemSize); n < 1 || n > 3 {
		errs.addf(prefix+"problem_size", "has %d dimensions; want one to three", n)
	}
	for i, source := range given.ProblemSize {
		s.ProblemSize = append(s.ProblemSize, p.compileSize(errs, fmt.Sprintf("%sproblem_size[%d]", prefix, i), source, scope))
	}
	for i, dim := range task.Dimensions {
		source, field := given.BlockSize[i], prefix+"block_size."+dim
		if name := "block_size_" + dim; source == "" {
			if _, ok := scope[name]; !ok {
				continue
			}
			source = name
		}
		if i == 0 { // 0 leaves the choice to the driver
			s.BlockSize[i] = p.compileCount(errs, field, source, scope)
		} else {
			s.BlockSize[i] = p.compileSize(errs, field, source, scope)
		}
	}
	for i, dim := range task.Dimensions {
		for j, source := range given.GridDiv[i] {
			s.GridDiv[i] = append(s.GridDiv[i], p.compile(errs, fmt.Sprintf("%sgrid_div.%s[%d]", prefix, dim, j), source, scope, func(e *expression.Expression) error {
				_, _, err := launch.Divisor("the divisor", e, p.constants)
				return err
			}))
		}
		if given.GridDiv[i] == nil && s.BlockSize[i] != nil {
			s.GridDiv[i] = []*expression.Expression{s.BlockSize[i]}
		}
	}
	if len(given.GlobalOffset) > len(given.ProblemSize) {
		errs.addf(prefix+"global_offset", "has %d dimensions, problem_size %d", len(given.GlobalOffset), len(given.ProblemSize))
	}
	for i, source := range given.GlobalOffset {
		s.GlobalOffset = append(s.GlobalOffset, p.compileCount(errs, fmt.Sprintf("%sglobal_offset[%d]", prefix, i), source, scope))
	}
	return s
}
