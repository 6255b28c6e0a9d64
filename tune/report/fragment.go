package report

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
)

// fragment is the template of [Report.WriteFragment].
var fragment = template.Must(template.New("fragment.html").Funcs(template.FuncMap{
	"about":  func(run *Run) string { return run.summaryLine(asIs) },
	"better": func(run *Run) string { return strings.TrimLeft(run.bestFigures(asIs), ",; ") },
	"rows":   (*Run).bestTable, "finals": (*Run).finalNote, "curve": (*Run).curve, "ms": figure.Milliseconds,
	"front": func(run *Run) string {
		var b strings.Builder
		run.Front.write(&b, "", run.varying(), run.results)
		return b.String()
	},
	"number":  func(t figure.Table, i int) bool { return i < len(t.Number) && t.Number[i] },
	"percent": func(share float64) float64 { return math.Round(100 * max(0, min(1, share))) },
}).ParseFS(assets, "asset/fragment.html"))

// WriteFragment writes the report as a piece of HTML for another page, such as a notebook. It has no scripts, its styles touch nothing
// outside it, and it is light or dark as the reader's system is, or the notebook around it.
func (r *Report) WriteFragment(w io.Writer) error { return fragment.Execute(w, r) }

// The size of a curve, and the number of its points.
const (
	curveWidth  = 600.0
	curveHeight = 150.0
	curvePoints = 500
)

// A curve is the course of a search as paths of SVG, in a box of curveWidth × curveHeight.
type curve struct {
	Dots, Best string // the objectives, at most curvePoints of them, and the best so far
	Low, High  string // the ends of the vertical axis
	Axis       string // its name
	Count      int    // evaluations
}

// curve returns the course of the search; nil if there are fewer than two objectives. The vertical axis is logarithmic if the values
// are positive and spread by more than five times.
func (run *Run) curve() *curve {
	values := objectives(run.results)
	if len(values) < 2 {
		return nil
	}
	scale, low, high := func(v float64) float64 { return v }, slices.Min(values), slices.Max(values)
	m, best, step := run.Measures[0], math.NaN(), (len(values)+curvePoints-1)/curvePoints
	c := &curve{Low: formatMeasure(m, low), High: formatMeasure(m, high), Axis: axisName(m), Count: len(run.results)}
	if low > 0 && high > 5*low {
		scale = math.Log
	}
	span := max(scale(high)-scale(low), math.SmallestNonzeroFloat64)
	var dots, line strings.Builder
	seen := 0
	for i := range run.results {
		r := &run.results[i]
		if !r.Rankable() {
			continue
		}
		x, y := curveWidth*float64(i+1)/float64(c.Count), curveHeight*(scale(high)-scale(r.Objective))/span
		if seen++; seen%step == 0 {
			fmt.Fprintf(&dots, "M%.1f %.1fh0", x, y)
		}
		switch {
		case math.IsNaN(best):
			fmt.Fprintf(&line, "M%.1f %.1f", x, y)
		case run.objective.Better(r.Objective, best):
			fmt.Fprintf(&line, "H%.1fV%.1f", x, y)
		default:
			continue
		}
		best = r.Objective
	}
	c.Dots, c.Best = dots.String(), fmt.Sprintf("%sH%.0f", &line, curveWidth)
	return c
}
