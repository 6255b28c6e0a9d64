package spec

import (
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/tune/space"
)

// parameters reads the tunable parameters in order.
func (f field) parameters() (parameters []space.Parameter) {
	for _, e := range f.entries() {
		parameters = append(parameters, space.Parameter{Name: e.key, Values: e.value.parameterValues()})
	}
	return parameters
}

// parameterValues reads a list of values, one value, or a rule that makes them.
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
	if n := len(f.entries()); n != 1 {
		f.failf("expected one rule, range or powers_of_two, found %d keys", n)
		return nil
	}
	f.keys(
		reader{"range", func(f field) { values = f.rangeValues() }},
		reader{"powers_of_two", func(f field) { values = f.powersOfTwo() }},
	)
	return values
}

// maxGenerated is how many values a rule may make: as many as a parameter can have.
const maxGenerated = 1 << 16

// rangeValues are first, first + step, … up to last, which is one of them where the steps
// meet it. The values are integers where all three numbers are.
func (f field) rangeValues() (values []space.Value) {
	items := f.list()
	if n := len(items); n != 2 && n != 3 {
		if f.node.Kind == yaml.SequenceNode {
			f.failf("expected [first, last] or [first, last, step], found %d values", n)
		}
		return nil
	}
	step, integers := 1.0, true
	for _, item := range items {
		v, _ := scalar(item.node)
		_, integer := v.(int)
		integers = integers && integer
	}
	first, last := items[0].number(), items[1].number()
	if len(items) == 3 {
		step = items[2].number()
	}
	if f.failed(f.name) {
		return nil
	}
	// A float step such as 0.1 is inexact: the last step may miss by a rounding error.
	count := math.Floor((last-first)/step*(1+1e-12)+1e-9) + 1
	switch {
	case !(count >= 1):
		f.failf("no number lies between %v and %v in steps of %v", first, last, step)
		return nil
	case count > maxGenerated || math.Abs(first) > 1<<53 || math.Abs(last) > 1<<53:
		f.failf("the range has more values than the %d that a parameter can have, or too large ones", maxGenerated)
		return nil
	}
	for i := range int(count) {
		if v := first + float64(i)*step; integers {
			values = append(values, int(v))
		} else {
			values = append(values, v)
		}
	}
	return values
}

// powersOfTwo are the powers of two from first to last, both of which must be one.
func (f field) powersOfTwo() (values []space.Value) {
	items := f.list()
	if len(items) != 2 {
		if f.node.Kind == yaml.SequenceNode {
			f.failf("expected [first, last], found %d values", len(items))
		}
		return nil
	}
	bounds := [2]int{items[0].powerOfTwo(), items[1].powerOfTwo()}
	if f.failed(f.name) {
		return nil
	}
	if bounds[0] > bounds[1] {
		f.fail(fmt.Errorf("the first power, %d, is larger than the last, %d", bounds[0], bounds[1]))
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
