package spec

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
)

func (f field) argument() (a definition.Argument) {
	var sizes []definition.Expr
	var image definition.Image
	f.keys(
		key("name", &a.Name, field.text).means("text", "the name of the argument in this specification").required(),
		key("type", &a.Type, field.text).means("text", "the type of an element, such as float32").required("image", "sampler"),
		key("size", &sizes, field.expressions).
			means("expression or list", "the elements of a buffer, or the pixels of an image by dimension"),
		key("image", &image.Shape, field.text).means("text", "the shape of an image, such as 2d"),
		key("format", &image.Format, field.text).means("text", "the order and the type of the channels of an image, such as rgba/float32"),
		key("sampler", &a.Sampler, field.sampler).means("mapping", "the sampler"),
		key("fill", &a.Fill, field.fill).means("word or mapping", "the initial content of a buffer or an image; default: zeros"),
		key("output", &a.Output, field.boolean).means("true or false", "whether the content is compared with the reference"),
		key("restore", &a.RestoreEachLaunch, func(f field) bool { return f.choice("iteration", "configuration") == "iteration" }).
			means("iteration or configuration", "when the initial content is restored; default: for each configuration"),
		key("value", &a.Value, field.argumentValue).
			means("value, expression, list or mapping", "the value of a scalar, a vector or a struct, or bytes as hexadecimal digits"),
		key("local_size", &a.LocalSize, field.expression).means("expression", "the elements of local memory for each work-group"),
		key("alias", &a.Alias, field.text).means("text", "the argument whose buffer this argument shares"),
		key("symbol", &a.Symbol, field.boolean).
			means("true or false", "whether the content is that of a variable of the source with the name: constant memory of CUDA C"),
	)
	if f.has("image") {
		image.Size = sizes
		a.Image = &image
		f.require("format")
		return a
	}
	if f.has("format") {
		f.failKey("format", "only an image has a format: give image, too")
	}
	if len(sizes) > 1 {
		f.failKey("size", "only an image has several sizes; the size of a buffer is one number of elements")
	}
	if len(sizes) > 0 {
		a.Size = sizes[0]
	}
	return a
}

func (f field) sampler() *definition.Sampler {
	s := &definition.Sampler{}
	f.keys(
		key("coordinates", &s.Coordinates, field.text).means("pixels or normalized", "the coordinates; default: pixels"),
		key("addressing", &s.Addressing, field.text).
			means("text", "none, clamp, clamp_to_edge, repeat or mirrored_repeat; default: none"),
		key("filter", &s.Filter, field.text).means("nearest or linear", "the filter; default: nearest"),
	)
	return s
}

// types reads structs: mappings of fields to their types.
func (f field) types() (types []definition.StructType) {
	for _, e := range f.entries() {
		t := definition.StructType{Name: e.key}
		for _, member := range e.value.entries() {
			given := definition.StructField{Name: member.key}
			member.value.keysOrFirst(
				key("type", &given.Type, field.text).means("text", "the type of the field").required(),
				key("count", &given.Count, field.expression).means("expression", "the length of an array"),
			)
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
func (f field) fill() (fill definition.Fill) {
	if f.node.Kind != yaml.MappingNode {
		fill.Kind = f.fillKind()
		return fill
	}
	if !f.one("way to fill a buffer") {
		return fill
	}
	f.keys(
		key("constant", &fill, field.constantFill).means("expression", "one number for all elements"),
		key("random", &fill, field.randomFill).means("two expressions", "uniform random numbers, from the first to below the second"),
		key("normal", &fill, field.normalFill).means("mapping", "random numbers with a normal distribution"),
		key("expression", &fill.Expression, field.expression).means("expression", "a rule that makes each number of index, lane and item"),
		key("fields", &fill.Fields, field.fillFields).means("mapping", "the fills of the fields of a struct; zeros for the others"),
		key("copy", &fill.Copy, field.text).means("text", "the buffer whose initial content is copied"),
		key("file", &fill.File, field.npyFile).means("path", "a .npy file with the content"),
		key("shared", &fill.Shared, field.text).means("text", "memory of another process on a device of CUDA"),
	)
	return fill
}

// fillFields reads the fills of the fields of a struct.
func (f field) fillFields() map[string]definition.Fill {
	fills := map[string]definition.Fill{}
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
		hint = "; there are " + strings.Join(words, ", ") +
			", and the mappings {constant: 3}, {expression: index % 16}, {fields: …}, {copy: name}, {file: data.npy}"
	}
	f.failf("no fill is called %q%s", excerpt.Of(f.node.Value), hint)
	return ""
}

func (f field) constantFill() definition.Fill {
	return definition.Fill{Kind: array.Constant, Value: f.expression()}
}

// randomFill reads the interval [low, high] of random numbers.
func (f field) randomFill() definition.Fill {
	fill := definition.Fill{Kind: array.Random}
	if items := f.several("[low, high]", 2, 2); items != nil {
		fill.Low, fill.High = items[0].expression(), items[1].expression()
	}
	return fill
}

// normalFill reads the mean and the standard deviation of a normal distribution.
func (f field) normalFill() definition.Fill {
	fill := definition.Fill{Kind: array.Normal, Std: "1"}
	f.keys(
		key("mean", &fill.Mean, field.expression).means("expression", "the mean; default: 0"),
		key("std", &fill.Std, field.expression).means("expression", "the standard deviation; default: 1"),
	)
	return fill
}

// npyFile reads the path of a .npy file, which must exist.
func (f field) npyFile() string {
	name := f.text()
	if name == "" {
		return ""
	}
	if !f.onDisk() {
		f.failf(".npy files are read from the operating system only; the specification is a bundled one")
		return ""
	}
	path := f.beside(f.path, name)
	if err := f.checkRegular(path); err != nil {
		f.fail(f.explain(path, err))
		return ""
	}
	return path
}
