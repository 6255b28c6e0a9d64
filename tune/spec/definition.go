package spec

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// definition reads a whole YAML document.
func (f field) definition() (d problem.Definition) {
	var sizes field
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
		key("verify", &d.Verify, field.verification),
		key("roofline", &d.Roofline, field.roofline),
		key("metrics", &d.Metrics, field.metrics),
		key("objective", &d.Objective, field.objective),
		key("baseline", &d.Baseline, field.configuration),
		key("max_evals", &d.MaxEvaluations, field.maxEvaluations),
		key("seed", &d.Seed, field.seed),
	)
	if sizes.node != nil {
		f.sizes = sizes.readSizes(d.Constants)
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

// maxStages bounds the kernels and loops of a pipeline that are read, and maxStageDepth the nesting of loops:
// aliases can make a short document endless.
const (
	maxStages     = 1000
	maxStageDepth = 8
)

// stage reads a kernel of a pipeline, or a list of kernels that are repeated together.
func (f field) stage() (s problem.Stage) {
	if f.stages++; f.stages > maxStages || strings.Count(f.name, "kernels[") > maxStageDepth {
		if !f.failed("kernels") {
			f.failf("the list has more than %d kernels and loops, or loops nested deeper than %d", maxStages, maxStageDepth)
		}
		return s
	}
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

func (f field) objective() (o problem.Objective) {
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

func (f field) argument() (a problem.Argument) {
	var sizes []problem.Expr
	var image problem.Image
	f.keys(
		key("name", &a.Name, field.text),
		key("type", &a.Type, field.text),
		key("size", &sizes, field.expressions),
		key("image", &image.Shape, field.text),
		key("format", &image.Format, field.text),
		key("sampler", &a.Sampler, field.sampler),
		key("fill", &a.Fill, field.fill),
		key("output", &a.Output, field.boolean),
		key("restore", &a.RestoreEachLaunch, func(f field) bool { return f.choice("iteration", "configuration") == "iteration" }),
		key("value", &a.Value, field.argumentValue),
		key("local_size", &a.LocalSize, field.expression),
	)
	f.require("name")
	if f.has("image") {
		image.Size = sizes
		a.Image = &image
		f.require("format")
		return a
	}
	if a.Sampler == nil {
		f.require("type")
	}
	if f.has("format") {
		name := f.pathOf("format")
		f.failAt(name, f.locate(name), errors.New("only an image has a format: give image, too"))
	}
	if len(sizes) > 1 {
		name := f.pathOf("size")
		f.failAt(name, f.locate(name), errors.New("only an image has several sizes; the size of a buffer is one number of elements"))
	}
	if len(sizes) > 0 {
		a.Size = sizes[0]
	}
	return a
}

func (f field) sampler() *problem.Sampler {
	s := &problem.Sampler{}
	f.keys(
		key("coordinates", &s.Coordinates, field.text),
		key("addressing", &s.Addressing, field.text),
		key("filter", &s.Filter, field.text),
	)
	return s
}

// types reads structs: mappings of fields to their types.
func (f field) types() (types []problem.StructType) {
	for _, e := range f.entries() {
		t := problem.StructType{Name: e.key}
		for _, member := range e.value.entries() {
			given := problem.StructField{Name: member.key}
			if member.value.node.Kind == yaml.MappingNode {
				member.value.keys(key("type", &given.Type, field.text), key("count", &given.Count, field.expression))
				member.value.require("type")
			} else {
				given.Type = member.value.text()
			}
			t.Fields = append(t.Fields, given)
		}
		types = append(types, t)
	}
	return types
}

// argumentValue reads a number, a bool or an expression, a list for a vector or an array, or a mapping of
// the fields of a struct.
func (f field) argumentValue() any {
	switch f.node.Kind {
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range f.items() {
			list = append(list, item.argumentValue())
		}
		return list
	case yaml.MappingNode:
		fields := map[string]any{}
		for _, e := range f.entries() {
			fields[e.key] = e.value.argumentValue()
		}
		return fields
	}
	v := f.value()
	if text, ok := v.(string); ok && len(text) > maxExpression {
		return f.expression()
	}
	return v
}

// fill reads the initial content of a buffer: a word, or a mapping of one key.
func (f field) fill() (fill problem.Fill) {
	if f.node.Kind != yaml.MappingNode {
		fill.Kind = f.fillKind()
		return fill
	}
	if !f.one("way to fill a buffer") {
		return fill
	}
	f.keys(
		reader{string(array.Constant), func(f field) { fill.Kind, fill.Value = array.Constant, f.expression() }},
		reader{string(array.Random), func(f field) { fill.Kind = array.Random; fill.Low, fill.High = f.interval() }},
		reader{string(array.Normal), func(f field) { fill.Kind, fill.Std = array.Normal, "1"; f.normal(&fill) }},
		key("expression", &fill.Expression, field.expression),
		key("fields", &fill.Fields, field.fillFields),
		key("copy", &fill.Copy, field.text),
		key("file", &fill.File, field.npyFile),
		key("raw", &fill.Raw, field.dataFile),
		key("hex", &fill.Hex, field.text),
	)
	return fill
}

// fillFields reads the fills of the fields of a struct.
func (f field) fillFields() map[string]problem.Fill {
	fills := map[string]problem.Fill{}
	for _, e := range f.entries() {
		fills[e.key] = e.value.fill()
	}
	return fills
}

// fillKind reads a fill without details.
func (f field) fillKind() array.FillKind {
	if f.node.Kind != yaml.ScalarNode {
		f.expected("a way to fill a buffer")
		return ""
	}
	var words []string
	for _, kind := range array.FillKinds() {
		switch {
		case kind == array.Constant && f.node.Value == string(kind):
			f.failf("the value is missing; write {constant: 3}")
			return ""
		case string(kind) == f.node.Value:
			return kind
		case kind != array.Constant:
			words = append(words, string(kind))
		}
	}
	hint := nearest.Hint(f.node.Value, words)
	if hint == "" {
		hint = "; there are " + strings.Join(words, ", ") + ", and the mappings {constant: 3}, {expression: index % 16}, {fields: …}, {copy: name}, {file: data.npy}, {raw: data.bin}"
	}
	f.failf("no fill is called %q%s", excerpt.Of(f.node.Value), hint)
	return ""
}

// interval reads the interval [low, high] of random numbers.
func (f field) interval() (low, high problem.Expr) {
	items := f.listOf("[low, high]", 2, 2)
	if items == nil {
		return "", ""
	}
	return items[0].expression(), items[1].expression()
}

// normal reads the mean and the standard deviation of a normal distribution.
func (f field) normal(fill *problem.Fill) {
	f.keys(key("mean", &fill.Mean, field.expression), key("std", &fill.Std, field.expression))
}

// npyFile reads the path of a .npy file, which must exist.
func (f field) npyFile() string { return f.pathOfData(".npy files") }

// dataFile reads the path of a file with bytes, which must exist.
func (f field) dataFile() string { return f.pathOfData("data files") }

func (f field) pathOfData(files string) string {
	name := f.text()
	if name == "" {
		return ""
	}
	if !f.onDisk() {
		f.failf("%s are read from the operating system only; the specification is a bundled one", files)
		return ""
	}
	path := f.beside(f.path, name)
	if err := f.checkRegular(path); err != nil {
		f.fail(f.explain(path, err))
		return ""
	}
	return path
}

// verification reads what a correct output is. It only notes the name of a reference
// specification, which is loaded once the constants of this one are known.
func (f field) verification() *problem.Verification {
	if f.unverified {
		return nil
	}
	v, command := &problem.Verification{}, problem.Command{}
	f.keys(
		key("spec", &f.reference, field.text),
		key("parameters", &v.Configuration, field.configuration),
		key("launches", &v.Launches, field.expression),
		key("swap", &v.Swap, field.swap),
		key("npy", &v.Files, func(f field) map[string]string { return named(f, field.npyFile) }),
		key("command", &command.Args, field.command),
		key("timeout", &command.Timeout, field.duration),
		key("compare", &v.Compare, func(f field) map[string]problem.Comparison { return named(f, field.comparison) }),
		key("atol", &v.ATol, field.expression),
		key("rtol", &v.RTol, field.expression),
	)
	if f.failed(f.name) {
		return v
	}
	var given []string
	for _, key := range []string{"spec", "npy", "command"} {
		if f.has(key) {
			given = append(given, key)
		}
	}
	switch {
	case len(given) == 0:
		f.failf("the reference is missing: give spec, npy or command")
		return v
	case len(given) > 1:
		f.failf("the reference is given twice: %s", strings.Join(given, " and "))
		return v
	case given[0] == "command":
		command.Dir = f.folder()
		v.Command = &command
	}
	for key, of := range map[string]string{"parameters": "spec", "launches": "spec", "swap": "spec", "timeout": "command"} {
		if f.has(key) && of != given[0] {
			name := f.pathOf(key)
			f.failAt(name, f.locate(name), fmt.Errorf("belongs to %s, not to %s", of, given[0]))
		}
	}
	return v
}

// command reads a program with its arguments.
func (f field) command() []string {
	if !f.onDisk() {
		f.failf("commands are run from the operating system's files only; the specification is a bundled one")
		return nil
	}
	return each(f.listOrOne(), field.text)
}

// folder returns the folder of the specification, in which commands run.
func (f field) folder() string {
	folder := filepath.Dir(f.path)
	if absolute, err := filepath.Abs(folder); err == nil {
		return absolute
	}
	return folder
}

// duration reads a time such as 30s.
func (f field) duration() time.Duration {
	text := f.text()
	d, err := time.ParseDuration(text)
	if (err != nil || d <= 0) && !f.failed(f.name) {
		f.failf("%q is no time; write one such as 30s or 5m", text)
	}
	return d
}

// comparison reads the name of a reduction, or {as: …, rows: …}.
func (f field) comparison() (c problem.Comparison) {
	reduction := func(f field) array.Reduction {
		r, err := array.ParseReduction(f.text())
		if err != nil && !f.failed(f.name) {
			f.fail(err)
		}
		return r
	}
	if f.node.Kind != yaml.MappingNode {
		c.As = reduction(f)
		return c
	}
	f.keys(key("as", &c.As, reduction), key("rows", &c.Rows, field.expression))
	f.require("as")
	return c
}

func (f field) swap() (names [2]string) {
	items := f.list()
	if len(items) != 2 {
		if !f.failed(f.name) {
			f.failf("expected the names of two buffers, found %d", len(items))
		}
		return names
	}
	return [2]string{items[0].text(), items[1].text()}
}

// loadReference makes the specification that verify.spec names the reference of the definition,
// which gives its values to constants of the same name. Errors of the reference have its own file
// and lines. Its own verification is not read: a reference is correct by definition, and a
// kernel may be verified by itself.
func (d *document) loadReference(definition *problem.Definition) Errors {
	verify := definition.Verify
	definition.Verify = nil // unless the reference is sound
	path := d.beside(d.path, d.reference)
	if err := d.checkRegular(path); err != nil {
		d.failAt("verify.spec", d.locate("verify.spec"), d.explain(path, err))
		return nil
	}
	doc := newDocument(d.files, path)
	doc.unverified = true
	root, errs := doc.parse()
	if errs == nil && isT1(root) {
		errs = Errors{{File: path, Err: errT1}}
	}
	if errs != nil {
		return errs
	}
	reference := doc.field("", root).definition()
	for i, c := range reference.Constants {
		j := slices.IndexFunc(definition.Constants, func(o problem.Constant) bool { return o.Name == c.Name })
		if j >= 0 {
			reference.Constants[i].Value = definition.Constants[j].Value
		}
	}
	reference.Seed, reference.Baseline = definition.Seed, nil
	doc.check(reference)
	if len(doc.errs) > 0 {
		sortErrors(doc.errs)
		return doc.errs
	}
	verify.Problem = &reference
	definition.Verify = verify
	return nil
}
