package score

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
)

// Whatever was measured: the larger the set, the lower the rate; never above what was measured
// at all, never below what memory gives; a copy that moves at a measured rate is at 100 % at
// most.
func TestRatesFollowTheCurve(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 2000 {
		curve := make([]hardware.Bandwidth, r.IntN(10))
		highest := 1 + 100*r.Float64()
		memory := highest
		for i := range curve {
			curve[i] = hardware.Bandwidth{Bytes: 1 << (18 + i), Rate: 1 + 1000*r.Float64()}
			highest = max(highest, curve[i].Rate)
		}
		peaks := &hardware.Peaks{Figures: map[string]hardware.Peak{hardware.PeakMemoryCopy: {Value: memory}}, Copy: curve}
		last := math.Inf(1)
		for set := 1 << 16; set < 1<<30; set += set / 3 {
			rate := peaks.CopyRate(float64(set))
			if rate > last || rate > highest || rate < memory {
				t.Fatalf("%v: %d bytes at %v after %v", curve, set, rate, last)
			}
			last = rate
		}
		for _, b := range curve {
			bytes := float64(b.Bytes)
			if took := bytes / b.Rate / 1e6; movingTime(peaks, bytes, bytes/2, bytes) > took*(1+1e-12) {
				t.Fatalf("%v: the copy of %d bytes takes %v ms, its limit is longer", curve, b.Bytes, took)
			}
		}
	}
}
