package spec

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// parameters reads the tunable parameters in order.
func (f field) parameters() (parameters []space.Parameter) {
	return each.Of(f.entries(), func(e entry) space.Parameter { return space.Parameter{Name: e.key, Values: e.value.parameterValues()} })
}

// parameterValues reads a list of values, one value, or a rule that generates them.
func (f field) parameterValues() (values []space.Value) {
	if f.node.Kind == yaml.MappingNode {
		return f.generatedValues()
	}
	for _, item := range f.listOrOne() {
		if v := item.value(); v != nil {
			values = append(values, v)
		}
	}
	if f.node.Kind == yaml.SequenceNode && len(f.node.Content) == 0 {
		f.failf("the list of values is empty; give at least one")
	}
	return values
}

// generatedValues reads {range: [first, last, step]} and {powers_of_two: [first, last]}.
func (f field) generatedValues() (values []space.Value) {
	if !f.one("rule, range or powers_of_two") {
		return nil
	}
	f.keys(
		key("range", &values, field.rangeValues).means("list", "first, last and, unless it is 1, step"),
		key("powers_of_two", &values, field.powersOfTwo).means("list", "first and last"),
	)
	return values
}

// maxGenerated is the largest number of values of a rule, that of a parameter.
const maxGenerated = 1 << 16

// maxExact is the bound up to which float64 represents every integer.
const maxExact = 1 << 53

// rangeValues reads a range: first, first + step, … up to last, which is included if the steps
// reach it. The values are integers if all three numbers are.
func (f field) rangeValues() []space.Value {
	items := f.several("[first, last] or [first, last, step]", 2, 3)
	if items == nil {
		return nil
	}
	numbers, integers := [3]float64{2: 1}, true
	for i, item := range items {
		numbers[i] = item.number()
		v, _ := scalar(item.node)
		_, integer := v.(int)
		integers = integers && integer
	}
	first, last, step := numbers[0], numbers[1], numbers[2]
	switch {
	case f.failed(f.name):
		return nil
	case step == 0:
		f.failf("the step is 0")
		return nil
	case math.Abs(first) > maxExact || math.Abs(last) > maxExact || math.Abs(step) > maxExact:
		f.failf("the numbers are too large for a range; write the values as a list")
		return nil
	}
	steps := (last - first) / step
	switch {
	case !integers:
		steps += 1e-9 // 0.1 is inexact, and the last step would be missed by a rounding error
	case steps > 0:
		steps = float64((int64(last) - int64(first)) / int64(step))
	}
	switch {
	case steps < 0:
		f.failf("no number lies between %v and %v in steps of %v", first, last, step)
		return nil
	case steps >= maxGenerated:
		f.failf("the range has more values than the %d that a parameter can have", maxGenerated)
		return nil
	}
	values := make([]space.Value, 1+int(steps))
	for i := range values {
		if v := first + float64(i)*step; integers {
			values[i] = int(v)
		} else {
			values[i] = rounded(v)
		}
	}
	return values
}

// rounded returns the nearest number with at most 15 digits: 0.3 for 0.1 + 0.1 + 0.1.
func rounded(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 15, 64), 64)
	return v
}

// powersOfTwo reads the powers of two from first to last, which must be powers themselves.
func (f field) powersOfTwo() (values []space.Value) {
	items := f.several("[first, last]", 2, 2)
	if items == nil {
		return nil
	}
	bounds := [2]int{items[0].powerOfTwo(), items[1].powerOfTwo()}
	if f.failed(f.name) {
		return nil
	}
	if bounds[0] > bounds[1] {
		f.failf("the first power, %d, is larger than the last, %d", bounds[0], bounds[1])
		return nil
	}
	for v := bounds[0]; v > 0 && v <= bounds[1]; v *= 2 {
		values = append(values, v)
	}
	return values
}

func (f field) powerOfTwo() int {
	v, _ := scalar(f.node)
	i, ok := v.(int)
	if f.node.Kind != yaml.ScalarNode || !ok || i < 1 || i&(i-1) != 0 {
		f.expected("a power of two")
		return 0
	}
	return i
}

// Options change a specification before it is checked, as flags of the command line do. The zero
// value changes nothing.
type Options struct {
	// Set gives constants of the specification, by name, other values (--set nx=1024).
	// Those of the reference that have the same name get them too. A name that begins with «spec.» is the path of
	// any key of the specification, whose value is YAML (--set spec.measure.cache=cold).
	Set map[string]string

	// Sizes lets a constant have several values in Set, which are sizes (--set n=1024,2048), and reads
	// the sizes of the specification.
	Sizes bool

	// Parameters gives parameters of the specification, by name, other values
	// (-p block_size_x=16,32), in their order. They need not be among those listed.
	Parameters map[string][]string

	// Text is the specification; nil: it is read from its file. Names in it are relative to the folder of the path all the same.
	Text []byte

	// Observe names quantities to observe beside those of the specification (--observe energy).
	Observe []string

	size definition.Size // of [Options.At]: texts cannot tell 1 from true
}

// ParseAssignments reads name=value[,value…], once for each name.
func ParseAssignments(texts []string) (map[string][]string, error) {
	assignments := map[string][]string{}
	for _, text := range texts {
		name, values, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("%q is not of the form name=value", text)
		}
		if _, twice := assignments[name]; twice {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		assignments[name] = strings.Split(values, ",")
	}
	return assignments, nil
}

// apply changes the definition. Unknown names and unreadable values are errors of the document.
func (o Options) apply(doc *document, d *definition.Definition) {
	constants := namesOf(d.Constants)
	for _, name := range slices.Sorted(maps.Keys(o.Set)) {
		if strings.HasPrefix(name, keyPrefix) {
			continue
		}
		i, err := indexOf("constant", name, constants)
		switch at := slices.IndexFunc(o.size, func(c definition.Constant) bool { return c.Name == name }); {
		case err != nil:
		case at >= 0:
			d.Constants[i], err = d.Constants[i].With(o.size[at].Value)
		case severalValues(d.Constants[i], o.Set[name]) == nil:
			var v space.Value
			if v, err = optionValue(o.Set[name]); err == nil {
				d.Constants[i], err = d.Constants[i].With(v)
			}
		}
		doc.change("constants."+name, "--set "+name+"="+o.Set[name], err)
	}
	o.setSizes(doc, d)
	o.observe(doc, d)
	parameters := each.Of(d.Parameters, func(p space.Parameter) string { return p.Name })
	for _, name := range slices.Sorted(maps.Keys(o.Parameters)) {
		texts := o.Parameters[name]
		i, err := indexOf("parameter", name, parameters)
		if err == nil {
			d.Parameters[i].Values, err = optionValues(d.Parameters[i].Values, texts)
			same := func(v space.Value) bool { return space.SameValue(v, d.Baseline[name]) }
			if d.Baseline[name] != nil && !slices.ContainsFunc(d.Parameters[i].Values, same) {
				d.Baseline = nil // the option leaves it out
			}
		}
		doc.change("parameters."+name, "-p "+name+"="+strings.Join(texts, ","), err)
	}
}

// change records that an option gives a field its value, and the option's error.
func (d *document) change(field, option string, err error) {
	if err != nil {
		d.failAt(option, position{}, err)
	}
	d.options[field] = option
}

// indexOf returns the index of the constant or parameter of a name.
func indexOf(kind, name string, known []string) (int, error) {
	if i := slices.Index(known, name); i >= 0 {
		return i, nil
	}
	if len(known) == 0 {
		return 0, fmt.Errorf("the specification has no %ss", kind)
	}
	hint := cmp.Or(nearest.Hint(name, known), "; the specification has "+strings.Join(known, ", "))
	return 0, fmt.Errorf("no %s is named %s%s", kind, name, hint)
}

// optionValues reads the values that an option gives to a parameter with the given values.
func optionValues(given []space.Value, texts []string) (values []space.Value, err error) {
	for _, text := range texts {
		v, err := listed(given, text)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	if len(values) == 0 {
		return nil, errors.New("no value is given")
	}
	return values, nil
}

// optionValue reads a value as the file would, unquoted.
func optionValue(text string) (space.Value, error) {
	v, err := plain(strings.TrimSpace(text))
	if err == nil && v == nil {
		return nil, errors.New("no value is given")
	}
	return v, err
}

// listed returns the value of the list that a text means: 1 means 1.0 or true if that is listed, and
// the text "16" if 16 is listed in quotes. Any other value gets the type of the first, unless one has its type.
func listed(list []space.Value, text string) (space.Value, error) {
	v, err := optionValue(text)
	known := err != nil
	for _, l := range list {
		if space.SameValue(l, v) || space.FormatValue(l) == strings.TrimSpace(text) {
			return l, err
		}
		known = known || reflect.TypeOf(l) == reflect.TypeOf(v)
	}
	if known || len(list) == 0 {
		return v, err
	}
	c, err := definition.Constant{Value: list[0]}.With(v)
	return c.Value, err
}

// ParseConfiguration parses name=value,name=value,…, with a value for each parameter. Parameters
// with a single value may be left out. Values have the syntax of specifications; it is no error
// here if they are not listed. A piece without = belongs to the value before it.
func ParseConfiguration(p *space.Parameters, text string) (space.Configuration, error) {
	texts := map[string]string{}
	last := ""
	for _, piece := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(piece, "=")
		name = strings.TrimSpace(name)
		switch {
		case !ok && last != "":
			texts[last] += "," + piece
			continue
		case !ok || name == "":
			return space.Configuration{}, fmt.Errorf("%q is not of the form name=value", piece)
		}
		if _, twice := texts[name]; twice {
			return space.Configuration{}, fmt.Errorf("%s is given twice", name)
		}
		texts[name], last = value, name
	}
	values := map[string]space.Value{}
	for _, q := range p.List() {
		if len(q.Values) == 1 {
			values[q.Name] = q.Values[0]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		var list []space.Value
		if i, ok := p.Index(name); ok {
			list = p.At(i).Values
		}
		v, err := listed(list, texts[name])
		if err != nil {
			return space.Configuration{}, fmt.Errorf("%s: %w", name, err)
		}
		values[name] = v
	}
	return p.Configure(values)
}
