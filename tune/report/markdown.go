package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/internal/markdown"
	"github.com/ndtune/ndtune/tune"
)

// markdownRows is how many of the best configurations a table has.
const markdownRows = 10

// WriteMarkdown writes a table to paste for each run: the best configurations, and what became
// of the others. Characters that Markdown or HTML would read are escaped.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	for i, run := range r.Runs {
		if i > 0 {
			b.WriteString("\n")
		}
		run.writeMarkdown(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (run *Run) writeMarkdown(b *strings.Builder) {
	fmt.Fprintf(b, "## %s\n\n", markdown.Escape(run.Title()))
	s := &run.Summary
	var counts []string
	for _, c := range s.Statuses {
		counts = append(counts, fmt.Sprintf("%d %s", c.Count, c.Text))
	}
	fmt.Fprintf(b, "%d configurations: %s.", s.Evaluations, strings.Join(counts, ", "))
	for _, f := range [][2]string{{"driver", run.Device.Driver}, {"timer", run.Device.Timer}, {"started", run.Started}} {
		if f[1] != "" {
			fmt.Fprintf(b, " %s: %s.", strings.ToUpper(f[0][:1])+f[0][1:], markdown.Escape(f[1]))
		}
	}
	b.WriteString("\n")
	if s.Best == nil {
		b.WriteString("\nNo configuration is correct.\n")
		return
	}
	fmt.Fprintf(b, "\nBest: **%s ms**", figure.Milliseconds(s.Best.Time))
	for _, m := range s.Best.Metrics {
		if m.AtTime {
			fmt.Fprintf(b, ", %s %s", figure.Number(m.Value), markdown.Escape(m.Name))
		}
	}
	if s.OverMedian != nil && s.OverWorst != nil {
		fmt.Fprintf(b, "; %.2f× better than the median configuration, %.2f× than the worst", *s.OverMedian, *s.OverWorst)
	}
	fmt.Fprintf(b, ". Options: %s\n\n", markdown.Code(s.Best.Options))
	run.writeMarkdownTable(b)
	for _, n := range run.Notices {
		fmt.Fprintf(b, "\n- %s", markdown.Escape(n.Text))
	}
	if len(run.Notices) > 0 {
		b.WriteString("\n")
	}
}

// writeMarkdownTable has the best configurations, the one that won first.
func (run *Run) writeMarkdownTable(b *strings.Builder) {
	var head []string
	var numbers []bool
	column := func(name string, number bool) { head, numbers = append(head, name), append(numbers, number) }
	for _, p := range run.Parameters {
		column(p.Name, p.Numeric)
	}
	for _, m := range run.Measures {
		column(axisName(m), true)
	}
	column("verified", false)
	columns := make([][]float64, len(run.Measures))
	for j, m := range run.Measures {
		columns[j] = run.numbers(m.Column)
	}
	ranked := rankedRows(run)
	var rows [][]string
	for _, row := range ranked[:min(len(ranked), markdownRows)] {
		r := &run.results[row]
		var cells []string
		for i := range run.Parameters {
			cells = append(cells, run.Parameters[i].Values[run.index(parameterColumn(i))[row]])
		}
		for j, m := range run.Measures {
			cells = append(cells, formatMeasure(m, columns[j][row]))
		}
		verified := "no"
		if r.Verified {
			verified = "yes"
		}
		rows = append(rows, append(cells, verified))
	}
	markdown.Table(b, head, numbers, rows)
}

// rankedRows are the correct rows by the objective of the search, after the one that won.
func rankedRows(run *Run) []int {
	var rows []int
	for i := range run.results {
		if v := run.results[i].Objective; run.results[i].Status == tune.Correct && !math.IsNaN(v) && !math.IsInf(v, 0) {
			rows = append(rows, i)
		}
	}
	first := run.Summary.Best.Row
	slices.SortStableFunc(rows, func(a, b int) int {
		x, y := run.results[a].Objective, run.results[b].Objective
		switch {
		case a == b:
			return 0
		case a == first || b != first && better(run.objective, x, y):
			return -1
		case b == first || better(run.objective, y, x):
			return 1
		}
		return 0
	})
	return rows
}

func formatMeasure(m Measure, v float64) string {
	switch {
	case math.IsNaN(v):
		return ""
	case m.Unit == "ms":
		return figure.Milliseconds(v)
	}
	return figure.Number(v)
}

func axisName(m Measure) string {
	if m.Unit == "" {
		return m.Name
	}
	return m.Name + " (" + m.Unit + ")"
}
