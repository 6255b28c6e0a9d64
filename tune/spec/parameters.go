package spec

import (
	"fmt"
	"math"
	"strconv"

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
		f.failf("expected one rule, range or powers_of_two, found %d", n)
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

// maxExact is the largest number below which a float64 holds every integer.
const maxExact = 1 << 53

// rangeValues are first, first + step, … up to last, which is one of them where the steps
// meet it. The values are integers where all three numbers are.
func (f field) rangeValues() []space.Value {
	items := f.list()
	if n := len(items); n != 2 && n != 3 {
		if f.node.Kind == yaml.SequenceNode {
			f.failf("expected [first, last] or [first, last, step], found a list of %d", n)
		}
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

// rounded is the float with at most 15 digits that is nearest: 0.3 for 0.1 + 0.1 + 0.1.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 15, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// powersOfTwo are the powers of two from first to last, both of which must be one.
func (f field) powersOfTwo() (values []space.Value) {
	items := f.list()
	if len(items) != 2 {
		if f.node.Kind == yaml.SequenceNode {
			f.failf("expected [first, last], found a list of %d", len(items))
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
