package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/excerpt"
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
func (r *Report) WriteFragment(w io.Writer) error {
	var b strings.Builder
	err := fragment.Execute(&b, r)
	_, failed := io.WriteString(w, excerpt.Visible(b.String()))
	return cmp.Or(err, failed)
}

// A curve is the course of a search as paths of SVG, in a box of 600 × 150: some 500 of the objectives, and the best so far. Low, High and
// Axis are the ends of the vertical axis and its name.
type curve struct {
	Dots, Best, Low, High, Axis string
	Count                       int // evaluations
}

// curve returns the course of the search; nil if there are fewer than two objectives. The vertical axis is logarithmic if the values
// are positive and spread by more than five times.
func (run *Run) curve() *curve {
	values := run.objectives()
	if len(values) < 2 {
		return nil
	}
	low, high, scale := slices.Min(values), slices.Max(values), math.Log
	if low <= 0 || high <= 5*low {
		scale = func(v float64) float64 { return v }
	}
	span := max(scale(high)-scale(low), math.SmallestNonzeroFloat64)
	var dots, line strings.Builder
	best, step, seen := math.NaN(), "M%.1f %.1f", 0
	for i := range run.results {
		r := &run.results[i]
		if !r.Rankable() {
			continue
		}
		x, y := 600*float64(i+1)/float64(len(run.results)), 150*(scale(high)-scale(r.Objective))/span
		if seen++; seen%(len(values)/500+1) == 0 {
			fmt.Fprintf(&dots, "M%.1f %.1fh0", x, y)
		}
		if run.objective.Better(r.Objective, best) {
			fmt.Fprintf(&line, step, x, y)
			best, step = r.Objective, "H%.1fV%.1f"
		}
	}
	m := run.Measures[0]
	return &curve{dots.String(), line.String() + "H600", formatMeasure(m, low), formatMeasure(m, high), axisName(m), len(run.results)}
}
