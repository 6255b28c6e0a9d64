package spec

import (
	"math"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// definition reads a whole YAML document.
func (f field) definition() (d definition.Definition) {
	var sizes, checked field
	var choose string
	f.keys(
		key("kernel", &d.Kernel, field.kernel).means("mapping", "the function and its source").required(),
		key("constants", &d.Constants, field.constants).means("mapping", "macros with the same value in all configurations"),
		key("sizes", &sizes, field.itself).means("list or mapping", "the values of constants at several sizes that are tuned together"),
		key("kernels", &d.Stages, listOf(field.stage)).means("list", "the launches of a pipeline of several kernels"),
		key("problem_size", &d.ProblemSize, field.expressions).means("expression or list", "the elements that the grid covers").required("kernels"),
		key("block_size", &d.BlockSize, dimensions(field.expression)).
			means("expression or mapping", "the local size; default: block_size_x, _y and _z"),
		key("grid_div", &d.GridDiv, dimensions(field.divisors)).
			means("expression or mapping", "the divisors of the problem size; default: the local size"),
		key("global_offset", &d.GlobalOffset, field.expressions).means("expression or list", "the first global id; default: 0"),
		key("types", &d.Types, field.types).means("mapping", "structs that arguments have as their type"),
		key("arguments", &d.Arguments, listOf(field.argument)).means("list", "the arguments of the kernel").required(),
		key("parameters", &d.Parameters, field.parameters).means("mapping", "the tunable macros and their values").required(),
		key("restrictions", &d.Restrictions, listOf(field.restriction)).means("list", "conditions that a configuration must satisfy"),
		key("build_restrictions", &d.BuildRestrictions, listOf(field.expression)).
			means("list", "conditions that a built kernel must satisfy"),
		key("verify", &d.Verify, field.verification).means("mapping", "the reference of the output; default: results are unverified"),
		key("roofline", &d.Roofline, field.roofline).means("mapping", "the least work of a launch"),
		key("metrics", &d.Metrics, field.metrics).means("mapping", "numbers computed from a measurement"),
		key("objective", &d.Objective, field.objectives).
			means("text, mapping or list", "the goals of the search; default: the shortest time"),
		key("choose", &choose, field.expression).means("expression", "the winner of several objectives; default: the best by the first"),
		key("measure", &d.Measure, field.measure).means("mapping", "how each configuration is timed, and what is observed beside the time"),
		key("baseline", &d.Baseline, field.configuration).means("mapping", "the configuration with which the best is compared"),
		key("check", &checked, field.itself).means("mapping", "the sizes with which ndtune check simulates"),
		key("max_evals", &d.MaxEvaluations, field.maxEvaluations).
			means("integer", "the configurations that a search evaluates; default: all"),
		key("seed", &d.Seed, field.seed).means("integer", "the seed of random data; default: 0"),
	)
	d.Objective.Choose = choose
	if sizes.node != nil {
		f.sizes = sizes.readSizes(d.Constants)
	}
	if checked.node != nil {
		f.checked = checked.checkedConstants(d.Constants)
	}
	return d
}

// checkedConstants reads check.set: constants with their values in a check.
func (f field) checkedConstants(constants []definition.Constant) (set map[string]space.Value) {
	var given field
	f.keys(
		key("set", &given, field.itself).means("mapping", "the constants with other values in a check").required(),
	)
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
func (f field) stage() (s definition.Stage) {
	f.keys(
		key("name", &s.Kernel, field.text).means("text", "the name of the kernel function; this or kernels"),
		key("arguments", &s.Arguments, func(f field) []string { return append([]string{}, each.Of(f.list(), field.text)...) }).
			means("list", "the arguments of the kernel, in its order; default: all"),
		key("kernels", &s.Stages, listOf(field.stage)).means("list", "kernels that are repeated together"),
		key("problem_size", &s.ProblemSize, field.expressions).means("expression or list", "the elements that its grid covers"),
		key("block_size", &s.BlockSize, dimensions(field.expression)).means("expression or mapping", "the local size of this kernel"),
		key("grid_div", &s.GridDiv, dimensions(field.divisors)).means("expression or mapping", "the divisors of the problem size of this kernel"),
		key("global_offset", &s.GlobalOffset, field.expressions).means("expression or list", "the first global id of this kernel"),
		key("repeat", &s.Repeat, field.expression).means("expression", "the number of repetitions; a condition is 1 or 0; default: 1"),
		key("index", &s.Index, field.text).means("text", "a name for the number of the repetition, counted from 0"),
		key("swap", &s.Swap, field.swap).means("list", "the buffers that change places between repetitions"),
	)
	return s
}

// constants reads each constant as a value, or as {value: …, host: true}.
func (f field) constants() (constants []definition.Constant) {
	for _, e := range f.entries() {
		c := definition.Constant{Name: e.key}
		e.value.keysOrFirst(
			key("value", &c.Value, field.value).means("value", "the value of the constant").required(),
			key("host", &c.Host, field.boolean).means("true or false", "whether only expressions know the constant"),
		)
		if c.Value != nil {
			constants = append(constants, c)
		}
	}
	return constants
}

func (f field) expressions() []definition.Expr { return each.Of(f.listOrOne(), field.expression) }

// divisors reads the divisors of a dimension. An empty list means no divisor, a missing one the
// default.
func (f field) divisors() []definition.Expr { return append([]definition.Expr{}, f.expressions()...) }

// configuration reads values of parameters.
func (f field) configuration() map[string]space.Value { return mapOf(field.value)(f) }

// restriction reads an expression, or the name of a file of allowed combinations.
func (f field) restriction() (r space.Restriction) {
	if f.note == nil && (f.node.Kind != yaml.MappingNode || len(f.node.Content) == 0 || f.node.Content[0].Value != "file") {
		return space.Restriction{Expression: f.expression()}
	}
	var name string
	f.keys(key("file", &name, field.text).means("path", "instead of an expression, a file of allowed combinations"))
	if name == "" {
		return r
	}
	file, err := f.open(f.beside(f.path, name))
	if err == nil {
		defer file.Close()
		r.Table, err = space.ReadTable(name, file)
	}
	if err != nil {
		f.fail(f.explain(f.beside(f.path, name), err))
	}
	return r
}

func (f field) roofline() *definition.Roofline {
	r := &definition.Roofline{}
	f.keys(
		key("flops", &r.Flops, field.expression).means("expression", "the floating-point operations of a launch; this or bytes"),
		key("bytes", &r.Bytes, field.expression).means("expression", "the bytes that a launch must move; this or flops"),
		key("precision", &r.Precision, field.text).means("text or expression", "the precision of the operations; default: float32"),
	)
	return r
}

func (f field) metrics() (metrics []definition.Metric) {
	return each.Of(f.entries(), func(e entry) definition.Metric {
		return definition.Metric{Name: e.key, Expression: e.value.expression()}
	})
}

// objectives reads one objective, or a list of several.
func (f field) objectives() (o score.Objective) {
	if f.node.Kind != yaml.SequenceNode {
		return f.objective()
	}
	all := each.Of(f.several("a list of objectives", 1, math.MaxInt), field.objective)
	if len(all) > 0 {
		o = all[0]
		for _, more := range all[1:] {
			o.More = append(o.More, more.All()...)
		}
	}
	return o
}

// objective reads a text such as «time, maximize GB/s», or a name with a direction.
func (f field) objective() (o score.Objective) {
	if f.node.Kind == yaml.ScalarNode {
		o, err := score.ParseObjectives(f.text())
		if err != nil && !f.failed(f.name) {
			f.fail(err)
		}
		return o
	}
	f.keys(
		key("name", &o.Name, field.text).means("text", "time, time_mean, time_min, an observed quantity or a metric").required(),
		key("direction", &o.Maximize, func(f field) bool { return f.choice("minimize", "maximize") == "maximize" }).
			means("minimize or maximize", "the better values; default: minimize"),
	)
	return o
}

func (f field) maxEvaluations() int {
	return f.integer(1, math.MaxInt32, "max_evals is an integer from 1 to 2^31 - 1")
}

// mostSeed is the largest integer to which float64 rounds no other integer.
const mostSeed = 1<<53 - 1

func (f field) seed() uint64 {
	return uint64(f.integer(0, mostSeed, "a seed is an integer from 0 to 2^53 - 1"))
}

// integer reads an integer between two bounds. Any other number has the given error.
func (f field) integer(least, most int, wrong string) int {
	n := f.number()
	if n < float64(least) || n > float64(most) || n != math.Trunc(n) {
		f.failf("%s", wrong)
		return 0
	}
	return int(n)
}
