package matmul

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The measures of a picture.
const (
	plotWide   = 32 * vg.Centimeter
	plotHigh   = 13 * vg.Centimeter
	plotMargin = 10 * vg.Length(1)
	titleHigh  = 22 * vg.Length(1)
	plotDPI    = 160
)

// canvases make a white sheet, by the extension of the file.
var canvases = map[string]func() vg.CanvasWriterTo{
	".png": func() vg.CanvasWriterTo {
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(plotWide, plotHigh), vgimg.UseDPI(plotDPI))}
	},
	".svg": func() vg.CanvasWriterTo { return vgsvg.New(plotWide, plotHigh) },
	".pdf": func() vg.CanvasWriterTo { return vgpdf.New(plotWide, plotHigh) },
}

// IsPicture reports whether [Plot] knows the extension of path: .png, .svg or .pdf.
func IsPicture(path string) bool { return canvases[extension(path)] != nil }

func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// palette is that of Okabe and Ito (Color Universal Design, 2008), without its yellow, as in
// tune/simulate.
var palette = []color.NRGBA{
	{0x00, 0x00, 0x00, 0xff}, // black
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xd5, 0x5e, 0x00, 0xff}, // vermillion
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
}

// Plot draws two panels over N, both axes logarithmic: the time of a multiplication, and its
// rate. Each entrant has a line for the multiplication alone, and a dashed one with both
// transfers where it has any. It writes the picture to path, a .png, .svg or .pdf.
func Plot(path, title string, cells []Cell) error {
	if err := plotCells(path, title, cells); err != nil {
		return fmt.Errorf("plot the times to %s: %w", path, err)
	}
	return nil
}

func plotCells(path, title string, cells []Cell) error {
	lines := linesOf(cells)
	if len(lines) == 0 {
		return errors.New("nothing was measured")
	}
	times, legend, err := panel("milliseconds", lines, func(_ int, ms float64) float64 { return ms })
	if err != nil {
		return err
	}
	rates, _, err := panel("GFLOP/s", lines, Rate)
	if err != nil {
		return err
	}
	sheet := canvases[extension(path)]()
	c := draw.Crop(draw.New(sheet), plotMargin, -plotMargin, plotMargin, -plotMargin)
	c.FillText(text.Style{
		Color: color.Black, YAlign: text.YTop, Handler: plot.DefaultTextHandler, Font: font.From(plot.DefaultFont, 13),
	}, vg.Point{X: c.Min.X, Y: c.Max.Y}, title)
	c = draw.Crop(c, 0, 0, 0, -titleHigh)
	legendWide := legend.Rectangle(c).Size().X + plotMargin
	panels := draw.Crop(c, 0, -legendWide-plotMargin, 0, 0)
	aligned := plot.Align([][]*plot.Plot{{times, rates}}, draw.Tiles{Rows: 1, Cols: 2, PadX: plotMargin}, panels)
	times.Draw(aligned[0][0])
	rates.Draw(aligned[0][1])
	legend.Draw(draw.Crop(c, c.Size().X-legendWide, 0, 0, 0))
	var picture bytes.Buffer
	if _, err := sheet.WriteTo(&picture); err != nil {
		return err
	}
	return os.WriteFile(path, picture.Bytes(), 0o666)
}

// A plotted line is the times of one entrant, alone or with transfers.
type plottedLine struct {
	name  string
	style draw.LineStyle
	n     []int
	ms    []float64
}

// linesOf are the lines of all entrants, in the order of the cells. What takes no time by the
// clock has no place on a logarithmic axis.
func linesOf(cells []Cell) []*plottedLine {
	var names []string
	alone, transfers := map[string]*plottedLine{}, map[string]*plottedLine{}
	add := func(l *plottedLine, n int, ms float64) {
		if ms > 0 {
			l.n, l.ms = append(l.n, n), append(l.ms, ms)
		}
	}
	for _, c := range cells {
		if alone[c.Entrant] == nil {
			style := draw.LineStyle{Color: palette[len(names)%len(palette)], Width: 1.4}
			if len(names) >= len(palette) {
				style.Width = 2.6
			}
			dashed := style
			dashed.Dashes = []vg.Length{4, 3}
			alone[c.Entrant] = &plottedLine{name: c.Entrant, style: style}
			transfers[c.Entrant] = &plottedLine{name: c.Entrant + ", with transfers", style: dashed}
			names = append(names, c.Entrant)
		}
		if c.Measurement == nil {
			continue
		}
		add(alone[c.Entrant], c.N, c.Measurement.Time())
		if len(c.Measurement.RoundTrips) > 0 {
			add(transfers[c.Entrant], c.N, c.Measurement.WithTransfers())
		}
	}
	var lines []*plottedLine
	for _, name := range names {
		for _, l := range []*plottedLine{alone[name], transfers[name]} {
			if len(l.n) > 0 {
				lines = append(lines, l)
			}
		}
	}
	return lines
}

// panel is a plot of a value of all lines over N, and its legend.
func panel(unit string, lines []*plottedLine, value func(n int, ms float64) float64) (*plot.Plot, *plot.Legend, error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = "N", unit
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker = plot.TickerFunc(sizeTicks)
	p.Y.Tick.Marker = plot.TickerFunc(decadeTicks)
	p.Add(plotter.NewGrid())
	legend := plot.NewLegend()
	legend.Top, legend.Left, legend.Padding = true, true, 2
	for _, l := range lines {
		points := make(plotter.XYs, len(l.n))
		for i, n := range l.n {
			points[i] = plotter.XY{X: float64(n), Y: value(n, l.ms[i])}
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", l.name, err)
		}
		line.LineStyle = l.style
		dots.GlyphStyle = draw.GlyphStyle{Color: l.style.Color, Radius: 1.8, Shape: draw.CircleGlyph{}}
		p.Add(line, dots)
		legend.Add(l.name, line)
	}
	if p.X.Min == p.X.Max { // one size only
		p.X.Min, p.X.Max = p.X.Min/2, p.X.Max*2
	}
	// To powers of ten, so that there are two at least to label.
	p.Y.Min = math.Pow10(int(math.Floor(math.Log10(p.Y.Min))))
	p.Y.Max = math.Pow10(int(math.Floor(math.Log10(p.Y.Max))) + 1)
	return p, &legend, nil
}

// decadeTicks labels the powers of ten, with 2 to 9 times as much between them.
func decadeTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	first, last := int(math.Round(math.Log10(low))), int(math.Round(math.Log10(high)))
	for e := first; e <= last; e++ {
		power := math.Pow10(e)
		ticks = append(ticks, plot.Tick{Value: power, Label: strconv.FormatFloat(power, 'f', -1, 64)})
		for i := 2; i < 10 && e < last; i++ {
			ticks = append(ticks, plot.Tick{Value: float64(i) * power})
		}
	}
	return ticks
}

// sizeTicks labels the powers of two, all or every second.
func sizeTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	first, last := int(math.Ceil(math.Log2(low)-1e-9)), int(math.Floor(math.Log2(high)+1e-9))
	for e := first; e <= last; e++ {
		t := plot.Tick{Value: math.Exp2(float64(e))}
		if last-first < 10 || (e-first)%2 == 0 {
			t.Label = strconv.FormatFloat(t.Value, 'f', -1, 64)
		}
		ticks = append(ticks, t)
	}
	return ticks
}
