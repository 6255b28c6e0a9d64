package report

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
)

// okabeIto is the palette of Okabe and Ito (Color Universal Design, 2008) without yellow and
// black, as in the page.
var okabeIto = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x5f, 0x5f, 0x5f, 0xff},
}

func runColor(i int) color.NRGBA { return okabeIto[i%len(okabeIto)] }

func faded(c color.NRGBA, alpha uint8) color.NRGBA {
	c.A = alpha
	return c
}

// logTicks are round numbers on a logarithmic axis, as many as there is room for.
func logTicks(low, top float64) []plot.Tick {
	for _, steps := range [][]float64{{1, 1.5, 2, 3, 4, 5, 6, 8}, {1, 2, 3, 5}, {1, 2, 5}, {1, 3}, {1}} {
		var ticks []plot.Tick
		for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(top)); e++ {
			for _, s := range steps {
				text := strconv.FormatFloat(s*math.Pow(10, e), 'g', 3, 64)
				v, err := strconv.ParseFloat(text, 64)
				if err == nil && v >= low && v <= top {
					ticks = append(ticks, plot.Tick{Value: v, Label: text})
				}
			}
		}
		if len(ticks) <= 9 {
			return ticks
		}
	}
	return plot.LogTicks{Prec: 3}.Ticks(low, top)
}

// newPlot is an empty plot in the style of all.
func newPlot(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.Title.Padding = title, 8
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font.Variant = "Sans"
	}
	p.Title.TextStyle.Font.Size, p.Legend.TextStyle.Font.Size = 12, 9
	p.X.Label.Padding, p.Y.Label.Padding, p.Legend.Padding = 4, 4, 3
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(linearTicks), plot.TickerFunc(linearTicks)
	return p
}

// linearTicks are six or so round numbers; none where rounding leaves no room for them.
func linearTicks(low, top float64) []plot.Tick {
	if !apart(low, top) {
		return nil
	}
	rough := (top - low) / 6
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	var ticks []plot.Tick
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		step := m * power
		if step < rough {
			continue
		}
		for n := math.Ceil(low / step); n*step <= top; n++ {
			text := strconv.FormatFloat(n*step, 'g', 12, 64)
			ticks = append(ticks, plot.Tick{Value: n * step, Label: text})
		}
		break
	}
	return ticks
}

// apart reports whether two numbers differ by more than rounding. Between others, counting in
// steps of their difference would not end.
func apart(low, top float64) bool {
	return top-low > 1e-10*math.Max(math.Abs(low), math.Abs(top))
}
