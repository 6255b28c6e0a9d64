package tune

import (
	"fmt"
	"math"
	"testing"

	"github.com/ndtune/ndtune/tune/score"
)

func TestBetter(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		a, b               float64
		minimise, maximise bool
	}{
		{1, 2, true, false}, {2, 1, false, true}, {1, 1, false, false}, {-1, 0, true, false},
		{1, nan, true, true}, {nan, 1, false, false}, {nan, nan, false, false},
		{1, inf, true, true}, {1, -inf, true, true}, {inf, 1, false, false}, {-inf, 1, false, false}, {inf, nan, false, false},
	} {
		if got := (score.Objective{}).Better(c.a, c.b); got != c.minimise {
			t.Errorf("minimised: %v is better than %v: %t", c.a, c.b, got)
		}
		if got := (score.Objective{Maximize: true}).Better(c.a, c.b); got != c.maximise {
			t.Errorf("maximised: %v is better than %v: %t", c.a, c.b, got)
		}
	}
}

func TestRank(t *testing.T) {
	nan := math.NaN()
	result := func(objective float64) Result { return Result{Status: Correct, Objective: objective} }
	again := func(objective, final float64) Result {
		return Result{Status: Correct, Objective: objective, AtFinal: &score.Judgement{Objective: final}}
	}
	for _, c := range []struct {
		results  []Result
		maximise bool
		want     string
	}{
		{nil, false, "{[] 0}"},
		{[]Result{result(2), result(1), {Status: Compile}, result(nan), result(1), result(math.Inf(-1))}, false, "{[1 4 0] 0}"},
		{[]Result{result(2), result(1), result(3)}, true, "{[2 0 1] 0}"},
		// The finalists come first, also where they were slower than what others took in the search.
		{[]Result{result(1), again(2, 9), again(3, 8), result(0.5)}, false, "{[2 1 3 0] 2}"},
		{[]Result{result(9), again(8, 1), again(7, 2)}, true, "{[2 1 0] 2}"},
		// Equal in the final measurement: the better of the search, then the earlier.
		{[]Result{again(3, 5), again(2, 5), again(2, 5)}, false, "{[1 2 0] 3}"},
		// A final objective that is no number decides nothing.
		{[]Result{result(2), again(1, nan), again(3, 7)}, false, "{[2 1 0] 1}"},
		{[]Result{{Status: Correctness, Objective: 1, AtFinal: &score.Judgement{Objective: 1}}}, false, "{[] 0}"},
	} {
		if got := fmt.Sprint(Rank(score.Objective{Maximize: c.maximise}, c.results)); got != c.want {
			t.Errorf("%+v, maximised %t: %s, want %s", c.results, c.maximise, got, c.want)
		}
	}
}
