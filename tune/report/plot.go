package report

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune"
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

// The measures of a picture.
const (
	plotWide   = 20 * vg.Centimeter
	plotHigh   = 12 * vg.Centimeter
	plotMargin = 10 * vg.Length(1)
	plotDPI    = 160
	plotPoints = 20000 // at most, of a scatter: a picture of more is no clearer
)

// okabeIto is the palette of Okabe and Ito (Color Universal Design, 2008) without yellow and
// black, as in the page.
var okabeIto = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x5f, 0x5f, 0x5f, 0xff},
}

func runColor(i int) color.NRGBA { return okabeIto[i%len(okabeIto)] }

// WritePlot writes one plot as a picture: .png, .svg or .pdf. A scatter, a heat map and
// importance are of the first run, the others of all.
func (r *Report) WritePlot(w io.Writer, extension string, which Plot) error {
	if err := CheckPlot(which.Name); err != nil {
		return err
	}
	p := plot.New()
	p.Title.Text = r.title()
	p.Title.Padding = 6
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
	var sheet vg.CanvasWriterTo
	switch extension {
	case ".png":
		sheet = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(plotWide, plotHigh), vgimg.UseDPI(plotDPI))}
	case ".svg":
		sheet = vgsvg.New(plotWide, plotHigh)
	case ".pdf":
		sheet = vgpdf.New(plotWide, plotHigh)
	default:
		return fmt.Errorf("a picture is a .png, .svg or .pdf, not a %s", extension)
	}
	p.Draw(draw.Crop(draw.New(sheet), plotMargin, -plotMargin, plotMargin, -plotMargin))
	_, err = sheet.WriteTo(w)
	return err
}

var errNothingCorrect = errors.New("no configuration is correct: there is nothing to plot")

// objectiveAxis labels an axis of the first run's objective, logarithmic where the values
// are positive and spread by more than five times.
func (r *Report) objectiveAxis(axis *plot.Axis) (log bool, err error) {
	var all spread
	for _, run := range r.Runs {
		for _, v := range objectives(run.results) {
			all.add(v)
		}
	}
	if all.n == 0 {
		return false, errNothingCorrect
	}
	axis.Label.Text = axisName(r.Runs[0].Measures[0])
	if all.low > 0 && all.top/all.low > 5 {
		axis.Scale, axis.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
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
			if err := addPoints(p, points, faded(runColor(i), 0x50)); err != nil {
				return err
			}
		}
		l, err := plotter.NewLine(line)
		if err != nil {
			return err
		}
		l.StepStyle = plotter.PostStep
		l.Color, l.Width = runColor(i), 1.6
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
		if r.Status != tune.Correct || math.IsNaN(r.Objective) || math.IsInf(r.Objective, 0) {
			continue
		}
		points = append(points, plotter.XY{X: float64(i + 1), Y: r.Objective})
		if len(line) == 0 || better(run.objective, r.Objective, line[len(line)-1].Y) {
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
		outline.Color, outline.LineStyle.Color, outline.LineStyle.Width = faded(runColor(i), 0x50), runColor(i), 1.2
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

// chosen are the parameters that are named, or the most important ones.
func (run *Run) chosen(names []string, count int) ([]int, error) {
	if len(names) > count {
		return nil, fmt.Errorf("this plot shows %d of the parameters, not %s", count, strings.Join(names, ", "))
	}
	var places []int
	for _, name := range names {
		i := slices.IndexFunc(run.Parameters, func(p Parameter) bool { return p.Name == name })
		if i < 0 {
			var all []string
			for _, p := range run.Parameters {
				all = append(all, p.Name)
			}
			return nil, fmt.Errorf("%s has no parameter %s%s", run.Name, name, nearest.Hint(name, all))
		}
		places = append(places, i)
	}
	for _, p := range run.Importance.Parameters {
		if len(places) < count && !slices.Contains(places, p.Parameter) {
			places = append(places, p.Parameter)
		}
	}
	for i, p := range run.Parameters {
		if len(places) < count && len(p.Values) > 1 && !slices.Contains(places, i) {
			places = append(places, i)
		}
	}
	if len(places) < count {
		return nil, fmt.Errorf("this plot needs %d parameters with several values, and %s has %d", count, run.Name, len(places))
	}
	return places, nil
}

// cell is where the value of a parameter stands among its values, by row.
func (run *Run) cells(parameter int) []int {
	rank := make([]int, len(run.Parameters[parameter].Values))
	for place, i := range valueOrder(run.Parameters[parameter]) {
		rank[i] = place
	}
	column := run.index(parameterColumn(parameter))
	cells := make([]int, len(column))
	for row, i := range column {
		cells[row] = rank[i]
	}
	return cells
}

func (run *Run) plotScatter(p *plot.Plot, names []string) error {
	chosen, err := run.chosen(names, 1)
	if err != nil {
		return err
	}
	if _, err := (&Report{Runs: []*Run{run}}).objectiveAxis(&p.Y); err != nil {
		return err
	}
	p.Title.Text = run.Title()
	valueAxis(&p.X, run.Parameters[chosen[0]])
	cells := run.cells(chosen[0])
	var points plotter.XYs
	for i := range run.results {
		r := &run.results[i]
		if r.Status == tune.Correct && !math.IsNaN(r.Objective) && !math.IsInf(r.Objective, 0) {
			// Spread sideways by the golden ratio, so that points of one value can be seen.
			_, aside := math.Modf(float64(i) * math.Phi)
			points = append(points, plotter.XY{X: float64(cells[i]) + 0.6*(aside-0.5), Y: r.Objective})
		}
	}
	return addPoints(p, points, faded(runColor(0), 0x90))
}

// valueAxis labels an axis with the values of a parameter, at 0, 1, 2, ….
func valueAxis(axis *plot.Axis, p Parameter) {
	axis.Label.Text = p.Name
	order := valueOrder(p)
	var ticks plot.ConstantTicks
	every := (len(order) + 31) / 32
	for place, i := range order {
		if place%every == 0 {
			ticks = append(ticks, plot.Tick{Value: float64(place), Label: shortened(p.Values[i], 16)})
		}
	}
	axis.Tick.Marker, axis.Min, axis.Max = ticks, -0.5, float64(len(order))-0.5
}

func (run *Run) plotHeatMap(p *plot.Plot, names []string) error {
	chosen, err := run.chosen(names, 2)
	if err != nil {
		return err
	}
	x, y := run.Parameters[chosen[0]], run.Parameters[chosen[1]]
	grid := &heatGrid{wide: len(x.Values), high: len(y.Values)}
	grid.best = make([]float64, grid.wide*grid.high)
	for i := range grid.best {
		grid.best[i] = math.NaN()
	}
	xs, ys := run.cells(chosen[0]), run.cells(chosen[1])
	for i := range run.results {
		r := &run.results[i]
		if r.Status != tune.Correct || math.IsNaN(r.Objective) || math.IsInf(r.Objective, 0) {
			continue
		}
		at := &grid.best[ys[i]*grid.wide+xs[i]]
		if math.IsNaN(*at) || better(run.objective, r.Objective, *at) {
			*at = r.Objective
		}
	}
	if !slices.ContainsFunc(grid.best, func(v float64) bool { return !math.IsNaN(v) }) {
		return errNothingCorrect
	}
	p.Title.Text = run.Title() + "\nbest " + axisName(run.Measures[0]) + " of each pair of values"
	colors := viridis
	if run.objective.Maximize {
		colors = slices.Clone(viridis)
		slices.Reverse(colors)
	}
	heat := plotter.NewHeatMap(grid, fixedPalette(colors))
	heat.NaN = color.White
	if heat.Max == heat.Min {
		heat.Max = heat.Min + 1
	}
	p.Add(heat)
	if grid.wide*grid.high <= 200 {
		if err := addFigures(p, grid, run.Measures[0]); err != nil {
			return err
		}
	}
	valueAxis(&p.X, x)
	valueAxis(&p.Y, y)
	return nil
}

// addFigures writes into each cell what it stands for.
func addFigures(p *plot.Plot, g *heatGrid, m Measure) error {
	var labels plotter.XYLabels
	for row := range g.high {
		for column := range g.wide {
			if v := g.Z(column, row); !math.IsNaN(v) {
				labels.XYs = append(labels.XYs, plotter.XY{X: float64(column), Y: float64(row)})
				labels.Labels = append(labels.Labels, strconv.FormatFloat(v, 'g', 3, 64))
			}
		}
	}
	all, err := plotter.NewLabels(labels)
	if err != nil {
		return err
	}
	low, top := math.Inf(1), math.Inf(-1)
	for _, at := range labels.XYs {
		v := g.Z(int(at.X), int(at.Y))
		low, top = math.Min(low, v), math.Max(top, v)
	}
	for i, at := range labels.XYs {
		style := &all.TextStyle[i]
		style.XAlign, style.YAlign, style.Font.Size = -0.5, -0.5, 8
		style.Color = color.White
		if light := (g.Z(int(at.X), int(at.Y)) - low) / (top - low); light > 0.6 {
			style.Color = color.Black
		}
	}
	p.Add(all)
	return nil
}

// A heatGrid is a plotter.GridXYZ.
type heatGrid struct {
	wide, high int
	best       []float64 // NaN: no correct configuration
}

func (g *heatGrid) Dims() (int, int)   { return g.wide, g.high }
func (g *heatGrid) Z(c, r int) float64 { return g.best[r*g.wide+c] }
func (g *heatGrid) X(c int) float64    { return float64(c) }
func (g *heatGrid) Y(r int) float64    { return float64(r) }

// viridis (van der Walt and Smith, 2015) at nine places, as in the page.
var viridis = []color.NRGBA{
	{0x44, 0x01, 0x54, 0xff}, {0x47, 0x2d, 0x7b, 0xff}, {0x3b, 0x52, 0x8b, 0xff}, {0x2c, 0x72, 0x8e, 0xff}, {0x21, 0x91, 0x8c, 0xff},
	{0x28, 0xae, 0x80, 0xff}, {0x5e, 0xc9, 0x62, 0xff}, {0xad, 0xdc, 0x30, 0xff}, {0xfd, 0xe7, 0x25, 0xff},
}

// fixedPalette has 15 steps between each two colours.
type fixedPalette []color.NRGBA

var _ palette.Palette = fixedPalette(nil)

// Colors are the colours, in order.
func (f fixedPalette) Colors() []color.Color {
	const steps = 15
	var all []color.Color
	for i := range len(f) - 1 {
		for k := range steps {
			mix := func(a, b uint8) uint8 { return uint8((int(a)*(steps-k) + int(b)*k) / steps) }
			all = append(all, color.NRGBA{mix(f[i].R, f[i+1].R), mix(f[i].G, f[i+1].G), mix(f[i].B, f[i+1].B), 0xff})
		}
	}
	return all
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
	}{{"with others", total, runColor(0), width / 2}, {"alone", alone, runColor(5), -width / 2}} {
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

// addPoints draws points, evenly chosen where there are too many.
func addPoints(p *plot.Plot, points plotter.XYs, c color.Color) error {
	if step := (len(points) + plotPoints - 1) / plotPoints; step > 1 {
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

// sortRows is a stable sort by «is before».
func sortRows(rows []int, before func(a, b int) bool) {
	slices.SortStableFunc(rows, func(a, b int) int {
		return cmp.Compare(btoi(before(b, a)), btoi(before(a, b)))
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
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
