// Package picture holds the parts that all pictures of ndtune share: sheets that are written as
// .png, .svg or .pdf by the extension of a file, one palette, and axes with round numbers.
package picture

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/ndtune/ndtune/internal/files"
)

// dpi is the resolution of a PNG, in pixels per inch.
const dpi = 160

// Margin is the white border around a picture.
const Margin = vg.Length(10)

var canvases = map[string]func(vg.Point) vg.CanvasWriterTo{
	".png": func(size vg.Point) vg.CanvasWriterTo {
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(size.X, size.Y), vgimg.UseDPI(dpi))}
	},
	".svg": func(size vg.Point) vg.CanvasWriterTo { return vgsvg.New(size.X, size.Y) },
	".pdf": func(size vg.Point) vg.CanvasWriterTo { return vgpdf.New(size.X, size.Y) },
}

func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// Is reports whether path has the extension of a picture, in upper or lower case.
func Is(path string) bool { return canvases[extension(path)] != nil }

// Check returns an error that lists the extensions of pictures unless [Is] holds for path.
func Check(path string) error {
	if !Is(path) {
		return fmt.Errorf("%s: a picture is a .png, .svg or .pdf", path)
	}
	return nil
}

// Save draws a picture and writes it in the format that the extension of path names. An existing file is replaced only once the
// picture is complete.
func Save(path string, size vg.Point, paint func(draw.Canvas)) error {
	if err := Check(path); err != nil {
		return err
	}
	return files.Write(path, func(w io.Writer) error {
		canvas := canvases[extension(path)](size)
		paint(draw.New(canvas))
		_, err := canvas.WriteTo(w)
		return err
	})
}

// Inside is a canvas without its [Margin].
func Inside(c draw.Canvas) draw.Canvas { return draw.Crop(c, Margin, -Margin, Margin, -Margin) }

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
