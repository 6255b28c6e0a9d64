package simulate

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
)

// WriteTables writes a table for each record, and one for the mean over all of them.
func (p *Plan) WriteTables(w io.Writer, curves, averages []Curve, checkpoints []int) {
	fmt.Fprintf(w, "best known / best found, mean ± standard error of %s\n", figure.Count(p.Repeats, "repeat"))
	for _, r := range p.Recordings {
		fmt.Fprintf(w, "\n%s: %s, %d correct, %s\n", r.Name, figure.Count(r.Space.Len(), "configuration"), r.Correct, bestText(r))
		own := slices.DeleteFunc(slices.Clone(curves), func(c Curve) bool { return c.Record != r.Name })
		writeTable(w, own, checkpoints)
		for _, c := range own {
			for k, t := range c.Trust {
				fmt.Fprintf(w, "  %s: %s\n", c.Strategy, trustText(r.Priors[k].Name, t))
			}
		}
	}
	if len(p.Recordings) > 1 {
		fmt.Fprintf(w, "\nmean over the %d records\n", len(p.Recordings))
		writeTable(w, averages, checkpoints)
	}
}

// bestText returns the best value of the objective.
func bestText(r *Recording) string {
	if name := r.Objective.Name; name != "" && !strings.HasPrefix(name, "time") {
		return "best " + name + "=" + figure.Number(r.Best)
	}
	return "best time=" + figure.Milliseconds(r.Best) + "ms"
}

// writeTable writes a row for each curve and a column for each checkpoint.
func writeTable(w io.Writer, curves []Curve, checkpoints []int) {
	rows := [][]string{append([]string{"after evaluations"}, each.Of(checkpoints, strconv.Itoa)...)}
	for _, c := range curves {
		cells := each.Of(checkpoints, func(n int) string { return estimate(c.At(n)) })
		rows = append(rows, append([]string{c.Strategy}, cells...))
	}
	figure.Columns(w, "  ", func(column int) bool { return column > 0 }, rows...)
}

// estimate formats a mean with its standard error, if there is one.
func estimate(mean, standardError float64) string {
	if math.IsNaN(standardError) {
		return fmt.Sprintf("%.3f", mean)
	}
	return fmt.Sprintf("%.3f ± %.3f", mean, standardError)
}

// A CheckedCurve is a curve at some numbers of evaluations, for JSON. Unknown values are null.
type CheckedCurve struct {
	Strategy string           `json:"strategy"`
	Record   string           `json:"record"`
	Repeats  int              `json:"repeats"`
	Mean     map[int]*float64 `json:"mean"`
	StdErr   map[int]*float64 `json:"stderr"`
}

// AtCheckpoints returns curves at some numbers of evaluations.
func AtCheckpoints(curves []Curve, checkpoints []int) []CheckedCurve {
	return each.Of(curves, func(c Curve) CheckedCurve {
		checked := CheckedCurve{c.Strategy, c.Record, c.Repeats, map[int]*float64{}, map[int]*float64{}}
		for _, n := range checkpoints {
			checked.Mean[n], checked.StdErr[n] = known(c.Mean[n-1]), known(c.StandardError[n-1])
		}
		return checked
	})
}

// known returns a number, or nil for NaN.
func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// trustText says what a prior was found to be worth, in the mean over repeats.
func trustText(name string, t Trust) string {
	return fmt.Sprintf("prior %s: at the end, rank correlation %.2f with the results of the search; "+
		"said how much each parameter matters in %.0f%% of the searches; "+
		"its best configurations were a good beginning in %.0f%%",
		name, t.Agreement, 100*t.Scales, 100*t.Won)
}
