package diffusion

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

const (
	fewCells = 32  // hot cells on a linear scale, with fewer of which it is useless
	hotPart  = 0.1 // of the range, above which a cell counts as hot
	decades  = 5   // of a logarithmic scale
)

// A scale gives temperatures their place between 0 and 1 on a colour bar.
type scale struct {
	low, high   float64 // degrees
	logarithmic bool    // in the degrees above low: from high − low down by some decades
}

// scaleOf is the scale from the lowest to the highest of values. Values that are not finite do
// not count.
func scaleOf(values []float64) scale {
	s := scale{low: math.Inf(1), high: math.Inf(-1)}
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			s.low, s.high = min(s.low, v), max(s.high, v)
		}
	}
	switch {
	case s.low > s.high: // no value at all
		return scale{low: 0, high: 1}
	case s.high-s.low <= 1e-6*max(math.Abs(s.low), math.Abs(s.high)): // nothing but rounding
		middle := s.low/2 + s.high/2
		reach := max(math.Abs(middle)/2, 0.5)
		return scale{low: middle - reach, high: middle + reach}
	}
	hot := 0
	for _, v := range values {
		if v > s.low+hotPart*(s.high-s.low) {
			hot++
		}
	}
	s.logarithmic = hot < min(fewCells, len(values)/fewCells)
	return s
}

// place is where a temperature stands, and NaN for a NaN.
func (s scale) place(v float64) float64 {
	at := (v - s.low) / (s.high - s.low)
	if s.logarithmic {
		at = 1 + math.Log10(max(at, math.Pow10(-decades)))/decades
	}
	return min(max(at, 0), 1)
}

// unit says what the numbers beside the colour bar are.
func (s scale) unit() string {
	if s.logarithmic {
		return "° above " + strconv.FormatFloat(s.low, 'g', 4, 64)
	}
	return "degrees"
}

// A tick is a number beside a colour bar.
type tick struct {
	at    float64 // 0 to 1
	label string
}

func (s scale) ticks() []tick {
	var ticks []tick
	if s.logarithmic {
		highest := math.Log10(s.high - s.low)
		for exponent := math.Floor(highest); exponent >= highest-decades; exponent-- {
			ticks = append(ticks, tick{1 + (exponent-highest)/decades, fmt.Sprint(math.Pow10(int(exponent)))})
		}
		return ticks
	}
	for _, t := range (plot.DefaultTicks{}).Ticks(s.low, s.high) {
		if !t.IsMinor() {
			ticks = append(ticks, tick{s.place(t.Value), t.Label})
		}
	}
	return ticks
}

// cellTicks are the numbers of columns or rows beside a side of a heat map.
func cellTicks(n int, side vg.Length) []int {
	most := int(side / 40) // numbers that fit
	step := 1
	for i := 0; n/step > most && step < n; i++ {
		step = []int{2, 5, 10}[i%3] * int(math.Pow10(i/3))
	}
	var ticks []int
	for t := 0; t <= n; t += step {
		ticks = append(ticks, t)
	}
	return ticks
}
