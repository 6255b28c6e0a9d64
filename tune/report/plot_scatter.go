package report

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/internal/picture"
)

// chosen are the parameters that are named, or the most important ones; of two or more, those
// with more than two values first, since two by two shows little.
func (run *Run) chosen(names []string, count int) ([]int, error) {
	if len(names) > count {
		return nil, fmt.Errorf("this plot shows %d of the parameters, not %s", count, strings.Join(names, ", "))
	}
	var indices []int
	for _, name := range names {
		i := slices.IndexFunc(run.Parameters, func(p Parameter) bool { return p.Name == name })
		if i < 0 {
			var all []string
			for _, p := range run.Parameters {
				all = append(all, p.Name)
			}
			return nil, fmt.Errorf("%s has no parameter %s%s", run.Name, name, nearest.Hint(name, all))
		}
		indices = append(indices, i)
	}
	var others []int
	for _, p := range run.Importance.Parameters {
		others = append(others, p.Parameter)
	}
	if len(others) == 0 { // there is no importance
		for i := range run.Parameters {
			others = append(others, i)
		}
	}
	least := 2
	if count > 1 {
		least = 3
	}
	for ; least >= 2; least-- {
		for _, i := range others {
			if len(indices) < count && len(run.Parameters[i].Values) >= least && !slices.Contains(indices, i) {
				indices = append(indices, i)
			}
		}
	}
	if len(indices) < count {
		return nil, fmt.Errorf("this plot needs %d parameters with several values, and %s has %d", count, run.Name, len(indices))
	}
	return indices, nil
}

// cell is where the value of a parameter stands among its values, by row.
func (run *Run) cells(parameter int) []int {
	rank := make([]int, len(run.Parameters[parameter].Values))
	for index, i := range valueOrder(run.Parameters[parameter]) {
		rank[i] = index
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
		if r.Rankable() {
			// Spread sideways by the golden ratio, so that points of one value can be seen.
			_, aside := math.Modf(float64(i) * math.Phi)
			points = append(points, plotter.XY{X: float64(cells[i]) + 0.6*(aside-0.5), Y: r.Objective})
		}
	}
	return addPoints(p, points, picture.Faded(picture.Color(0), 0x90))
}

// valueAxis labels an axis with the values of a parameter, at 0, 1, 2, ….
func valueAxis(axis *plot.Axis, p Parameter) {
	axis.Label.Text = p.Name
	order := valueOrder(p)
	var ticks plot.ConstantTicks
	every := (len(order) + 31) / 32
	for index, i := range order {
		if index%every == 0 {
			ticks = append(ticks, plot.Tick{Value: float64(index), Label: shortened(p.Values[i], 16)})
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
		if !r.Rankable() {
			continue
		}
		at := &grid.best[ys[i]*grid.wide+xs[i]]
		if run.objective.Better(r.Objective, *at) {
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
		style.XAlign, style.YAlign, style.Font.Size, style.Font.Variant = -0.5, -0.5, 8, "Sans"
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

func (g *heatGrid) Dims() (int, int) { return g.wide, g.high }

func (g *heatGrid) Z(c, r int) float64 { return g.best[r*g.wide+c] }

func (g *heatGrid) X(c int) float64 { return float64(c) }

func (g *heatGrid) Y(r int) float64 { return float64(r) }

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
