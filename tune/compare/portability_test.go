package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPortability has values computed by hand: 3 / (1 + 2 + 4) and so on.
func TestPortability(t *testing.T) {
	for _, test := range []struct {
		efficiencies []float64
		want         float64
	}{
		{[]float64{1}, 1},
		{[]float64{1, 1, 1}, 1},
		{[]float64{1, 0.5}, 2.0 / 3},
		{[]float64{1, 0.5, 0.25}, 3.0 / 7},
		{[]float64{0.2, 0.2}, 0.2},
		{[]float64{1, 0, 1}, 0}, // it fails on one
		{[]float64{1, math.NaN()}, 0},
		{nil, 0},
	} {
		if got := Portability(test.efficiencies); math.Abs(got-test.want) > 1e-15 {
			t.Errorf("of %v: %v, want %v", test.efficiencies, got, test.want)
		}
	}
}

// TestPortabilityBounds: the harmonic mean is between the least and the largest efficiency, and
// so at most 1; it does not depend on the order.
func TestPortabilityBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		e := make([]float64, 1+random.IntN(8))
		low, high := 1.0, 0.0
		for i := range e {
			e[i] = 1 - random.Float64() // above 0
			low, high = math.Min(low, e[i]), math.Max(high, e[i])
		}
		p := Portability(e)
		if p < low*(1-1e-12) || p > high*(1+1e-12) || p > 1 {
			t.Fatalf("of %v: %v", e, p)
		}
		random.Shuffle(len(e), func(i, j int) { e[i], e[j] = e[j], e[i] })
		if again := Portability(e); math.Abs(again-p) > 1e-12 {
			t.Fatalf("of %v: %v, and in another order %v", e, again, p)
		}
	}
}
