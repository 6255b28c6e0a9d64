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
// verified stand early_stopped, where that is true of any result, and device, where any
// result names one of several. A cell is empty where there is nothing. A parameter or a
// metric with the name of another column gets «parameter.» or «metric.» before it.
//
// Texts are mended for what opens such tables: lines end in a plain newline, NUL and bytes
// that are not UTF-8 are replaced, and a text that a spreadsheet would take for a formula
// begins with an apostrophe.
func EncodeCSV(w io.Writer, r *Record) error {
	l, err := newLayout(r.Header.Parameters)
	if err != nil {
		return err
	}
	metrics, circumstances := r.metricNames(), r.csvCircumstances()
	out := csv.NewWriter(w)
	if err := out.Write(csvHeader(l, metrics, circumstances)); err != nil {
		return err
	}
	for i := range r.Results {
		d, err := l.digits(r.Results[i].Configuration)
		if err != nil {
			return err
		}
		if err := out.Write(csvRow(l.configuration(d), &r.Results[i], metrics, circumstances)); err != nil {
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

// A csvColumn is a column that not every table has.
type csvColumn struct {
	name string
	cell func(*tune.Result) string
}

// csvCircumstances are the columns that say how results were measured: verified, and those
// of the others in which any result has something to say.
func (r *Record) csvCircumstances() []csvColumn {
	columns := []csvColumn{{"verified", func(r *tune.Result) string { return strconv.FormatBool(r.Verified) }}}
	if slices.ContainsFunc(r.Results, func(r tune.Result) bool { return r.EarlyStopped }) {
		columns = append(columns, csvColumn{"early_stopped", func(r *tune.Result) string { return strconv.FormatBool(r.EarlyStopped) }})
	}
	if slices.ContainsFunc(r.Results, func(r tune.Result) bool { return r.Device != "" }) {
		columns = append(columns, csvColumn{"device", func(r *tune.Result) string { return csvText(r.Device) }})
	}
	return columns
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

func csvRow(c space.Configuration, r *tune.Result, metrics []string, circumstances []csvColumn) []string {
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
		row = append(row, c.cell(r))
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
