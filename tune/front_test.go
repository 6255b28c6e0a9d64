package tune

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

// TestNonDominated compares the front of random points, many of them equal in a value, with its definition.
func TestNonDominated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		points := make([][]float64, rng.IntN(20))
		for i := range points {
			for range 1 + len(points)%3 {
				points[i] = append(points[i], float64(rng.IntN(5)))
			}
		}
		var want []int
		for i, p := range points {
			if !slices.ContainsFunc(points, func(q []float64) bool { return search.Dominates(q, p) }) &&
				!slices.ContainsFunc(points[:i], func(q []float64) bool { return slices.Equal(p, q) }) {
				want = append(want, i)
			}
		}
		got := NonDominated(points)
		if !slices.IsSortedFunc(got, func(i, j int) int { return slices.Compare(points[i], points[j]) }) {
			t.Fatalf("%v of %v are not in order", got, points)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("the front of %v is %v, want %v", points, got, want)
		}
	}
}

// tradeoff is a problem whose configurations i = 0 … n-1 get slower and need less watts.
func tradeoff(t *testing.T, n int, choose string) *problem.Problem {
	d := lineDefinition(n)
	d.Metrics = []task.Metric{{Name: "watts", Expression: "10 * abs(i - 6) + 100 / (1 + i)"}}
	d.Objective = judge.Objective{Name: "time", More: []judge.Objective{{Name: "watts"}}, Choose: choose}
	return mustProblem(t, d)
}

// TestChoice runs a search with each kind of choice, and ranks by the final measurement.
func TestChoice(t *testing.T) {
	slower := func(c space.Configuration) Result {
		return Result{Status: Correct, Times: []float64{float64(1 + c.Int("i"))}}
	}
	for _, c := range []struct{ choose, first, front string }{
		{"", "0", "[0 1 2 3 4 5 6]"},
		{"watts <= 1.9 * best.watts", "5", "[0 1 2 3 4 5 6]"}, // 26.7 of 14.3
		{"watts <= 14 and time < 4", "0", "[0 1 2 3 4 5 6]"},  // none
		{"time / best.time + watts / best.watts", "4", "[0 1 2 3 4 5 6]"},
		{"-time", "6", "[0 1 2 3 4 5 6]"},
	} {
		p := tradeoff(t, 9, c.choose)
		o := mustRun(t, p, &fake{answer: slower}, Options{})
		front := Front(p.Objective(), o.Results)
		if got := bestKey(o); got != c.first || fmt.Sprint(front) != c.front {
			t.Errorf("%q: the winner is %s of %v, want %s of %s", c.choose, got, front, c.first, c.front)
		}
		places := Rank(p.Objective(), o.Results).Indices
		if last := places[len(places)-2:]; len(places) != 9 || !slices.Contains(last, 7) || !slices.Contains(last, 8) {
			t.Errorf("%q: the dominated results are not the last of %v", c.choose, places)
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
