package gaussian

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestTrend takes targets that follow one of two functions, which the process itself cannot explain.
func TestTrend(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	x := points(r, 80, 2)
	good, other, targets := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		good[i], other[i] = r.NormFloat64(), r.NormFloat64()
		targets[i] = 3 + 0.6*good[i] - 0.1*other[i] + 0.1*wave(x[i])
	}
	p := New(Matern32, 2)
	p.Condition(x, nil)
	trend := p.Trend(targets, [][]float64{good, other}, []float64{0.5, 0.5}, 0.5, 2)
	if math.Abs(trend[0]-3) > 0.5 || math.Abs(trend[1]-0.6) > 0.1 || trend[2] != 0 {
		t.Errorf("the trend is %v", trend)
	}
	if trend := p.Trend(targets, [][]float64{good, other}, []float64{0.5, 0.5}, 0.5, 0.25); trend[1] != 0.25 {
		t.Errorf("the weight is %v, and may not be above 0.25", trend[1])
	}
}
