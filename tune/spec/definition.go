package spec

import (
	"math"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// definition reads a whole YAML document.
func (f field) definition() (d problem.Definition) {
	var sizes, checked field
	var choose string
	f.keys(
		key("kernel", &d.Kernel, field.kernel),
		key("constants", &d.Constants, field.constants),
		key("sizes", &sizes, field.itself),
		key("kernels", &d.Stages, func(f field) []problem.Stage { return each(f.list(), field.stage) }),
		key("problem_size", &d.ProblemSize, field.expressions),
		key("block_size", &d.BlockSize, field.blockSize),
		key("grid_div", &d.GridDiv, field.gridDiv),
		key("global_offset", &d.GlobalOffset, field.expressions),
		key("types", &d.Types, field.types),
		key("arguments", &d.Arguments, func(f field) []problem.Argument { return each(f.list(), field.argument) }),
		key("parameters", &d.Parameters, field.parameters),
		key("restrictions", &d.Restrictions, func(f field) []space.Restriction { return each(f.list(), field.restriction) }),
		key("build_restrictions", &d.BuildRestrictions, func(f field) []problem.Expr { return each(f.list(), field.expression) }),
		key("verify", &d.Verify, field.verification),
		key("roofline", &d.Roofline, field.roofline),
		key("metrics", &d.Metrics, field.metrics),
		key("objective", &d.Objective, field.objectives),
		key("choose", &choose, field.expression),
		key("measure", &d.Measure, field.measure),
		key("baseline", &d.Baseline, field.configuration),
		key("check", &checked, field.itself),
		key("max_evals", &d.MaxEvaluations, field.maxEvaluations),
		key("seed", &d.Seed, field.seed),
	)
	d.Objective.Choose = choose
	if sizes.node != nil {
		f.sizes = sizes.readSizes(d.Constants)
	}
	if checked.node != nil {
		f.checked = checked.checkedConstants(d.Constants)
	}
	f.require("kernel")
	if !f.has("kernels") {
		f.require("problem_size")
	}
	f.require("arguments", "parameters")
	return d
}

var xyz = [3]string{"x", "y", "z"}

// blockSize reads the local size: a mapping of dimensions, or one expression for x.
func (f field) blockSize() [3]problem.Expr {
	if f.node.Kind == yaml.ScalarNode {
		return [3]problem.Expr{f.expression()}
	}
	return dimensions(f, xyz, field.expression)
}

func (f field) gridDiv() [3][]problem.Expr { return dimensions(f, xyz, field.divisors) }

// checkedConstants reads check.set: constants with their values in a check.
func (f field) checkedConstants(constants []problem.Constant) (set map[string]space.Value) {
	var given field
	f.keys(key("set", &given, field.itself))
	f.require("set")
	if given.node == nil {
		return nil
	}
	set = map[string]space.Value{}
	for _, e := range given.entries() {
		given.checkConstant(e, constants)
		set[e.key] = e.value.value()
	}
	return set
}

// stage reads a kernel of a pipeline, or a list of kernels that are repeated together.
func (f field) stage() (s problem.Stage) {
	f.keys(
		key("name", &s.Kernel, field.text),
		key("arguments", &s.Arguments, func(f field) []string { return append([]string{}, each(f.list(), field.text)...) }),
		key("kernels", &s.Stages, func(f field) []problem.Stage { return each(f.list(), field.stage) }),
		key("problem_size", &s.ProblemSize, field.expressions),
		key("block_size", &s.BlockSize, field.blockSize),
		key("grid_div", &s.GridDiv, field.gridDiv),
		key("global_offset", &s.GlobalOffset, field.expressions),
		key("repeat", &s.Repeat, field.expression),
		key("index", &s.Index, field.text),
		key("swap", &s.Swap, field.swap),
	)
	return s
}

// constants reads each constant as a value, or as {value: …, host: true}.
func (f field) constants() (constants []problem.Constant) {
	for _, e := range f.entries() {
		c := problem.Constant{Name: e.key}
		if e.value.node.Kind == yaml.MappingNode {
			e.value.keys(key("value", &c.Value, field.value), key("host", &c.Host, field.boolean))
			e.value.require("value")
		} else {
			c.Value = e.value.value()
		}
		if c.Value != nil {
			constants = append(constants, c)
		}
	}
	return constants
}

func (f field) expressions() []problem.Expr { return each(f.listOrOne(), field.expression) }

// divisors reads the divisors of a dimension. An empty list means no divisor, a missing one the
// default.
func (f field) divisors() []problem.Expr { return append([]problem.Expr{}, f.expressions()...) }

// configuration reads values of parameters.
func (f field) configuration() map[string]space.Value { return named(f, field.value) }

func (f field) restriction() space.Restriction { return space.Restriction{Expression: f.expression()} }

func (f field) roofline() *problem.Roofline {
	r := &problem.Roofline{}
	f.keys(
		key("flops", &r.Flops, field.expression),
		key("bytes", &r.Bytes, field.expression),
		key("precision", &r.Precision, field.text),
	)
	return r
}

func (f field) metrics() (metrics []problem.Metric) {
	for _, e := range f.entries() {
		metrics = append(metrics, problem.Metric{Name: e.key, Expression: e.value.expression()})
	}
	return metrics
}

// objectives reads one objective, or a list of several.
func (f field) objectives() (o problem.Objective) {
	if f.node.Kind != yaml.SequenceNode {
		return f.objective()
	}
	all := each(f.listOf("a list of objectives", 1, math.MaxInt), field.objective)
	if len(all) > 0 {
		o = all[0]
		for _, more := range all[1:] {
			o.More = append(o.More, more.All()...)
		}
	}
	return o
}

// objective reads a text such as «time, maximize GB/s», or a name with a direction.
func (f field) objective() (o problem.Objective) {
	if f.node.Kind == yaml.ScalarNode {
		o, err := problem.ParseObjectives(f.text())
		if err != nil && !f.failed(f.name) {
			f.fail(err)
		}
		return o
	}
	f.keys(
		key("name", &o.Name, field.text),
		key("direction", &o.Maximize, func(f field) bool { return f.choice("minimize", "maximize") == "maximize" }),
	)
	f.require("name")
	return o
}

func (f field) maxEvaluations() int {
	return int(f.whole(1, math.MaxInt32, "max_evals is a whole number from 1 to 2^31 - 1"))
}

// mostSeed is the largest integer to which float64 rounds no other integer.
const mostSeed = 1<<53 - 1

func (f field) seed() uint64 {
	return uint64(f.whole(0, mostSeed, "a seed is a whole number from 0 to 2^53 - 1"))
}

// whole reads an integer between two bounds. Any other number has the given error.
func (f field) whole(least, most float64, wrong string) float64 {
	n := f.number()
	if n < least || n > most || n != math.Trunc(n) {
		f.failf("%s", wrong)
		return 0
	}
	return n
}
