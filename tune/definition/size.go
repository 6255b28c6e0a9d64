package definition

import (
	"cmp"
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

// distances returns the distances of two sizes: see [Distances]. Values that are not positive numbers are
// as far apart as 1 and 2 if they differ.
func (s Size) distances(t Size) []float64 {
	a, b := make([]float64, len(s)), make([]float64, len(s))
	for i, c := range s {
		v, isNumber := space.Number(c.Value)
		w, isNumberToo := space.Number(t[i].Value)
		if isNumber && isNumberToo && v > 0 && w > 0 {
			a[i], b[i] = v, w
		} else if !space.SameValue(c.Value, t[i].Value) {
			b[i] = 2
		}
	}
	return Distances(a, b)
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

// Distances returns how far two sizes are apart in each dimension: the factor by which they differ, the largest
// first. Half as large is as far as twice as large. 64×1024 is far from 1024×64, although the volume is the same. Of several
// sizes, the one whose distances come first in lexical order is the nearest, and of those that are equally far, the one of the
// smallest volume.
//
// The largest distance decides, not the sum. A size that is four times as large in one dimension needs other
// blocks there, and the dimensions in which it is equal do not make up for that. The smaller size is nearer
// because the best configuration of a larger problem can have too few work-groups to keep the device busy.
//
// Of whole numbers, equal factors are exactly equal. Values that are not positive count as 1.
func Distances(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		v, w := positiveOr1(a[i]), positiveOr1(b[i])
		d[i] = max(v, w) / min(v, w)
	}
	slices.Sort(d)
	slices.Reverse(d)
	return d
}

func positiveOr1(v float64) float64 {
	if v > 0 {
		return v
	}
	return 1
}

// SortSizes sorts sizes in ascending order of the product of their values. Sizes of the same product
// keep their order.
func SortSizes(sizes []Size) {
	slices.SortStableFunc(sizes, func(a, b Size) int { return compareVolumes(a.volume(), b.volume()) })
}

// compareVolumes compares two logarithms. Rounding does not decide.
func compareVolumes(a, b float64) int {
	if math.Abs(a-b) <= 1e-9 {
		return 0
	}
	return cmp.Compare(a, b)
}

// NearestSizes returns the places of the sizes from the nearest to the farthest of a size: see [Distances]. Of
// equally far sizes of one volume, the later comes first.
func NearestSizes(of Size, sizes []Size) []int {
	places := make([]int, len(sizes))
	for i := range places {
		places[i] = len(sizes) - 1 - i
	}
	slices.SortStableFunc(places, func(a, b int) int {
		return cmp.Or(
			slices.Compare(of.distances(sizes[a]), of.distances(sizes[b])),
			compareVolumes(sizes[a].volume(), sizes[b].volume()),
		)
	})
	return places
}
