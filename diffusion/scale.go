package diffusion

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"github.com/ndtune/ndtune/internal/picture"
	"gonum.org/v1/plot/palette/moreland"
)

const (
	fewCells   = 32  // hot cells on a linear scale, with fewer of which it is useless
	hotPart    = 0.1 // of the range, above which a cell counts as hot
	decades    = 5   // of a logarithmic scale
	barNumbers = 6   // beside a colour bar at most
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

// ticks are round numbers on the colour bar.
func (s scale) ticks() []tick {
	if s.logarithmic {
		return s.powersOfTen()
	}
	var ticks []tick
	step := picture.RoundStep(s.high-s.low, barNumbers)
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	for i := math.Ceil(s.low/step - 1e-6); i*step <= s.high+1e-6*step; i++ {
		ticks = append(ticks, tick{s.place(i * step), strconv.FormatFloat(i*step, 'f', decimals, 64)})
	}
	return ticks
}

func (s scale) powersOfTen() []tick {
	var ticks []tick
	highest := math.Log10(s.high - s.low)
	for exponent := math.Floor(highest); exponent >= highest-decades; exponent-- {
		label := strconv.FormatFloat(math.Pow10(int(exponent)), 'g', -1, 64)
		ticks = append(ticks, tick{1 + (exponent-highest)/decades, label})
	}
	return ticks
}

// A tick is a number beside a colour bar.
type tick struct {
	at    float64 // 0 at the bottom to 1 at the top
	label string
}

// inferno are ten colours of the map of that name by N. Smith and S. van der Walt, made for
// matplotlib and free of copyright (CC0): its lightness grows evenly from black to light
// yellow, also for those who do not tell colours apart.
var inferno = []color.Color{
	color.NRGBA{0x00, 0x00, 0x04, 0xff},
	color.NRGBA{0x1b, 0x0c, 0x42, 0xff},
	color.NRGBA{0x4b, 0x0c, 0x6b, 0xff},
	color.NRGBA{0x78, 0x1c, 0x6d, 0xff},
	color.NRGBA{0xa5, 0x2c, 0x60, 0xff},
	color.NRGBA{0xcf, 0x44, 0x46, 0xff},
	color.NRGBA{0xed, 0x69, 0x25, 0xff},
	color.NRGBA{0xfb, 0x9a, 0x06, 0xff},
	color.NRGBA{0xf7, 0xd0, 0x3c, 0xff},
	color.NRGBA{0xfc, 0xff, 0xa4, 0xff},
}

// colours are those of the colour bar, from cold to hot.
var colours = between(inferno, 1024)

// between is n colours from the first to the last control, evenly in lightness.
func between(controls []color.Color, n int) []color.NRGBA {
	m, err := moreland.NewLuminance(controls)
	if err != nil {
		panic(fmt.Sprintf("diffusion: %v", err))
	}
	m.SetMin(0)
	m.SetMax(1)
	c := make([]color.NRGBA, n)
	for i := range c {
		at, err := m.At(float64(i) / float64(n-1))
		if err != nil {
			panic(fmt.Sprintf("diffusion: colour %d of %d: %v", i, n, err))
		}
		c[i] = color.NRGBAModel.Convert(at).(color.NRGBA)
	}
	return c
}
