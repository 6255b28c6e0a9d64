package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/internal/picture"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// chosen are the parameters that are named, or the most important ones; of two or more, those
// with more than two values first, since two by two shows little.
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
			if len(places) < count && len(run.Parameters[i].Values) >= least && !slices.Contains(places, i) {
				places = append(places, i)
			}
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
	for place, i := range order {
		if place%every == 0 {
			ticks = append(ticks, plot.Tick{Value: float64(place), Label: shortened(p.Values[i], 16)})
		}
	}
	axis.Tick.Marker, axis.Min, axis.Max = ticks, -0.5, float64(len(order))-0.5
}
