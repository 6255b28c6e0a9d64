package simulate

import (
	"math"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/search"
	"github.com/ndtune/ndtune/tune/space"
)

// TestFrontOfARecording follows a search over two objectives: a time, and a rate that is maximised.
func TestFrontOfARecording(t *testing.T) {
	r := recorded(t, 1, failed, 4, 2, 8)
	for i, rate := range []float64{1, 0, 4, 1, 3} { // the third and the first make the front
		r.Results[i].Metrics = []judge.MetricValue{{Name: "rate", Value: rate}}
	}
	if err := r.SetObjective(judge.Objective{Name: "time", More: []judge.Objective{{Name: "rate", Maximize: true}}}); err != nil {
		t.Fatal(err)
	}
	n, err := NewRecording(t.Context(), "r", r)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{batches: [][]int{{1}, {4}, {3}, {0}, {2}}}
	strategy := Strategy{"s", func(*space.Space, search.Options) (search.Strategy, error) { return s, nil }}
	curves := mustRun(t, Plan{Strategies: []Strategy{strategy}, Recordings: []*Recording{n}, MaxEvaluations: 5, Repeats: 1})
	// In units of ln 4, the front is (0, 0) and (1, -1), and the reference point (1.1, 0.1).
	whole := 1.1*0.1 + 0.1*1
	one := (1.1 - 0.5) * 0.1 / whole
	want := []float64{0, 0, one, 1.1 * 0.1 / whole, 1}
	if n.FrontSize() != 2 || !slices.EqualFunc(curves[0].Mean, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		t.Errorf("the front of %d has the curve %v, want %v", n.FrontSize(), curves[0].Mean, want)
	}
	if told := s.told[1][0]; told.Objective != 8 || !slices.Equal(told.More, []float64{-3}) {
		t.Errorf("the strategy is told %+v", told)
	}
	if err := r.SetObjective(judge.Objective{Name: "time", More: []judge.Objective{{Name: "rates"}}}); err == nil {
		t.Error("an unknown metric is an objective")
	}
}
