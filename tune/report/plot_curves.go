package report

import (
	"errors"
	"image/color"
	"math"
	"slices"

	"github.com/ndtune/ndtune/internal/picture"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

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
