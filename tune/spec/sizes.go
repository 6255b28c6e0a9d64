package spec

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// maxSizes is the largest number of sizes of a specification.
const maxSizes = 100

// valuesOf are the values that a constant has in the sizes, one after the other.
type valuesOf struct {
	constant string
	values   []space.Value
}

// readSizes reads a list of mappings of constants to values, or a mapping of constants to their values
// in all sizes, which have the forms of a parameter's values.
func (f field) readSizes(constants []definition.Constant) []definition.Size {
	var columns []valuesOf
	switch f.node.Kind {
	case yaml.SequenceNode:
		columns = f.listedSizes()
	default:
		for _, e := range f.entries() {
			f.checkConstant(e, constants)
			columns = append(columns, valuesOf{e.key, e.value.parameterValues()})
		}
	}
	if f.failed(f.name) {
		return nil
	}
	for i := 0; f.node.Kind == yaml.SequenceNode && i < len(columns); i++ {
		f.checkConstant(f.items()[0].entries()[i], constants)
	}
	if f.failed(f.name) {
		return nil
	}
	sizes, err := sizesOf(constants, columns)
	if err == nil && len(sizes) == 1 {
		err = errors.New("one size alone: name at least two, or give the constant this value")
	}
	if err != nil {
		f.fail(err)
	}
	return sizes
}

// listedSizes reads a list of sizes, which all name the same constants.
func (f field) listedSizes() (columns []valuesOf) {
	if len(f.node.Content) == 0 {
		f.failf("the list of sizes is empty; give at least two")
	}
	for i, item := range f.items() {
		entries := item.entries()
		if i == 0 {
			columns = each.Of(entries, func(e entry) valuesOf { return valuesOf{constant: e.key} })
		}
		for _, e := range entries {
			at := slices.IndexFunc(columns, func(c valuesOf) bool { return c.constant == e.key })
			if at < 0 {
				f.failAt(e.value.name, e.at, fmt.Errorf("the first size does not name %s; all sizes name the same constants", e.key))
			} else if v := e.value.value(); v != nil {
				columns[at].values = append(columns[at].values, v)
			}
		}
		for _, c := range columns {
			if item.node.Kind == yaml.MappingNode && !item.has(c.constant) {
				item.failf("%s is missing; all sizes name the same constants", c.constant)
			}
		}
	}
	return columns
}

func (f field) checkConstant(e entry, constants []definition.Constant) {
	if _, err := indexOf("constant", e.key, namesOf(constants)); err != nil && !f.failed("constants") {
		f.failAt(e.value.name, e.at, err)
	}
}

func namesOf(constants []definition.Constant) []string {
	return each.Of(constants, func(c definition.Constant) string { return c.Name })
}

// sizesOf returns sizes in ascending order. Constants with several values have the same number of them,
// which go together: the first value of each makes a size, and so on. A constant with one value has
// it in all sizes.
func sizesOf(constants []definition.Constant, columns []valuesOf) ([]definition.Size, error) {
	n, longest := 1, ""
	for _, c := range columns {
		switch {
		case len(c.values) == 0:
			return nil, fmt.Errorf("%s has no values", c.constant)
		case len(c.values) == 1 || len(c.values) == n:
		case n > 1:
			return nil, fmt.Errorf("%s has %d values, and %s has %d: "+
				"the values of several constants go together, so their numbers must be the same", longest, n, c.constant, len(c.values))
		default:
			n, longest = len(c.values), c.constant
		}
	}
	if n > maxSizes {
		return nil, fmt.Errorf("%d sizes are more than the %d that there can be", n, maxSizes)
	}
	names := namesOf(constants)
	slices.SortFunc(columns, func(a, b valuesOf) int { return slices.Index(names, a.constant) - slices.Index(names, b.constant) })
	sizes := make([]definition.Size, n)
	for i := range sizes {
		for _, c := range columns {
			sizes[i] = append(sizes[i], definition.Constant{Name: c.constant, Value: c.values[min(i, len(c.values)-1)]})
		}
		if slices.ContainsFunc(sizes[:i], func(s definition.Size) bool { return s.String() == sizes[i].String() }) {
			return nil, fmt.Errorf("the size %s is given twice", sizes[i])
		}
	}
	definition.SortSizes(sizes)
	return sizes, nil
}

// At returns the options that load a specification at one of its sizes.
func (o Options) At(size definition.Size) Options {
	given := o.Set
	o.Set, o.Sizes, o.size = map[string]string{}, false, size
	maps.Copy(o.Set, given)
	for _, c := range size {
		o.Set[c.Name] = space.FormatValue(c.Value) // for messages
	}
	return o
}

// severalValues returns the numbers that an option gives to a constant, with commas between them; nil
// if its text is anything else, or if the constant is itself a text with commas.
func severalValues(c definition.Constant, text string) (values []space.Value) {
	if own, _ := c.Value.(string); strings.Contains(own, ",") || !strings.Contains(text, ",") {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		v, err := optionValue(part)
		if _, ok := space.Number(v); err != nil || !ok {
			return nil
		}
		values = append(values, v)
	}
	return values
}

// setSizes makes sizes of the constants that options give several values, or takes those of the
// specification if options set none of their constants. The definition has the first size.
func (o Options) setSizes(doc *document, d *definition.Definition) {
	var columns []valuesOf
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(o.Set)) {
		if i := slices.Index(namesOf(d.Constants), name); i >= 0 {
			if values := severalValues(d.Constants[i], o.Set[name]); values != nil {
				columns = append(columns, valuesOf{name, values})
				texts = append(texts, "--set "+name+"="+o.Set[name])
			}
		}
		if len(doc.sizes) > 0 && slices.ContainsFunc(doc.sizes[0], func(c definition.Constant) bool { return c.Name == name }) {
			doc.sizes = nil
		}
	}
	if len(columns) == 0 {
		if !o.Sizes {
			doc.sizes = nil
		}
	} else {
		sizes, err := sizesOf(d.Constants, columns)
		if err == nil && !o.Sizes {
			err = errors.New("several values are several sizes, which only ndtune tune and ndtune compare take; give one")
		}
		if err != nil {
			doc.failAt(strings.Join(texts, " "), position{}, err)
		}
		doc.sizes = sizes
	}
	for _, size := range slices.Backward(doc.sizes) { // the first decides
		for _, c := range size {
			if i := slices.Index(namesOf(d.Constants), c.Name); i >= 0 {
				var err error
				if d.Constants[i], err = d.Constants[i].With(c.Value); err != nil {
					doc.failAt(cmp.Or(strings.Join(texts, " "), "sizes"), position{}, fmt.Errorf("%s: %w", c.Name, err))
				}
			}
		}
	}
}
