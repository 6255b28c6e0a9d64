package diffusion

import (
	"math"

	"gonum.org/v1/plot/vg"
)

const (
	barNumbers = 6                 // beside a colour bar at most
	cellApart  = 36 * vg.Length(1) // numbers beside a heat map at least
)

// A tick is a number beside a colour bar.
type tick struct {
	at    float64 // 0 at the bottom to 1 at the top
	label string
}

// roundStep is the smallest of …, 0.1, 0.2, 0.5, 1, 2, 5, 10, … that goes into a span no more
// often than it should.
func roundStep(span float64, most int) float64 {
	least := span / float64(most)
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= least*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

// cellTicks are the numbers of columns or rows beside a side of a heat map.
func cellTicks(n int, side vg.Length) []int {
	step := max(1, int(roundStep(float64(n), max(1, int(side/cellApart)))))
	var ticks []int
	for t := 0; t <= n; t += step {
		ticks = append(ticks, t)
	}
	return ticks
}
