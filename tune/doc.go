// Package tune has the words that all parts of a run share: an [Evaluator] turns configurations into [Result] values, a [Log] keeps them, and
// an [Outcome] is what a run ends with. It ranks correct results, and measures nothing.
//
// Package tune/loop runs a search, package tune/problem describes the task. Package tune/device evaluates on an OpenCL device; worker processes
// or a recorded space can take its place.
package tune

import (
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
)

// The parts of a problem, under the names that programs use.
type (
	Definition   = definition.Definition
	Problem      = problem.Problem
	Kernel       = definition.Kernel
	Constant     = definition.Constant
	Expr         = definition.Expr
	Argument     = definition.Argument
	Fill         = definition.Fill
	Verification = definition.Verification
	Roofline     = definition.Roofline
	Metric       = definition.Metric
	Objective    = score.Objective
)

// NewProblem checks a definition and compiles it: see [problem.New].
func NewProblem(d Definition) (*Problem, error) { return problem.New(d) }
