package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
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

// The measures of a picture.
const (
	plotWide   = 20 * vg.Centimeter
	plotHigh   = 12 * vg.Centimeter
	plotMargin = 10 * vg.Length(1)
	plotDPI    = 160
	plotPoints = 20000 // at most, of a scatter: a picture of more is no clearer
)

// WritePlot writes one plot as a picture: .png, .svg or .pdf. A scatter, a heat map and
// importance are of the first run, the others of all.
func (r *Report) WritePlot(w io.Writer, extension string, which Plot) error {
	if err := CheckPlot(which.Name); err != nil {
		return err
	}
	p := newPlot(r.title())
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
