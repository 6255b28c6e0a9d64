package search

import (
	"math"
	"math/bits"
	"slices"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/space"
)

// features describe configurations to a model as numbers from 0 to 1.
type features struct {
	space *space.Space
	axes  [][]axis      // by parameter, none if there is one value
	of    [][][]float64 // by parameter and place: the features
	count int
	row   []int
}

// within returns how many of at most n points have no more features in all than work.
func (f *features) within(n, work int) int { return min(n, work/max(1, f.count)) }

// An axis is a feature of a parameter: a number for each of its values, which is mapped linearly so that low becomes 0 and
// high 1.
type axis struct {
	number    func(space.Value) float64
	low, high float64
	// usual is the length scale that is expected before anything is observed.
	usual float64
}

// The usual length scales are about the medians of those that were fitted to 250 random configurations of each of eleven recorded
// spaces (docs/strategies.md#the-model).
const (
	usualNumber = 0.7 // of a number with more than two values
	usualTwos   = 1.7 // of how often two divides it
	usualSwitch = 4.0 // of a parameter with two values
	usualText   = 1.0
)

// newFeatures describes a number by itself, or by its logarithm if all values of the parameter
// are positive, and a text by one feature for each possible text. A further feature of integers
// is how often two divides them: multiples of the widths of memory and of groups of work-items
// are often fast when their neighbours are not.
func newFeatures(s *space.Space) *features {
	f := &features{space: s}
	p := s.Parameters()
	for i := range p.Len() {
		values := p.At(i).Values
		axes := axesOf(values)
		of := each.Of(values, func(v space.Value) []float64 { return described(axes, v) })
		f.axes, f.of = append(f.axes, axes), append(f.of, of)
		f.count += len(axes)
	}
	return f
}

func axesOf(values []space.Value) []axis {
	if len(values) < 2 {
		return nil
	}
	if slices.ContainsFunc(values, func(v space.Value) bool { return math.IsNaN(numberOf(v)) }) {
		var axes []axis
		for _, text := range values {
			// The distance between any two texts is 1, that between the ends of a number's scale.
			is := func(v space.Value) float64 {
				if v == text {
					return 1 / math.Sqrt2
				}
				return 0
			}
			axes = append(axes, axis{is, 0, 1, usualText})
		}
		return axes
	}
	number, usual := numberOf, usualNumber
	if !slices.ContainsFunc(values, func(v space.Value) bool { return numberOf(v) <= 0 }) {
		number = func(v space.Value) float64 { return math.Log2(numberOf(v)) }
	}
	if len(values) == 2 {
		usual = usualSwitch
	}
	axes := []axis{fitted(axis{number: number, usual: usual}, values)}
	if len(values) > 2 && twosTell(values) {
		axes = append(axes, fitted(axis{number: twos, usual: usualTwos}, values))
	}
	return axes
}

// fitted returns an axis on which the values reach from 0 to 1.
func fitted(a axis, values []space.Value) axis {
	a.low, a.high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		a.low, a.high = min(a.low, a.number(v)), max(a.high, a.number(v))
	}
	return a
}

// described returns the features of a value, which need not be among those of the parameter: NaN if it has no place on an axis.
func described(axes []axis, v space.Value) []float64 {
	x := make([]float64, len(axes))
	for k, a := range axes {
		if a.high > a.low {
			x[k] = (a.number(v) - a.low) / (a.high - a.low)
		}
	}
	return x
}

// numberOf returns a value as a number, false and true as 0 and 1, and NaN for a text.
func numberOf(v space.Value) float64 {
	if f, ok := space.Number(v); ok {
		return f
	}
	return math.NaN()
}

// twosTell reports whether all values are positive integers, and not all are powers of two, whose logarithm says the same.
func twosTell(values []space.Value) bool {
	tell := false
	for _, v := range values {
		n, ok := v.(int)
		if !ok || n <= 0 {
			return false
		}
		tell = tell || n&(n-1) != 0
	}
	return tell
}

// twos returns how often two divides an integer.
func twos(v space.Value) float64 {
	n, ok := v.(int)
	if !ok || n == 0 {
		return math.NaN()
	}
	return float64(bits.TrailingZeros(uint(n)))
}

// at returns the features of a configuration.
func (f *features) at(index int) []float64 {
	f.row = f.space.Row(index, f.row)
	x := make([]float64, 0, f.count)
	for p, digit := range f.row {
		x = append(x, f.of[p][digit]...)
	}
	return x
}

// describe returns the features of a configuration with any values of the parameters. It returns false if a value has no place among
// them, such as a text that is not in the parameter's list.
func (f *features) describe(c space.Configuration) ([]float64, bool) {
	x := make([]float64, 0, f.count)
	for p, axes := range f.axes {
		v, _ := c.Get(f.space.Parameters().At(p).Name)
		x = append(x, described(axes, v)...)
	}
	return x, !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// usual returns the usual length scale of each feature.
func (f *features) usual() []float64 {
	var scales []float64
	for _, axes := range f.axes {
		for _, a := range axes {
			scales = append(scales, a.usual)
		}
	}
	return scales
}

const (
	// spreadOf is the size of the random sample of the space from which configurations that are spread over it are taken, and spreadMost
	// the number of these that suffices for a search with many evaluators.
	spreadOf, spreadMost = 1000, 64
)

// spread returns at most n configurations that are spread over the valid part of the space: the one in the middle of a random sample, and
// then always the one that is farthest from all before it (Kennard and Stone, «Computer aided design of experiments», Technometrics
// 11(1), 1969).
func (f *features) spread(sample []int, n int) []int {
	x := make([][]float64, len(sample))
	middle := make([]float64, f.count)
	for k, i := range sample {
		x[k] = f.at(i)
		for q, v := range x[k] {
			middle[q] += v / float64(len(sample))
		}
	}
	away := make([]float64, len(sample)) // from the nearest one that is taken
	for k := range x {
		away[k] = -apart(x[k], middle)
	}
	var taken []int
	for len(taken) < min(n, len(sample)) {
		next := 0
		for k := range away {
			if away[k] > away[next] {
				next = k
			}
		}
		taken = append(taken, sample[next])
		for k := range away {
			if d := apart(x[k], x[next]); len(taken) == 1 || d < away[k] {
				away[k] = d
			}
		}
	}
	return taken
}

// apart returns the square of the distance of two configurations by their features.
func apart(x, y []float64) float64 {
	sum := 0.0
	for k, v := range x {
		sum += (v - y[k]) * (v - y[k])
	}
	return sum
}
