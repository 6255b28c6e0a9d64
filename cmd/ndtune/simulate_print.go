package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/ndtune/ndtune/tune/simulate"
)

// printCurves prints a table for each record, and one for the mean over all of them.
func printCurves(w io.Writer, p simulate.Plan, curves, averages []simulate.Curve, checkpoints []int) {
	fmt.Fprintf(w, "best known / best found, mean ± standard error of %s\n", countNoun(p.Repeats, "repeat"))
	for _, r := range p.Recordings {
		fmt.Fprintf(w, "\n%s: %s, %d correct, best %s\n", r.Name, countNoun(r.Space.Len(), "configuration"), r.Correct, bestText(r))
		var of []simulate.Curve
		for _, c := range curves {
			if c.Record == r.Name {
				of = append(of, c)
			}
		}
		printTable(w, of, checkpoints)
	}
	if len(p.Recordings) > 1 {
		fmt.Fprintf(w, "\nmean over the %d records\n", len(p.Recordings))
		printTable(w, averages, checkpoints)
	}
}

// bestText is the best value of the objective.
func bestText(r *simulate.Recording) string {
	if name := r.Objective.Name; name != "" && !strings.HasPrefix(name, "time") {
		return name + "=" + formatNumber(r.Best)
	}
	return "time=" + formatTime(r.Best)
}

// printTable prints a row for each curve and a column for each checkpoint.
func printTable(w io.Writer, curves []simulate.Curve, checkpoints []int) {
	const first = "after evaluations"
	wide := len(first)
	for _, c := range curves {
		wide = max(wide, len([]rune(c.Strategy)))
	}
	const column = len("0.762 ± 0.012") + 2 - 1 // ± has two bytes
	fmt.Fprintf(w, "  %-*s", wide, first)
	for _, n := range checkpoints {
		fmt.Fprintf(w, "%*d", column, n)
	}
	fmt.Fprintln(w)
	for _, c := range curves {
		fmt.Fprintf(w, "  %-*s", wide, c.Strategy)
		for _, n := range checkpoints {
			fmt.Fprintf(w, "%*s", column, estimate(c.At(n)))
		}
		fmt.Fprintln(w)
	}
}

// estimate is a mean with its standard error, if there is one.
func estimate(mean, standardError float64) string {
	if math.IsNaN(standardError) {
		return fmt.Sprintf("%.3f", mean)
	}
	return fmt.Sprintf("%.3f ± %.3f", mean, standardError)
}

// A curveJSON is an entry of simulate --json.
type curveJSON struct {
	Strategy string          `json:"strategy"`
	Record   string          `json:"record"`
	Repeats  int             `json:"repeats"`
	Mean     checkpointsJSON `json:"mean"`
	StdErr   checkpointsJSON `json:"stderr"`
}

// checkpointsJSON are the values of a curve by the number of evaluations.
type checkpointsJSON struct {
	evaluations []int
	values      []float64
}

// MarshalJSON is an object with the numbers of evaluations in order; a value that is not
// known is null.
func (v checkpointsJSON) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, n := range v.evaluations {
		if i > 0 {
			b.WriteByte(',')
		}
		value := "null"
		if !math.IsNaN(v.values[i]) {
			value = strconv.FormatFloat(v.values[i], 'g', -1, 64)
		}
		fmt.Fprintf(&b, `"%d":%s`, n, value)
	}
	return []byte("{" + b.String() + "}"), nil
}

func printCurvesJSON(w io.Writer, curves []simulate.Curve, checkpoints []int) error {
	list := make([]curveJSON, len(curves))
	for i, c := range curves {
		e := curveJSON{c.Strategy, c.Record, c.Repeats, checkpointsJSON{evaluations: checkpoints}, checkpointsJSON{evaluations: checkpoints}}
		for _, n := range checkpoints {
			mean, standardError := c.At(n)
			e.Mean.values, e.StdErr.values = append(e.Mean.values, mean), append(e.StdErr.values, standardError)
		}
		list[i] = e
	}
	return printJSON(w, list)
}
