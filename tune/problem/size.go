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

// String returns the constants with their values: n=1024, m=64.
func (s Size) String() string {
	texts := make([]string, len(s))
	for i, c := range s {
		texts[i] = c.Name + "=" + space.FormatValue(c.Value)
	}
	return strings.Join(texts, ", ")
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
