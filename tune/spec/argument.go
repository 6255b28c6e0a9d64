package spec

import (
	"errors"
	"strings"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/problem"
	"go.yaml.in/yaml/v3"
)

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
		hint = "; there are " + strings.Join(words, ", ") + ", and the mappings {constant: 3}, {expression: index % 16}, {fields: …}, {copy: name}, {file: data.npy}"
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
