package record

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// EncodeCSV writes a record as a table of one row a configuration, with a header row: the
// parameters, status, times in milliseconds, metrics, verified, reason, durations in
// milliseconds, timestamp (UTC), and in «runs» every timed launch, separated by spaces. Behind
// verified stand columns that not every table needs: early_stopped, where that is true of any
// result; device, where any result names one of several; objective, such as «maximize GB/s», where
// that is not the least time; and after a final measurement rank, the place of a correct result,
// from 1, which is that of the winner (see [tune.Ranking]), each metric at the final time, with
// «final.» before its name, and the launches, in final_runs. A cell is empty where there is nothing. A parameter or
// a metric with the name of another column gets «parameter.» or «metric.» before it.
//
// Texts are mended for what opens such tables: lines end in a plain newline, NUL and bytes
// that are not UTF-8 are replaced, and a text that a spreadsheet would take for a formula
// begins with an apostrophe.
func EncodeCSV(w io.Writer, r *Record) error {
	l, err := newLayout(r.Header.Parameters)
	if err != nil {
		return err
	}
	metrics := r.metricNames()
	circumstances := r.csvCircumstances(metrics)
	out := csv.NewWriter(w)
	if err := out.Write(csvHeader(l, metrics, circumstances)); err != nil {
		return err
	}
	for i := range r.Results {
		d, err := l.digits(r.Results[i].Configuration)
		if err != nil {
			return err
		}
		if err := out.Write(csvRow(l.configuration(d), r, i, metrics, circumstances)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// metricNames are the metrics of the header, and after them others that results have.
func (r *Record) metricNames() []string {
	names := slices.Clone(r.Header.Metrics)
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for _, result := range r.Results {
		for _, m := range result.Metrics {
			if !known[m.Name] {
				known[m.Name] = true
				names = append(names, m.Name)
			}
		}
	}
	return names
}

var (
	csvMeasured = []string{"status", "time", "time_min", "time_median", "time_max", "time_stddev", "final_time"}
	csvRest     = []string{"reason", "build_ms", "verify_ms", "measure_ms", "framework_ms", "search_ms", "timestamp", "runs"}
)

// A csvColumn is a column that says how a result of a record was measured, and how it is ranked.
type csvColumn struct {
	name string
	cell func(i int, r *tune.Result) string
}

// csvCircumstances are the columns behind the metrics: verified, and those of the others in which
// any result has something to say.
func (r *Record) csvCircumstances(metrics []string) []csvColumn {
	columns := []csvColumn{{"verified", func(_ int, r *tune.Result) string { return strconv.FormatBool(r.Verified) }}}
	add := func(name string, cell func(int, *tune.Result) string) {
		columns = append(columns, csvColumn{name, cell})
	}
	if slices.ContainsFunc(r.Results, func(r tune.Result) bool { return r.EarlyStopped }) {
		add("early_stopped", func(_ int, r *tune.Result) string { return strconv.FormatBool(r.EarlyStopped) })
	}
	if slices.ContainsFunc(r.Results, func(r tune.Result) bool { return r.Device != "" }) {
		add("device", func(_ int, r *tune.Result) string { return csvText(r.Device) })
	}
	if text := csvObjective(r.Header.Objective); text != csvObjective(objectiveOf("")) {
		add("objective", func(int, *tune.Result) string { return csvText(text) })
	}
	if ranks := r.ranks(); ranks != nil {
		add("rank", func(i int, _ *tune.Result) string {
			if ranks[i] == 0 {
				return ""
			}
			return strconv.Itoa(ranks[i])
		})
	}
	if slices.ContainsFunc(r.Results, func(r tune.Result) bool { return r.AtFinal != nil && len(r.AtFinal.Metrics) > 0 }) {
		for _, name := range metrics {
			add(csvFinal(name), func(_ int, r *tune.Result) string { return csvFinalMetric(r, name) })
		}
	}
	if slices.ContainsFunc(r.Results, func(r tune.Result) bool { return len(r.Final) > 0 }) {
		add("final_runs", func(_ int, r *tune.Result) string { return csvRuns(r.Final) })
	}
	return columns
}

// csvFinal is the column of a metric at the final time.
func csvFinal(metric string) string { return csvText("final." + metric) }

func csvFinalMetric(r *tune.Result, name string) string {
	if r.AtFinal == nil {
		return ""
	}
	v, ok := r.AtFinal.Metric(name)
	if !ok {
		return ""
	}
	return csvNumber(v)
}

// csvObjective is an objective in the words of a specification.
func csvObjective(o tune.Objective) string {
	if o.Maximize {
		return "maximize " + objectiveName(o)
	}
	return "minimize " + objectiveName(o)
}

func csvHeader(l *layout, metrics []string, circumstances []csvColumn) []string {
	rest := make([]string, 0, len(circumstances)+len(csvRest))
	for _, c := range circumstances {
		rest = append(rest, c.name)
	}
	rest = append(rest, csvRest...)
	fixed := slices.Concat(csvMeasured, rest)
	var row []string
	column := func(prefix, name string) {
		if name = csvText(name); slices.Contains(fixed, name) || slices.Contains(row, name) {
			name = prefix + name
		}
		row = append(row, name)
	}
	for _, name := range l.parameters.Names() {
		column("parameter.", name)
	}
	row = append(row, csvMeasured...)
	for _, name := range metrics {
		column("metric.", name)
	}
	return append(row, rest...)
}

// csvRow is the row of the result at a place.
func csvRow(c space.Configuration, of *Record, place int, metrics []string, circumstances []csvColumn) []string {
	r := &of.Results[place]
	var row []string
	for i := range c.Len() {
		if text, ok := c.At(i).(string); ok {
			row = append(row, csvText(text))
		} else {
			row = append(row, space.FormatValue(c.At(i)))
		}
	}
	row = append(row, string(r.Status))
	row = append(row, csvStats(r)...)
	for _, name := range metrics {
		cell := ""
		if f, ok := r.Metric(name); ok {
			cell = csvNumber(f)
		}
		row = append(row, cell)
	}
	for _, c := range circumstances {
		row = append(row, c.cell(place, r))
	}
	row = append(row, csvText(r.Reason))
	d := r.Durations
	for _, part := range []time.Duration{d.Build, d.Verify, d.Measure, d.Framework, d.Search} {
		row = append(row, csvNumber(milliseconds(part)))
	}
	timestamp := ""
	if !r.Timestamp.IsZero() {
		timestamp = r.Timestamp.UTC().Format(time.RFC3339Nano)
	}
	return append(row, timestamp, csvRuns(r.Times))
}

// csvStats are the cells from time to final_time.
func csvStats(r *tune.Result) []string {
	cells := make([]string, len(csvMeasured)-1)
	if s := r.Stats(); s.Count > 0 {
		for i, f := range []float64{s.Mean, s.Min, s.Median, s.Max, s.StandardDeviation} {
			cells[i] = csvNumber(f)
		}
	}
	if len(r.Final) > 0 {
		cells[len(cells)-1] = csvNumber(r.FinalTime())
	}
	return cells
}

func csvRuns(times []float64) string {
	texts := make([]string, len(times))
	for i, t := range times {
		texts[i] = csvNumber(t)
	}
	return strings.Join(texts, " ")
}

func csvNumber(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

var csvMend = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd")

func csvText(s string) string {
	s = csvMend.Replace(strings.ToValidUTF8(s, "\ufffd"))
	if isFormula(strings.TrimLeft(s, "'")) { // of those that are kept apart already, too, so that csvTextOf is the inverse
		return "'" + s
	}
	return s
}

// csvTextOf is the text that a cell stands for.
func csvTextOf(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && isFormula(strings.TrimLeft(rest, "'")) {
		return rest
	}
	return cell
}

// isFormula reports whether a spreadsheet would take a text for a formula.
func isFormula(s string) bool {
	begin := strings.TrimLeft(s, " \t\n")
	return begin != "" && strings.ContainsRune("=+-@", rune(begin[0])) || strings.HasPrefix(s, "\t")
}
