package search

import (
	"math"
	"math/bits"

	"github.com/ndtune/ndtune/tune/space"
)

// features describe configurations to a model by numbers from 0 to 1.
type features struct {
	space *space.Space
	of    [][][]float64 // by parameter, by place: its features; none where there is one value
	count int
	row   []int
}

// newFeatures describes numbers by their logarithms, where all values of a parameter are
// positive, and texts by which one it is. A number is described besides by how often two
// divides it: what fits the widths of memory and of groups of work-items is often fast where
// its neighbours are not.
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
			positive := true
			for _, x := range numbers {
				positive = positive && x > 0
			}
			if positive {
				for k := range numbers {
					numbers[k] = math.Log2(numbers[k])
				}
			}
			columns = append(columns, numbers)
			if twos, ok := twosOf(values); ok && len(values) > 2 {
				columns = append(columns, twos)
			}
		}
		of := make([][]float64, len(values))
		for _, column := range columns {
			scale(column)
			for k, x := range column {
				of[k] = append(of[k], x)
			}
		}
		f.of = append(f.of, of)
		f.count += len(columns)
	}
	return f
}

// numbersOf are the values as numbers; conditions are 0 and 1.
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

// categories is a column for each of n values, in which it is what the others are not, so
// that any two are as far apart as the ends of a number's scale.
func categories(n int) [][]float64 {
	columns := make([][]float64, n)
	for i := range columns {
		columns[i] = make([]float64, n)
		columns[i][i] = 1 / math.Sqrt2
	}
	return columns
}

// twosOf is how often two divides each of the values, where these are positive integers and
// not all powers of two: then it would say nothing new.
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

// scale stretches a column from 0 to 1. One of categories, which ends below 1, stays.
func scale(column []float64) {
	lo, hi := column[0], column[0]
	for _, x := range column {
		lo, hi = min(lo, x), max(hi, x)
	}
	if lo == 0 && hi == 1/math.Sqrt2 {
		return
	}
	for i := range column {
		if hi > lo {
			column[i] = (column[i] - lo) / (hi - lo)
		} else {
			column[i] = 0
		}
	}
}

// at are the features of a configuration.
func (f *features) at(index int) []float64 {
	f.row = f.space.Row(index, f.row)
	x := make([]float64, 0, f.count)
	for p, digit := range f.row {
		x = append(x, f.of[p][digit]...)
	}
	return x
}
