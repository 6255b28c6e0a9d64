// Package tune is the tuning loop. [Run] searches the space of a problem: a search strategy proposes
// configurations, an [Evaluator] turns them into [Result] values, and a [Log] keeps them.
//
// Package tune/problem describes the tuning task. Package tune/device evaluates on an OpenCL device;
// worker processes or a recorded space can take its place. Package tune measures nothing itself, and it ranks
// only correct results.
package tune

import "github.com/ndtune/ndtune/tune/problem"

// The parts of a problem, under the names that programs use.
type (
	Definition   = problem.Definition
	Problem      = problem.Problem
	Kernel       = problem.Kernel
	Constant     = problem.Constant
	Expr         = problem.Expr
	Argument     = problem.Argument
	Fill         = problem.Fill
	Verification = problem.Verification
	Roofline     = problem.Roofline
	Metric       = problem.Metric
	Objective    = problem.Objective
)

// NewProblem checks a definition and compiles it: see [problem.New].
func NewProblem(d Definition) (*Problem, error) { return problem.New(d) }
