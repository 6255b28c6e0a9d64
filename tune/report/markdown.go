package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/markdown"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
)

// markdownRows is how many of the best configurations a table has.
const markdownRows = 10

// WriteMarkdown writes a table to paste for each run: the best configurations, and what became
// of the others. Characters that Markdown or HTML would read are escaped.
func (r *Report) WriteMarkdown(w io.Writer) error { return r.writeRuns(w, (*Run).writeMarkdown) }

func (run *Run) writeMarkdown(b *strings.Builder) {
	fmt.Fprintf(b, "## %s\n\n", markdown.Escape(run.Title()))
	fmt.Fprintf(b, "%s\n", run.summaryLine(markdown.Escape))
	s := &run.Summary
	if s.Best == nil {
		b.WriteString("\nNo configuration is correct.\n")
		return
	}
	fmt.Fprintf(b, "\nBest: **%s ms**%s", figure.Milliseconds(s.Best.Time), run.bestFigures(markdown.Escape))
	fmt.Fprintf(b, ". Options: %s", markdown.Code(s.Best.Options))
	for _, launch := range s.Best.Sizes {
		fmt.Fprintf(b, ". Launch: %s", launch)
	}
	b.WriteString("\n\n")
	t := run.bestTable()
	markdown.Table(b, t.Head, t.Number, t.Rows)
	if note := run.finalNote(); note != "" {
		fmt.Fprintf(b, "\n%s\n", note)
	}
	for _, n := range run.Notices {
		fmt.Fprintf(b, "\n- %s", markdown.Escape(n.Text))
	}
	if len(run.Notices) > 0 {
		b.WriteString("\n")
	}
}

// finalNote says which rows of the table of the best configurations are of the final measurement; "" if there was none.
func (run *Run) finalNote() string {
	switch n := run.ranking.Finalists; {
	case n == 0:
		return ""
	case n >= min(len(run.ranking.Indices), markdownRows):
		return "The order and the figures are those of the final measurement, which took the best in turn."
	default:
		return fmt.Sprintf("The order and the figures of the first %d are those of the final measurement, which took the best in turn; "+
			"of the others, those of the search.", n)
	}
}

// summaryLine returns the number of configurations of each status, and the facts of the run. Escape is
// called with texts from outside.
func (run *Run) summaryLine(escape func(string) string) string {
	counts := each.Of(run.Summary.Statuses, func(c StatusCount) string { return fmt.Sprintf("%d %s", c.Count, c.Text) })
	line := fmt.Sprintf("%d configurations: %s.", run.Summary.Evaluations, strings.Join(counts, ", "))
	for _, f := range [][2]string{{"driver", run.Device.Driver}, {"timer", run.Device.Timer}, {"caches", run.Cache}, {"started", run.Started}} {
		if f[1] != "" {
			line += fmt.Sprintf(" %s: %s.", strings.ToUpper(f[0][:1])+f[0][1:], escape(f[1]))
		}
	}
	return line
}

// bestFigures returns the metrics of the best, and how much better it is than others.
func (run *Run) bestFigures(escape func(string) string) string {
	var text string
	s := &run.Summary
	for _, m := range s.Best.Metrics {
		if !m.AtTime {
			continue
		}
		i := slices.IndexFunc(run.Measures, func(of Measure) bool { return of.Name == m.Name })
		if i >= 0 && run.Measures[i].Unit != "" {
			text += fmt.Sprintf(", %s %s %s", escape(m.Name), figure.Number(m.Value), run.Measures[i].Unit)
		} else {
			text += fmt.Sprintf(", %s %s", figure.Number(m.Value), escape(m.Name))
		}
	}
	if s.OverBaseline != nil {
		text += fmt.Sprintf("; gain over the baseline %.2f×", *s.OverBaseline)
	}
	if s.OverMedian != nil && s.OverWorst != nil {
		in := map[bool]string{true: "in the search "}[s.Best.Final]
		text += fmt.Sprintf("; %s%.2f× better than the median configuration, %.2f× than the worst", in, *s.OverMedian, *s.OverWorst)
	}
	return text
}

// bestTable returns a table of the best configurations, in the order of their ranking and with the
// figures that they are ranked by.
func (run *Run) bestTable() (t figure.Table) {
	column := func(name string, number bool) { t.Head, t.Number = append(t.Head, name), append(t.Number, number) }
	for _, p := range run.Parameters {
		column(p.Name, p.Numeric)
	}
	for _, m := range run.Measures {
		column(axisName(m), true)
	}
	column("verified", false)
	for _, row := range run.ranking.Indices[:min(len(run.ranking.Indices), markdownRows)] {
		r := &run.results[row]
		var cells []string
		for i := range run.Parameters {
			cells = append(cells, run.Parameters[i].Values[run.index(parameterColumn(i))[row]])
		}
		figures := r.Figures()
		for _, m := range run.Measures {
			cells = append(cells, formatMeasure(m, measured(figures, m)))
		}
		verified := "no"
		if r.Verified {
			verified = "yes"
		}
		t.Rows = append(t.Rows, append(cells, verified))
	}
	return t
}

// measured is a measure among figures; NaN where it is not known.
func measured(f tune.Figures, m Measure) float64 {
	switch m.Column {
	case columnObjective:
		return f.Objective
	case columnTime:
		return f.Time
	}
	if v, known := f.Metric(m.Name); known {
		return v
	}
	return math.NaN()
}

func formatMeasure(m Measure, v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case m.Unit == "ms":
		return figure.Milliseconds(v)
	case m.Name == score.MetricOfLimit:
		return score.ShareText(v)
	}
	return figure.Number(v)
}

func axisName(m Measure) string {
	if m.Unit == "" {
		return m.Name
	}
	return m.Name + " (" + m.Unit + ")"
}
