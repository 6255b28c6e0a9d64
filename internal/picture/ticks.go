package picture

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// RoundStep is the smallest of …, 0.1, 0.2, 0.5, 1, 2, 5, 10, … that fits into a span at most
// so many times.
func RoundStep(span float64, most int) float64 {
	least := span / float64(most)
	power := math.Pow(10, math.Floor(math.Log10(least)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= least*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

// maxTicks is the number of steps of an axis, at most.
const maxTicks = 10

// LogTicks are round numbers on a logarithmic axis, as many as there is room for.
func LogTicks(low, top float64) []plot.Tick {
	for _, factors := range [][]float64{{1, 1.5, 2, 3, 4, 5, 6, 8}, {1, 2, 3, 5}, {1, 2, 5}, {1, 3}, {1}} {
		var ticks []plot.Tick
		for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(top)); e++ {
			for _, factor := range factors {
				v, err := strconv.ParseFloat(strconv.FormatFloat(factor*math.Pow(10, e), 'g', 3, 64), 64)
				if err == nil && v >= low && v <= top {
					ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', -1, 64)})
				}
			}
		}
		if len(ticks) < maxTicks {
			return ticks
		}
	}
	return plot.LogTicks{Prec: 3}.Ticks(low, top)
}

// DoublingTicks are powers of two on a logarithmic axis, of which all or every second have a
// label.
func DoublingTicks(low, top float64) []plot.Tick {
	var ticks []plot.Tick
	first, last := int(math.Ceil(math.Log2(low)-1e-9)), int(math.Floor(math.Log2(top)+1e-9))
	for e := first; e <= last; e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		if last-first < maxTicks || (e-first)%2 == 0 {
			t.Label = strconv.FormatFloat(t.Value, 'f', -1, 64)
		}
		ticks = append(ticks, t)
	}
	return ticks
}
