package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

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
