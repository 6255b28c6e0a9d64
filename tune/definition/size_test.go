package definition

import (
	"fmt"
	"testing"
)

func sizes(values ...[2]int) (all []Size) {
	for _, v := range values {
		all = append(all, Size{{Name: "m", Value: v[0]}, {Name: "n", Value: v[1]}})
	}
	return all
}

// TestNearestSizes: sizes are near by their largest distance in a dimension, neither by their volume nor by the
// sum of the distances. Of two that are equally far, the smaller one is nearer, or the later one of one volume.
func TestNearestSizes(t *testing.T) {
	tuned := sizes([2]int{64, 1024}, [2]int{256, 256}, [2]int{512, 128})
	for _, c := range []struct {
		of   [2]int
		want string
	}{
		{[2]int{1024, 64}, "[2 1 0]"}, // all four have the same volume
		{[2]int{64, 2048}, "[0 1 2]"},
		{[2]int{256, 256}, "[1 2 0]"},
		{[2]int{128, 512}, "[1 0 2]"},
	} {
		if got := fmt.Sprint(NearestSizes(sizes(c.of)[0], tuned)); got != c.want {
			t.Errorf("%v: %s, want %s", c.of, got, c.want)
		}
	}
	uneven := sizes([2]int{16, 64}, [2]int{24, 24}, [2]int{128, 64}, [2]int{64, 32})
	if got := fmt.Sprint(NearestSizes(sizes([2]int{64, 64})[0], uneven)); got != "[3 2 1 0]" {
		t.Errorf("uneven sizes: %s", got)
	}
	texts := []Size{{{Name: "layout", Value: "rows"}}, {{Name: "layout", Value: "columns"}}}
	if got := fmt.Sprint(NearestSizes(Size{{Name: "layout", Value: "rows"}}, texts)); got != "[0 1]" {
		t.Errorf("texts: %s", got)
	}
}

func TestSortSizes(t *testing.T) {
	all := sizes([2]int{512, 512}, [2]int{1024, 8}, [2]int{8, 1024}, [2]int{16, 16})
	SortSizes(all)
	if got := fmt.Sprint(all); got != "[m=n=16 m=1024, n=8 m=8, n=1024 m=n=512]" {
		t.Error(got)
	}
}
