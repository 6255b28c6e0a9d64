package spec

import (
	"math"

	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// definition reads the whole document.
func (f field) definition() (d problem.Definition) {
	f.keys(
		reader{"kernel", func(f field) { d.Kernel = f.kernel() }},
		reader{"constants", func(f field) { d.Constants = f.constants() }},
		reader{"problem_size", func(f field) { d.ProblemSize = f.expressions() }},
		reader{"block_size", func(f field) { d.BlockSize = f.blockSize() }},
		reader{"grid_div", func(f field) { d.GridDiv = f.gridDiv() }},
		reader{"arguments", func(f field) { d.Arguments = f.arguments() }},
		reader{"parameters", func(f field) { d.Parameters = f.parameters() }},
		reader{"restrictions", func(f field) { d.Restrictions = f.restrictions() }},
		reader{"verify", func(f field) {
			if !f.unverified {
				d.Verify = f.verification()
			}
		}},
		reader{"roofline", func(f field) { d.Roofline = f.roofline() }},
		reader{"metrics", func(f field) { d.Metrics = f.metrics() }},
		reader{"objective", func(f field) { d.Objective = f.objective() }},
		reader{"max_evals", func(f field) { d.MaxEvaluations = f.maxEvaluations() }},
		reader{"seed", func(f field) { d.Seed = f.seed() }},
	)
	f.require("kernel", "problem_size", "arguments", "parameters")
	return d
}

func (f field) constants() (constants []problem.Constant) {
	for _, e := range f.entries() {
		if v := e.value.value(); v != nil {
			constants = append(constants, problem.Constant{Name: e.key, Value: v})
		}
	}
	return constants
}

func (f field) expressions() (list []problem.Expr) {
	for _, item := range f.listOrOne() {
		list = append(list, item.expression())
	}
	return list
}

func (f field) restrictions() (restrictions []space.Restriction) {
	for _, item := range f.list() {
		restrictions = append(restrictions, space.Restriction{Expression: item.expression()})
	}
	return restrictions
}

func (f field) roofline() *problem.Roofline {
	r := &problem.Roofline{}
	f.keys(
		reader{"flops", func(f field) { r.Flops = f.expression() }},
		reader{"bytes", func(f field) { r.Bytes = f.expression() }},
		reader{"precision", func(f field) { r.Precision = f.text() }},
	)
	return r
}

func (f field) metrics() (metrics []problem.Metric) {
	for _, e := range f.entries() {
		metrics = append(metrics, problem.Metric{Name: e.key, Expression: e.value.expression()})
	}
	return metrics
}

func (f field) objective() (o problem.Objective) {
	f.keys(
		reader{"name", func(f field) { o.Name = f.text() }},
		reader{"direction", func(f field) { o.Maximize = f.choice("minimize", "maximize") == "maximize" }},
	)
	f.require("name")
	return o
}

func (f field) maxEvaluations() int {
	n := f.number()
	if n < 1 || n != math.Trunc(n) || n > math.MaxInt32 {
		f.failf("max_evals is a whole number from 1 to 2^31 - 1")
		return 0
	}
	return int(n)
}

// mostSeed is the largest whole number that no other is rounded to as a float64.
const mostSeed = 1<<53 - 1

func (f field) seed() uint64 {
	n := f.number()
	if n < 0 || n != math.Trunc(n) || n > mostSeed {
		f.failf("a seed is a whole number from 0 to 2^53 - 1")
		return 0
	}
	return uint64(n)
}
