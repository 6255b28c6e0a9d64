// Package tune is the tuning loop. [Run] searches the space of a problem: a search strategy proposes
// configurations, an [Evaluator] turns them into [Result] values, and a [Log] keeps them.
//
// Package tune/problem describes the tuning task. Package tune/device evaluates on an OpenCL device;
// worker processes or a recorded space can take its place. Package tune measures nothing itself, and it ranks
// only correct results.
//
// # Reasons
//
// A learning strategy depends on its seed and the results alone: Run reports results in the order of the proposals, and keeps a fixed
// number of proposals ahead. So an interrupted search goes on as if it had not been interrupted; the price is that one slow
// configuration can hold up those behind it. Brute force and random sampling do not learn, and do not wait.
//
// Run answers proposals that a limit of the device excludes, as results with the status constraints that do not count in the budget. The
// space keeps these configurations, so that indices and records do not depend on the device.
//
// An evaluator reports a doubt; Run decides. A probe evaluates the best again, with a build option that no driver has seen, because a
// build from the driver's cache would succeed even on a full disk. Failures in doubt are neither logged nor told to the strategy until
// the probe has ended. After each probe that finds the configurations themselves at fault, the row of failures that triggers the next
// probe is twice as long.
//
// The choice among the front is an expression, not a set of weights, because bounds, products and weighted sums are then one form. It is
// no part of the digest, so that a log can be continued with another one.
//
// Several cards of one model are compared before the final measurement, and one of them measures all finalists: see docs/fleet.md.
package tune

import (
	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/task"
)

// The parts of a problem, under the names that programs use.
type (
	Definition   = task.Definition
	Problem      = problem.Problem
	Kernel       = task.Kernel
	Constant     = task.Constant
	Expr         = task.Expr
	Argument     = task.Argument
	Fill         = task.Fill
	Verification = task.Verification
	Roofline     = task.Roofline
	Metric       = task.Metric
	Objective    = judge.Objective
)

// NewProblem checks a definition and compiles it: see [problem.New].
func NewProblem(d Definition) (*Problem, error) { return problem.New(d) }
