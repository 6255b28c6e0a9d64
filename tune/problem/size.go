package problem

import (
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/space"
)

// A Size is one of several sizes that a problem is tuned at: constants with their values, in the order of
// the problem's constants. All sizes of a problem have the same constants.
type Size []Constant

// String returns the constants with their values: m=64, n=1024. Neighbours of one value share it:
// m=n=k=1024.
func (s Size) String() string {
	var b strings.Builder
	for i, c := range s {
		b.WriteString(c.Name + "=")
		value := space.FormatValue(c.Value)
		switch {
		case i == len(s)-1:
			b.WriteString(value)
		case space.FormatValue(s[i+1].Value) != value:
			b.WriteString(value + ", ")
		}
	}
	return b.String()
}

// Distance returns how far two sizes are apart: the sum over the constants of the factor between the
// values, as a binary logarithm. So 64×1024 is far from 1024×64, although the volume is the same.
// Values that are not positive numbers are 1 apart if they differ.
func (s Size) Distance(t Size) float64 {
	sum := 0.0
	for i, c := range s {
		a, isNumber := space.Number(c.Value)
		b, isNumberToo := space.Number(t[i].Value)
		switch {
		case isNumber && isNumberToo && a > 0 && b > 0:
			sum += math.Abs(math.Log2(a / b))
		case !space.SameValue(c.Value, t[i].Value):
			sum++
		}
	}
	return sum
}

// volume returns the logarithm of the product of the positive numbers.
func (s Size) volume() float64 {
	sum := 0.0
	for _, c := range s {
		if v, ok := space.Number(c.Value); ok && v > 0 {
			sum += math.Log2(v)
		}
	}
	return sum
}

// SortSizes sorts sizes in ascending order of the product of their values. Sizes of the same product
// keep their order.
func SortSizes(sizes []Size) {
	slices.SortStableFunc(sizes, func(a, b Size) int {
		if d := a.volume() - b.volume(); math.Abs(d) > 1e-9 {
			return int(math.Copysign(1, d))
		}
		return 0
	})
}

// NearestSizes returns the places of the sizes from the nearest to the farthest of a size. Of sizes at
// one distance the later comes first.
func NearestSizes(of Size, sizes []Size) []int {
	places := make([]int, len(sizes))
	for i := range places {
		places[i] = len(sizes) - 1 - i
	}
	slices.SortStableFunc(places, func(a, b int) int {
		if d := of.Distance(sizes[a]) - of.Distance(sizes[b]); math.Abs(d) > 1e-9 {
			return int(math.Copysign(1, d))
		}
		return 0
	})
	return places
}
