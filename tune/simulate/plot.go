package simulate

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The measures of a picture.
const (
	plotWide   = 22 * vg.Centimeter
	plotHigh   = 13 * vg.Centimeter
	plotMargin = 10 * vg.Length(1)
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

func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// CheckPlotPath says whether [Plot] knows the extension of path, so that a bad one is found
// before anything is computed.
func CheckPlotPath(path string) error {
	if canvases[extension(path)] == nil {
		return fmt.Errorf("%s: a picture is a .png, .svg or .pdf", path)
	}
	return nil
}

// Plot draws curves over the number of evaluations, each with a band of one standard error on
// either side, and writes the picture to path: a PNG, or by its extension an .svg or a .pdf.
// The legend has them in the order in which they end, the best first. Early evaluations may
// lie below the picture, so that the differences later on can be seen.
func Plot(path, title string, curves []Curve) error {
	if err := CheckPlotPath(path); err != nil {
		return err
	}
	if err := plotCurves(path, title, curves); err != nil {
		return fmt.Errorf("plot the curves to %s: %w", path, err)
	}
	return nil
}

func plotCurves(path, title string, curves []Curve) error {
	if len(curves) == 0 {
		return errors.New("there is nothing to plot")
	}
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text = "unique evaluations"
	p.Y.Label.Text = "best known / best found"
	p.X.Tick.Marker, p.Y.Tick.Marker = ticker(1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000), ticker(0.05, 0.1, 0.2)
	p.Add(plotter.NewGrid())

	legend := plot.NewLegend()
	legend.Top, legend.Left, legend.Padding = true, true, 2
	lines := make([]*plotter.Line, len(curves))
	for i := range curves {
		band, line, err := drawn(&curves[i], styles[i%len(styles)])
		if err != nil {
			return fmt.Errorf("%s: %w", curves[i].Strategy, err)
		}
		p.Add(band)
		lines[i] = line
	}
	for _, line := range lines {
		p.Add(line) // above all bands
	}
	for _, i := range ranking(curves) {
		legend.Add(curves[i].Strategy, lines[i])
	}
	// Last, for what is added widens them.
	p.X.Min, p.X.Max = 0, float64(len(curves[0].Mean))
	p.Y.Min, p.Y.Max = lowest(curves), 1
	return write(path, p, &legend)
}

// write draws a plot with its legend at the right.
func write(path string, p *plot.Plot, legend *plot.Legend) error {
	sheet := canvases[extension(path)]()
	c := draw.Crop(draw.New(sheet), plotMargin, -plotMargin, plotMargin, -plotMargin)
	wide := legend.Rectangle(c).Size().X
	p.Draw(draw.Crop(c, 0, -wide-plotMargin, 0, 0))
	legend.Draw(draw.Crop(c, c.Size().X-wide, 0, 0, -2*plotMargin))
	var picture bytes.Buffer
	if _, err := sheet.WriteTo(&picture); err != nil {
		return err
	}
	return os.WriteFile(path, picture.Bytes(), 0o666)
}

// drawn is the band and the line of a curve.
func drawn(c *Curve, s style) (*plotter.Polygon, *plotter.Line, error) {
	n := len(c.Mean)
	points, band := make(plotter.XYs, n), make(plotter.XYs, 2*n)
	for i, mean := range c.Mean {
		x, e := float64(i+1), c.StandardError[i]
		if !(e >= 0) {
			e = 0 // one repeat has no band
		}
		points[i] = plotter.XY{X: x, Y: mean}
		band[i] = plotter.XY{X: x, Y: mean + e}
		band[2*n-1-i] = plotter.XY{X: x, Y: mean - e}
	}
	area, err := plotter.NewPolygon(band)
	if err != nil {
		return nil, nil, err
	}
	area.Color, area.LineStyle.Width = s.shade(), 0
	line, err := plotter.NewLine(points)
	if err != nil {
		return nil, nil, err
	}
	line.LineStyle = s.line()
	return area, line, nil
}

// ticker labels an axis in the smallest of these steps, ascending, that gives at most eleven
// labels. The axis begins at 0 or above.
func ticker(steps ...float64) plot.Ticker {
	return plot.TickerFunc(func(low, high float64) []plot.Tick {
		step := steps[len(steps)-1]
		for i := len(steps) - 1; i >= 0 && (high-low)/steps[i] <= 10.5; i-- {
			step = steps[i]
		}
		for (high-low)/step > 10.5 {
			step *= 2
		}
		var ticks []plot.Tick
		for n := max(0, math.Ceil(low/step-1e-9)); n*step <= high+step*1e-9; n++ {
			v := math.Round(n*step*100) / 100
			ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', -1, 64)})
		}
		return ticks
	})
}

// lowest is where the picture begins: a little below the worst curve after a twentieth of the
// evaluations.
func lowest(curves []Curve) float64 {
	low := 1.0
	for _, c := range curves {
		low = min(low, c.Mean[len(c.Mean)/20])
	}
	const step = 0.05
	return max(0, float64(int(low/step-0.5))*step)
}

// ranking is the order of curves by where they end, the best first.
func ranking(curves []Curve) []int {
	order := make([]int, len(curves))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		end := len(curves[a].Mean) - 1
		switch x, y := curves[a].Mean[end], curves[b].Mean[end]; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return order
}
