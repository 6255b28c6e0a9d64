package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ndtune/ndtune/internal/picture"
)

var plotSize = vg.Point{X: 22 * vg.Centimeter, Y: 13 * vg.Centimeter}

// Plot draws curves, whose values have a label, over the number of evaluations, each with a band of one standard error on
// either side, and writes the picture to path: a PNG, or by its extension an .svg or a .pdf.
// The legend has them in the order in which they end, the best first. Early evaluations may
// lie below the picture, so that the differences later on can be seen.
func Plot(path, title, label string, curves []Curve) error {
	if err := picture.Check(path); err != nil {
		return err
	}
	if err := plotCurves(path, title, label, curves); err != nil {
		return fmt.Errorf("plot the curves to %s: %w", path, err)
	}
	return nil
}

func plotCurves(path, title, label string, curves []Curve) error {
	if len(curves) == 0 {
		return errors.New("there is nothing to plot")
	}
	p := picture.NewPlot(title)
	p.X.Label.Text = "unique evaluations"
	p.Y.Label.Text = label
	p.Add(plotter.NewGrid())

	legend := picture.NewLegend()
	lines := make([]*plotter.Line, len(curves))
	for i := range curves {
		band, line, err := drawn(&curves[i], picture.Line(i), picture.Faded(picture.Color(i), 0x26))
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
	return picture.Save(path, plotSize, func(c draw.Canvas) {
		p.Draw(picture.BesideLegend(picture.Inside(c), &legend))
	})
}

// drawn is the band and the line of a curve.
func drawn(c *Curve, style draw.LineStyle, shade color.Color) (*plotter.Polygon, *plotter.Line, error) {
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
	area.Color, area.LineStyle.Width = shade, 0
	line, err := plotter.NewLine(points)
	if err != nil {
		return nil, nil, err
	}
	line.LineStyle = style
	return area, line, nil
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
		return cmp.Compare(curves[b].Mean[end], curves[a].Mean[end])
	})
	return order
}
