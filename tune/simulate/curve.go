package simulate

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/search"
)

// A Curve is the quality of the best configuration that a strategy has found on a recording: the
// mean over repeats and its standard error, after 1, 2, 3, … unique evaluations.
type Curve struct {
	Strategy, Record string
	Repeats          int
	Mean             []float64 // in [0, 1]
	StandardError    []float64 // NaN if there is only one repeat

	// Trust is what the strategy found each of the recording's priors to be worth at the end of a search. It is nil if it has no
	// model of them.
	Trust []Trust
}

// A Trust is what searches found a prior to be worth, as means over repeats: see [search.Trust].
type Trust struct {
	Agreement   float64
	Scales, Won float64 // shares of the searches
}

// At returns the mean and its standard error after a number of evaluations, from 1.
func (c *Curve) At(evaluations int) (mean, standardError float64) {
	return c.Mean[evaluations-1], c.StandardError[evaluations-1]
}

// samples are the moments of the parts of a pair's repeats. The last part that is done merges all, in order.
type samples struct {
	mutex sync.Mutex
	done  []*moments // by part
	count int        // parts that are done
	all   *moments   // merged
}

func (s *samples) put(number, parts int, m *moments) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.done == nil {
		s.done = make([]*moments, parts)
	}
	s.done[number] = m
	s.count++
	if s.count < parts {
		return
	}
	s.all = s.done[0]
	for _, m := range s.done[1:] {
		s.all.merge(m)
	}
	s.done = nil
}

// AllRecords is the record of a curve of [Averages].
const AllRecords = "all"

// Averages returns for each strategy the mean of its curves over all records, in the order of
// the strategies' first curves. Each record has the same weight. The standard error comes from
// the repeats alone: it describes the accuracy for these records, not the variation between
// records.
func Averages(curves []Curve) []Curve {
	var averages []Curve
	of := map[string][]Curve{}
	for _, c := range curves {
		if of[c.Strategy] == nil {
			averages = append(averages, Curve{Strategy: c.Strategy, Record: AllRecords, Repeats: c.Repeats})
		}
		of[c.Strategy] = append(of[c.Strategy], c)
	}
	for i := range averages {
		averages[i].average(of[averages[i].Strategy])
	}
	return averages
}

func (c *Curve) average(curves []Curve) {
	n := float64(len(curves))
	c.Mean = make([]float64, len(curves[0].Mean))
	c.StandardError = make([]float64, len(c.Mean))
	for i := range c.Mean {
		var mean, variance float64
		for _, one := range curves {
			mean += one.Mean[i]
			variance += one.StandardError[i] * one.StandardError[i]
		}
		c.Mean[i], c.StandardError[i] = mean/n, math.Sqrt(variance)/n
	}
}

// moments are the count of a sample of curves, and the mean and the sum of squared deviations
// after each evaluation. They are updated by Welford's method and merged by that of Chan, Golub
// and LeVeque (1979), which keep their accuracy when curves hardly differ.
type moments struct {
	count     int
	mean, sum []float64
	trusted   []Trust // sums over the curves, by prior
}

func newMoments(length int) *moments {
	return &moments{mean: make([]float64, length), sum: make([]float64, length)}
}

func (m *moments) add(curve []float64) {
	m.count++
	weight := 1 / float64(m.count)
	for i, q := range curve {
		d := q - m.mean[i]
		m.mean[i] += d * weight
		m.sum[i] += d * (q - m.mean[i])
	}
}

// trust adds what the search of a curve found its priors to be worth.
func (m *moments) trust(trusts []search.Trust) {
	for k, t := range trusts {
		share := map[bool]float64{true: 1}
		m.addTrust(k, Trust{t.Agreement, share[t.Scales], share[t.Won]})
	}
}

func (m *moments) addTrust(k int, t Trust) {
	if k == len(m.trusted) {
		m.trusted = append(m.trusted, Trust{})
	}
	s := &m.trusted[k]
	s.Agreement, s.Scales, s.Won = s.Agreement+t.Agreement, s.Scales+t.Scales, s.Won+t.Won
}

// meanTrust returns what each prior was found to be worth, as the mean over the curves.
func (m *moments) meanTrust() []Trust {
	n := float64(m.count)
	for k, t := range m.trusted {
		m.trusted[k] = Trust{t.Agreement / n, t.Scales / n, t.Won / n}
	}
	return m.trusted
}

// merge adds the sample of other.
func (m *moments) merge(other *moments) {
	total := float64(m.count + other.count)
	share := float64(other.count) / total
	for i := range m.mean {
		d := other.mean[i] - m.mean[i]
		m.mean[i] += d * share
		m.sum[i] += other.sum[i] + d*d*float64(m.count)*share
	}
	m.count += other.count
	for k, t := range other.trusted {
		m.addTrust(k, t)
	}
}

// standardErrors returns the standard errors of the means: NaN for fewer than two curves.
func (m *moments) standardErrors() []float64 {
	e := make([]float64, len(m.sum))
	for i, s := range m.sum {
		e[i] = math.NaN()
		if m.count > 1 {
			e[i] = math.Sqrt(s / float64(m.count-1) / float64(m.count))
		}
	}
	return e
}

// EncodeCSV writes curves as a table with a row for each strategy, record and number of
// evaluations. A standard error that is NaN is empty.
func EncodeCSV(w io.Writer, curves []Curve) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"strategy", "record", "evaluations", "mean", "stderr"}) // Error returns the first error
	for _, c := range curves {
		for i, mean := range c.Mean {
			_ = out.Write([]string{c.Strategy, c.Record, strconv.Itoa(i + 1), cell(mean), cell(c.StandardError[i])})
		}
	}
	out.Flush()
	return out.Error()
}

func cell(f float64) string {
	if math.IsNaN(f) {
		return ""
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

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
