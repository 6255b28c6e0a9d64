package matmul

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ndtune/ndtune/internal/picture"
)

var plotSize = vg.Point{X: 32 * vg.Centimeter, Y: 13 * vg.Centimeter}

// Plot draws two panels over N of square matrices, both axes logarithmic: the time of a multiplication, and its
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
		return errors.New("nothing was measured with square matrices")
	}
	times, legend, err := panel("milliseconds", lines, func(_ int, ms float64) float64 { return ms })
	if err != nil {
		return err
	}
	rates, _, err := panel("GFLOP/s", lines, func(n int, ms float64) float64 { return Square(n).Rate(ms) })
	if err != nil {
		return err
	}
	return picture.Save(path, plotSize, func(c draw.Canvas) {
		c = picture.Inside(c)
		c.FillText(picture.TextStyle(13), vg.Point{X: c.Min.X, Y: c.Max.Y}, title)
		panels := picture.BesideLegend(draw.Crop(c, 0, 0, 0, -2*picture.Margin), legend)
		aligned := plot.Align([][]*plot.Plot{{times, rates}}, draw.Tiles{Rows: 1, Cols: 2, PadX: picture.Margin}, panels)
		times.Draw(aligned[0][0])
		rates.Draw(aligned[0][1])
	})
}

// A plottedLine holds the times of an entrant, alone or with transfers.
type plottedLine struct {
	name  string
	style draw.LineStyle
	n     []int
	ms    []float64
}

// add adds a time, unless it is 0 by the clock, which has no place on a logarithmic axis.
func (l *plottedLine) add(n int, ms float64) {
	if ms > 0 {
		l.n, l.ms = append(l.n, n), append(l.ms, ms)
	}
}

// linesOf returns the lines of all entrants, in the order of the cells.
func linesOf(cells []Cell) []*plottedLine {
	var lines []*plottedLine
	for i, name := range entrantsOf(cells) {
		style := draw.LineStyle{Color: picture.Color(i), Width: 1.4 + 1.2*vg.Length(i/len(picture.Palette))}
		alone := &plottedLine{name: name, style: style}
		style.Dashes = []vg.Length{4, 3}
		transfers := &plottedLine{name: name + ", with transfers", style: style}
		for _, c := range cells {
			if m := c.Measurement; c.Entrant == name && m != nil && c.Shape.IsSquare() {
				alone.add(c.Shape.N, m.Time())
				if len(m.RoundTrips) > 0 {
					transfers.add(c.Shape.N, m.WithTransfers())
				}
			}
		}
		lines = append(lines, alone, transfers)
	}
	return slices.DeleteFunc(lines, func(l *plottedLine) bool { return len(l.n) == 0 })
}

// panel returns a plot of a value of all lines over N, and its legend.
func panel(unit string, lines []*plottedLine, value func(n int, ms float64) float64) (*plot.Plot, *plot.Legend, error) {
	p := picture.NewPlot()
	p.X.Label.Text, p.Y.Label.Text = "N", unit
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(picture.DoublingTicks), plot.TickerFunc(picture.LogTicks)
	p.Add(plotter.NewGrid())
	legend := picture.NewLegend()
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
	if p.Y.Min == p.Y.Max {
		p.Y.Min, p.Y.Max = p.Y.Min/2, p.Y.Max*2
	}
	return p, &legend, nil
}
