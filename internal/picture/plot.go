package picture

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Palette is that of Okabe and Ito (Color Universal Design, 2008) without yellow, which is too
// light on white, and with a grey for black. The pages of reports use the same.
var Palette = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermillion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x5f, 0x5f, 0x5f, 0xff}, // grey
}

// Color is the i-th colour of the palette, which repeats.
func Color(i int) color.NRGBA { return Palette[i%len(Palette)] }

// NewPlot is an empty plot with sans-serif text.
func NewPlot() *plot.Plot {
	p := plot.New()
	for _, style := range []*text.Style{&p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		style.Font.Variant = "Sans"
	}
	p.X.Label.Padding, p.Y.Label.Padding = 4, 4
	return p
}

// TextStyle is the style of texts of a size, in points, below a point.
func TextStyle(size vg.Length) text.Style {
	return text.Style{
		Color: color.Black, YAlign: text.YTop, Handler: plot.DefaultTextHandler,
		Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
	}
}

// NewLegend is an empty legend for [BesideLegend].
func NewLegend() plot.Legend {
	legend := plot.NewLegend()
	legend.Top, legend.Left, legend.Padding = true, true, 2
	legend.TextStyle.Font.Variant, legend.TextStyle.Font.Size = "Sans", 9
	return legend
}

// BesideLegend draws a legend at the right of a canvas and returns the room at its left.
func BesideLegend(c draw.Canvas, legend *plot.Legend) draw.Canvas {
	wide := legend.Rectangle(c).Size().X + Margin
	legend.Draw(draw.Crop(c, c.Size().X-wide, 0, 0, -2*Margin))
	return draw.Crop(c, 0, -wide-Margin, 0, 0)
}
