package record

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// A csvRow is a row of a table: a result, and what several of its cells need.
type csvRow struct {
	*tune.Result
	stats     score.Stats // of the times
	rank      int         // 0: none
	objective string      // "": the least time
}

// A csvColumn is a column of a table.
type csvColumn struct {
	name     string
	cell     func(*csvRow) string
	optional bool // left out if no row has anything to say
}

// csvMeasured are the columns between the parameters and the metrics.
var csvMeasured = []csvColumn{
	{name: "status", cell: func(r *csvRow) string { return string(r.Status) }},
	{name: "time", cell: csvStatistic(func(s *score.Stats) float64 { return s.Median })},
	{name: "time_min", cell: csvStatistic(func(s *score.Stats) float64 { return s.Min })},
	{name: "time_median", cell: csvStatistic(func(s *score.Stats) float64 { return s.Median })},
	{name: "time_mean", cell: csvStatistic(func(s *score.Stats) float64 { return s.Mean })},
	{name: "time_max", cell: csvStatistic(func(s *score.Stats) float64 { return s.Max })},
	{name: "time_stddev", cell: csvStatistic(func(s *score.Stats) float64 { return s.StandardDeviation })},
	{name: "final_time", cell: func(r *csvRow) string { return csvIf(len(r.Final) > 0, csvNumber(r.FinalTime())) }},
}

// csvStatistic returns the cells of a statistic of the times.
func csvStatistic(of func(*score.Stats) float64) func(*csvRow) string {
	return func(r *csvRow) string { return csvIf(r.stats.Count > 0, csvNumber(of(&r.stats))) }
}

// csvIf is a cell that is empty where it says nothing.
func csvIf(says bool, cell string) string {
	if !says {
		return ""
	}
	return cell
}

// csvOthers are the columns behind the metrics. Finals are the names of the metrics of the final measurement.
func csvOthers(finals []string) []csvColumn {
	columns := []csvColumn{
		{"verified", func(r *csvRow) string { return strconv.FormatBool(r.Verified) }, false},
		{"early_stopped", func(r *csvRow) string { return strconv.FormatBool(r.EarlyStopped) }, true},
		{"device", func(r *csvRow) string { return csvText(r.Device) }, true},
		{"objective", func(r *csvRow) string { return csvText(r.objective) }, true},
		{"rank", func(r *csvRow) string { return csvIf(r.rank > 0, strconv.Itoa(r.rank)) }, true},
	}
	for _, name := range finals {
		columns = append(columns, csvColumn{name: csvText("final." + name), cell: func(r *csvRow) string {
			if r.AtFinal == nil {
				return ""
			}
			return csvMetric(name, r.AtFinal.Metrics)
		}})
	}
	return append(columns, []csvColumn{
		{"final_runs", func(r *csvRow) string { return csvNumbers(r.Final) }, true},
		{"reason", func(r *csvRow) string { return csvText(r.Reason) }, false},
		{"build_ms", func(r *csvRow) string { return csvNumber(milliseconds(r.Durations.Build)) }, false},
		{"verify_ms", func(r *csvRow) string { return csvNumber(milliseconds(r.Durations.Verify)) }, false},
		{"measure_ms", func(r *csvRow) string { return csvNumber(milliseconds(r.Durations.Measure)) }, false},
		{"framework_ms", func(r *csvRow) string { return csvNumber(milliseconds(r.Durations.Framework)) }, false},
		{"search_ms", func(r *csvRow) string { return csvNumber(milliseconds(r.Durations.Search)) }, false},
		{"timestamp", func(r *csvRow) string {
			return csvIf(!r.Timestamp.IsZero(), r.Timestamp.UTC().Format(time.RFC3339Nano))
		}, false},
		{"runs", func(r *csvRow) string { return csvNumbers(r.Times) }, false},
	}...)
}

// csvColumns are the columns of a table with these parameters and metrics.
func csvColumns(parameters, metrics []string, others []csvColumn) []csvColumn {
	var columns []csvColumn
	taken := map[string]bool{}
	for _, c := range slices.Concat(csvMeasured, others) {
		taken[c.name] = true
	}
	add := func(prefix, name string, cell func(*csvRow) string) {
		if name = csvText(name); taken[name] {
			name = prefix + name
		}
		taken[name] = true
		columns = append(columns, csvColumn{name: name, cell: cell})
	}
	for _, name := range parameters {
		add("parameter.", name, func(r *csvRow) string { return csvValue(r.Configuration, name) })
	}
	columns = append(columns, csvMeasured...)
	for _, name := range metrics {
		add("metric.", name, func(r *csvRow) string { return csvMetric(name, r.Metrics) })
	}
	return append(columns, others...)
}

// EncodeCSV writes a record as a table of one row a configuration, with a header row: the
// parameters, status, times in milliseconds, metrics, verified, reason, durations in
// milliseconds, timestamp (UTC), and in «runs» every timed launch, separated by spaces. Behind
// verified stand columns that not every table needs: early_stopped, where that is true of any
// result; device, where any result names one of several; objective, such as «maximize GB/s», where
// that is not the least time; and after a final measurement rank, which counts correct results
// from 1, the winner (see [tune.Ranking]), each metric at the final time, with
// «final.» before its name, and the launches, in final_runs. A cell is empty where there is nothing. A parameter or
// a metric with the name of another column gets «parameter.» or «metric.» before it.
//
// Texts are mended for what opens such tables: lines end in a plain newline, NUL and bytes
// that are not UTF-8 are replaced, and a text that a spreadsheet would take for a formula
// begins with an apostrophe.
func EncodeCSV(w io.Writer, r *Record) error {
	metrics, finals := r.MetricNames(), []string(nil)
	rows, ranks := make([]csvRow, len(r.Results)), r.ranks()
	for i := range r.Results {
		result := &r.Results[i]
		rows[i] = csvRow{Result: result, stats: result.Stats()}
		if !r.Header.Objective.Equal(objectiveOf("")) {
			rows[i].objective = r.Header.Objective.String()
		}
		if ranks != nil {
			rows[i].rank = ranks[i]
		}
		if result.AtFinal != nil && len(result.AtFinal.Metrics) > 0 {
			finals = metrics
		}
	}
	others := slices.DeleteFunc(csvOthers(finals), func(c csvColumn) bool {
		says := func(r csvRow) bool { cell := c.cell(&r); return cell != "" && cell != "false" }
		return c.optional && !slices.ContainsFunc(rows, says)
	})
	parameters := each.Of(r.Header.Parameters, func(p space.Parameter) string { return p.Name })
	columns := csvColumns(parameters, metrics, others)
	cells := each.Of(columns, func(c csvColumn) string { return c.name })
	out := csv.NewWriter(w)
	_ = out.Write(cells) // Error returns the first error
	for i := range rows {
		for j, c := range columns {
			cells[j] = c.cell(&rows[i])
		}
		_ = out.Write(cells)
	}
	out.Flush()
	return out.Error()
}

// MetricNames are the metrics of the header, and after them others that results have.
func (r *Record) MetricNames() []string {
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

func csvValue(c space.Configuration, parameter string) string {
	v, ok := c.Get(parameter)
	if !ok {
		return ""
	}
	if text, ok := v.(string); ok {
		return csvText(text)
	}
	return space.FormatValue(v)
}

func csvMetric(name string, metrics []score.MetricValue) string {
	v, ok := score.Named(metrics, name)
	return csvIf(ok, csvNumber(v))
}

func csvNumber(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

func csvNumbers(fs []float64) string {
	return strings.Join(each.Of(fs, csvNumber), " ")
}

var csvMend = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\ufffd")

func csvText(s string) string {
	s = csvMend.Replace(strings.ToValidUTF8(s, "\ufffd"))
	if isFormula(s) {
		return "'" + s
	}
	return s
}

// isFormula reports whether a spreadsheet would take a text for a formula.
func isFormula(s string) bool {
	begin := strings.TrimLeft(s, " \t\n")
	return begin != "" && strings.ContainsRune("=+-@", rune(begin[0])) || strings.HasPrefix(s, "\t")
}
