package report

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/internal/picture"
)

// A Plot says which plot a picture shows.
type Plot struct {
	Name string // one of [PlotNames]; empty: the first
	// Parameters are those of a scatter (one) and of a heat map (two). By default they are the
	// most important ones.
	Parameters []string
}

// PlotNames are the plots that a picture can show.
func PlotNames() []string {
	return []string{"best-so-far", "distribution", "scatter", "heat-map", "importance"}
}

// CheckPlot says whether there is a plot of this name.
func CheckPlot(name string) error {
	if name != "" && !slices.Contains(PlotNames(), name) {
		return fmt.Errorf("no plot is named %q%s (there are %s)", name, nearest.Hint(name, PlotNames()), strings.Join(PlotNames(), ", "))
	}
	return nil
}

// CheckParameters says whether a plot can show the parameters that are asked for.
func (r *Report) CheckParameters(which Plot) error {
	if len(which.Parameters) == 0 {
		return nil
	}
	switch which.Name {
	case "scatter":
		_, err := r.Runs[0].chosen(which.Parameters, 1)
		return err
	case "heat-map":
		_, err := r.Runs[0].chosen(which.Parameters, 2)
		return err
	}
	return errors.New("a scatter has one, and a heat map two; other plots have none")
}

// maxPoints is the number of points of a scatter, at most: a picture of more is no clearer.
const maxPoints = 20000

var plotSize = vg.Point{X: 20 * vg.Centimeter, Y: 12 * vg.Centimeter}

// WritePlot writes one plot as a picture: .png, .svg or .pdf. A scatter, a heat map and
// importance are of the first run, the others of all.
func (r *Report) WritePlot(w io.Writer, extension string, which Plot) error {
	if err := CheckPlot(which.Name); err != nil {
		return err
	}
	p := picture.NewPlot(r.title())
	var err error
	switch which.Name {
	case "", "best-so-far":
		err = r.plotProgress(p)
	case "distribution":
		err = r.plotDistribution(p)
	case "scatter":
		err = r.Runs[0].plotScatter(p, which.Parameters)
	case "heat-map":
		err = r.Runs[0].plotHeatMap(p, which.Parameters)
	case "importance":
		err = r.Runs[0].plotImportance(p)
	}
	if err != nil {
		return err
	}
	return picture.Write(w, extension, plotSize, func(c draw.Canvas) { p.Draw(picture.Inside(c)) })
}

var errNothingCorrect = errors.New("no configuration is correct: there is nothing to plot")

// objectiveAxis labels an axis of the first run's objective, logarithmic where the values
// are positive and spread by more than five times.
func (r *Report) objectiveAxis(axis *plot.Axis) (log bool, err error) {
	var all []float64
	for _, run := range r.Runs {
		all = append(all, objectives(run.results)...)
	}
	if len(all) == 0 {
		return false, errNothingCorrect
	}
	axis.Label.Text = axisName(r.Runs[0].Measures[0])
	if low := slices.Min(all); low > 0 && slices.Max(all)/low > 5 {
		axis.Scale, axis.Tick.Marker = plot.LogScale{}, plot.TickerFunc(picture.LogTicks)
		return true, nil
	}
	return false, nil
}

func (r *Report) plotProgress(p *plot.Plot) error {
	if _, err := r.objectiveAxis(&p.Y); err != nil {
		return err
	}
	p.X.Label.Text = "evaluations, failures included"
	p.Add(plotter.NewGrid())
	for i, run := range r.Runs {
		line, points := run.progress()
		if len(line) == 0 {
			continue
		}
		if len(r.Runs) == 1 {
			if err := addPoints(p, points, picture.Faded(picture.Color(i), 0x50)); err != nil {
				return err
			}
		}
		l, err := plotter.NewLine(line)
		if err != nil {
			return err
		}
		l.StepStyle = plotter.PostStep
		l.Color, l.Width = picture.Color(i), 1.6
		p.Add(l)
		if len(r.Runs) > 1 {
			p.Legend.Add(run.Name, l)
		}
	}
	p.Legend.Top, p.X.Min = true, 0
	return nil
}

// progress is the best objective so far by the number of evaluations, and the objectives of
// all correct configurations.
func (run *Run) progress() (line, points plotter.XYs) {
	for i := range run.results {
		r := &run.results[i]
		if !r.Rankable() {
			continue
		}
		points = append(points, plotter.XY{X: float64(i + 1), Y: r.Objective})
		if len(line) == 0 || run.objective.Better(r.Objective, line[len(line)-1].Y) {
			line = append(line, points[len(points)-1])
		}
	}
	if len(line) > 0 {
		line = append(line, plotter.XY{X: float64(len(run.results)), Y: line[len(line)-1].Y})
	}
	return line, points
}

func (r *Report) plotDistribution(p *plot.Plot) error {
	log, err := r.objectiveAxis(&p.X)
	if err != nil {
		return err
	}
	p.Y.Label.Text = "share of the configurations (%)"
	for i, run := range r.Runs {
		values := objectives(run.results)
		if len(values) == 0 {
			continue
		}
		outline, err := plotter.NewPolygon(histogram(values, log))
		if err != nil {
			return err
		}
		outline.Color, outline.LineStyle.Color, outline.LineStyle.Width = picture.Faded(picture.Color(i), 0x50), picture.Color(i), 1.2
		p.Add(outline)
		if len(r.Runs) > 1 {
			p.Legend.Add(run.Name, outline)
		}
	}
	p.Legend.Top, p.Y.Min = true, 0
	return nil
}

// histogram is the outline of a histogram in percent, with bins of one width on a linear or a
// logarithmic axis.
func histogram(values []float64, log bool) plotter.XYs {
	to, from := func(v float64) float64 { return v }, func(v float64) float64 { return v }
	if log {
		to, from = math.Log, math.Exp
	}
	low, top := to(slices.Min(values)), to(slices.Max(values))
	if low == top {
		low, top = low-math.Abs(low)*0.05-1e-9, top+math.Abs(top)*0.05+1e-9
	}
	bins := int(math.Max(10, math.Min(60, math.Ceil(2*math.Cbrt(float64(len(values)))))))
	counts := make([]float64, bins)
	for _, v := range values {
		counts[min(bins-1, int((to(v)-low)/(top-low)*float64(bins)))]++
	}
	outline := plotter.XYs{{X: from(low), Y: 0}}
	for i, n := range counts {
		a, b := low+(top-low)*float64(i)/float64(bins), low+(top-low)*float64(i+1)/float64(bins)
		share := 100 * n / float64(len(values))
		outline = append(outline, plotter.XY{X: from(a), Y: share}, plotter.XY{X: from(b), Y: share})
	}
	return append(outline, plotter.XY{X: from(top), Y: 0})
}

// addPoints draws points, evenly chosen where there are too many.
func addPoints(p *plot.Plot, points plotter.XYs, c color.Color) error {
	if step := (len(points) + maxPoints - 1) / maxPoints; step > 1 {
		kept := points[:0:0]
		for i := 0; i < len(points); i += step {
			kept = append(kept, points[i])
		}
		points = kept
	}
	s, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	s.Shape, s.Color, s.Radius = draw.CircleGlyph{}, c, 1.6
	p.Add(s)
	return nil
}

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
