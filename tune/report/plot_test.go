package report

import (
	"bytes"
	"math"
	"testing"

	"github.com/ndtune/ndtune/tune"
)

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
