package report

import (
	"bytes"
	"math"
	"testing"

	"github.com/ndtune/ndtune/tune"
)

// TestTicksOfAlmostNothing: between numbers that differ by rounding there are no round ones, and
// nothing counts on and on to find some.
func TestTicksOfAlmostNothing(t *testing.T) {
	for _, low := range []float64{0.3, 1e17, -1e17, 5e-324} {
		top := math.Nextafter(low, math.Inf(1))
		if ticks := linearTicks(low, top); len(ticks) > 12 {
			t.Errorf("%v to %v: %d ticks", low, top, len(ticks))
		}
	}
}

func TestPlotsOfTimesThatDifferByRounding(t *testing.T) {
	r := synthetic(t, []int{4, 4}, func([]float64) float64 { return 0 })
	for i := range r.Results {
		ms := 0.3
		if i%2 == 0 {
			ms = math.Nextafter(ms, 1)
		}
		r.Results[i].Times, r.Results[i].Objective = []float64{ms}, ms
	}
	r.Header.Objective = tune.Objective{Name: "time"}
	report := mustReport(t, Source{"r", r})
	for _, name := range PlotNames() {
		var b bytes.Buffer
		if err := report.WritePlot(&b, ".svg", Plot{Name: name}); err != nil || b.Len() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
