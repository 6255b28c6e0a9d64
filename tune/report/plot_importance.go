package report

import (
	"fmt"
	"image/color"
	"math"

	"github.com/ndtune/ndtune/internal/picture"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

func (run *Run) plotImportance(p *plot.Plot) error {
	m := run.Importance
	if m.Missing != "" {
		return fmt.Errorf("there is no importance to plot: %s", m.Missing)
	}
	p.Title.Text = run.Title()
	p.X.Label.Text = "share of the variance of log " + run.Objective.Name + " (%), with others and alone"
	n := len(m.Parameters)
	total, alone, names := make(plotter.Values, n), make(plotter.Values, n), make([]string, n)
	for i, q := range m.Parameters {
		at := n - 1 - i // the first on top
		names[at], total[at] = q.Name, 100*q.Total
		if q.Alone != nil {
			alone[at] = 100 * *q.Alone
		}
	}
	width := vg.Length(math.Min(14, 220/float64(n)/2.4))
	for _, bars := range []struct {
		name   string
		values plotter.Values
		color  color.Color
		offset vg.Length
	}{{"with others", total, picture.Color(0), width / 2}, {"alone", alone, picture.Color(5), -width / 2}} {
		b, err := plotter.NewBarChart(bars.values, width)
		if err != nil {
			return err
		}
		b.Horizontal, b.Color, b.Offset, b.LineStyle.Width = true, bars.color, bars.offset, 0
		p.Add(b)
		p.Legend.Add(bars.name, b)
	}
	p.NominalY(names...)
	p.X.Min = 0
	p.Legend.Top = false
	return nil
}
