package tune

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune/search"
)

// TestFrontIsThatOfTheDefinition compares the front of random values, many of them equal, with its definition.
func TestFrontIsThatOfTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		points := make([][]float64, rng.IntN(20))
		results := make([]Result, len(points))
		for i := range points {
			for range 1 + len(points)%3 {
				points[i] = append(points[i], float64(rng.IntN(5)))
			}
			results[i] = Result{Status: Correct, Times: []float64{1}, Durations: Durations{Build: time.Duration(i)}}
		}
		var want []int
		for i, p := range points {
			if !slices.ContainsFunc(points, func(q []float64) bool { return search.Dominates(q, p) }) &&
				!slices.ContainsFunc(points[:i], func(q []float64) bool { return slices.Equal(p, q) }) {
				want = append(want, i)
			}
		}
		got := frontOf(results, func(r *Result) []float64 { return points[r.Durations.Build] })
		if !slices.IsSortedFunc(got, func(i, j int) int { return slices.Compare(points[i], points[j]) }) {
			t.Fatalf("%v of %v are not in order", got, points)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("the front of %v is %v, want %v", points, got, want)
		}
	}
}

func TestKnee(t *testing.T) {
	for _, c := range []struct {
		front [][]float64
		want  int
	}{
		{[][]float64{{1, 9}, {2, 2}, {9, 1}}, 1},
		{[][]float64{{1, 8}, {2, 4}, {4, 2}, {8, 1}}, -1},   // on the line, by the logarithms
		{[][]float64{{1, 27}, {3, 9}, {9, 3}, {27, 1}}, -1}, // on the line but for rounding
		{[][]float64{{1, -1}, {2, -2}, {3, -3}, {5, -5}, {7, -7}}, -1},
		{[][]float64{{0, 1}, {0.1, 0.9}, {0.3, 0.7}, {0.7, 0.3}, {0.9, 0.1}, {1, 0}}, -1},
		{[][]float64{{0, 0.7}, {0.1, 0.6}, {0.3, 0.4}, {0.6, 0.1}, {0.7, 0}}, -1},
		{[][]float64{{0, 10}, {1, 4}, {5, 3}, {10, 0}}, 1},          // not by them
		{[][]float64{{-100, 9}, {-90, 4}, {-50, 3.5}, {-10, 3}}, 1}, // a rate, maximised
		{[][]float64{{1, 2}, {2, 1}}, -1}, {nil, -1},                // too few
		{[][]float64{{1, 2, 3}, {2, 1, 3}, {3, 1, 2}, {3, 2, 1}}, -1}, // too many objectives
		{[][]float64{{1, 10}, {5, 9.9}, {9.9, 9.8}, {10, 1}}, -1},     // behind the line
	} {
		if got := Knee(c.front); got != c.want {
			t.Errorf("the knee of %v is %d, want %d", c.front, got, c.want)
		}
	}
}
