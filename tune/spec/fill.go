package spec

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/problem"
)

// fill reads what a buffer holds at first: a word, or a mapping of one key with its
// details.
func (f field) fill() (fill problem.Fill) {
	if f.node.Kind != yaml.MappingNode {
		fill.Kind = f.fillKind()
		return fill
	}
	if n := len(f.entries()); n != 1 {
		f.failf("expected one way to fill a buffer, found %d", n)
		return fill
	}
	f.keys(
		reader{string(array.Constant), func(f field) { fill.Kind, fill.Value = array.Constant, f.number() }},
		reader{string(array.Random), func(f field) { fill.Kind = array.Random; fill.Low, fill.High = f.interval() }},
		reader{string(array.Normal), func(f field) { fill.Kind = array.Normal; fill.Mean, fill.Std = f.normal() }},
		reader{"copy", func(f field) { fill.Copy = f.text() }},
		reader{"file", func(f field) { fill.File = f.npyFile() }},
	)
	return fill
}

// fillKind is a fill that needs no details.
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
		hint = "; there are " + strings.Join(words, ", ") + ", and the mappings {constant: 3}, {copy: name}, {file: data.npy}"
	}
	f.failf("no fill is called %q%s", excerpt.Of(f.node.Value), hint)
	return ""
}

// interval is [low, high], from which random numbers are drawn.
func (f field) interval() (low, high float64) {
	items := f.list()
	if f.node.Kind == yaml.SequenceNode && len(items) != 2 {
		f.failf("expected [low, high], found a list of %d", len(items))
	}
	if len(items) != 2 {
		return 0, 0
	}
	low, high = items[0].number(), items[1].number()
	if low >= high && !f.failed(f.name) {
		f.failf("the interval [%v, %v) is empty", low, high)
	}
	return low, high
}

// normal is the mean and the standard deviation of a normal distribution.
func (f field) normal() (mean, std float64) {
	std = 1
	f.keys(
		reader{"mean", func(f field) { mean = f.number() }},
		reader{"std", func(f field) {
			if std = f.number(); std <= 0 && !f.failed(f.name) {
				f.failf("a standard deviation is positive")
			}
		}},
	)
	return mean, std
}

// npyFile is the path of a .npy file, which must exist.
func (f field) npyFile() string {
	name := f.text()
	if name == "" {
		return ""
	}
	if f.fsys != nil {
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
