package search

import (
	"math"
	"math/bits"
	"slices"

	"github.com/ndtune/ndtune/tune/space"
)

// features describe configurations to a model as numbers from 0 to 1.
type features struct {
	space *space.Space
	of    [][][]float64 // by parameter and place: the features, none if there is one value
	count int
	row   []int
}

// newFeatures describes a number by itself, or by its logarithm if all values of the parameter
// are positive, and a text by one feature for each possible text. A further feature of integers
// is how often two divides them: multiples of the widths of memory and of groups of work-items
// are often fast when their neighbours are not.
func newFeatures(s *space.Space) *features {
	f := &features{space: s}
	p := s.Parameters()
	for i := range p.Len() {
		values := p.At(i).Values
		var columns [][]float64
		switch numbers, ok := numbersOf(values); {
		case len(values) < 2:
		case !ok:
			columns = categories(len(values))
		default:
			if slices.Min(numbers) > 0 {
				for k := range numbers {
					numbers[k] = math.Log2(numbers[k])
				}
			}
			columns = append(columns, scale(numbers))
			if twos, ok := twosOf(values); ok && len(values) > 2 {
				columns = append(columns, scale(twos))
			}
		}
		of := make([][]float64, len(values))
		for _, column := range columns {
			for k, x := range column {
				of[k] = append(of[k], x)
			}
		}
		f.of = append(f.of, of)
		f.count += len(columns)
	}
	return f
}

// numbersOf returns values as numbers, false and true as 0 and 1. It returns false if there is a
// text among them.
func numbersOf(values []space.Value) ([]float64, bool) {
	numbers := make([]float64, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case int:
			numbers[i] = float64(v)
		case float64:
			numbers[i] = v
		case bool:
			if v {
				numbers[i] = 1
			}
		default:
			return nil, false
		}
	}
	return numbers, true
}

// categories returns a column for each of n values, in which only this value is not 0. The
// distance between any two values is 1, that between the ends of a number's scale.
func categories(n int) [][]float64 {
	columns := make([][]float64, n)
	for i := range columns {
		columns[i] = make([]float64, n)
		columns[i][i] = 1 / math.Sqrt2
	}
	return columns
}

// twosOf returns how often two divides each value. It returns false unless all values are
// positive integers, and if all are powers of two, whose logarithm says the same.
func twosOf(values []space.Value) ([]float64, bool) {
	twos := make([]float64, len(values))
	says := false
	for i, v := range values {
		n, ok := v.(int)
		if !ok || n <= 0 {
			return nil, false
		}
		twos[i] = float64(bits.TrailingZeros(uint(n)))
		says = says || n&(n-1) != 0
	}
	return twos, says
}

// scale maps a column linearly to the range from 0 to 1.
func scale(column []float64) []float64 {
	lo, hi := slices.Min(column), slices.Max(column)
	for i := range column {
		if hi > lo {
			column[i] = (column[i] - lo) / (hi - lo)
		} else {
			column[i] = 0
		}
	}
	return column
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
