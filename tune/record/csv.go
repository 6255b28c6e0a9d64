package record

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// A csvRow is a row of a table: a result, and the values of columns that are no part of it.
type csvRow struct {
	tune.Result
	values      []space.Value // of the parameters
	mean, final *float64      // nil: there is none
	stats       problem.Stats
	finals      []problem.MetricValue // metrics at the final time
	rank        int                   // 0: none
	objective   string                // empty: the least time
}

// A csvColumn is a column of a table. Its value in a row is a pointer, which csvCell writes and
// readCell reads, or, if other columns tell it, a number, which is only written.
type csvColumn struct {
	name     string
	at       func(*csvRow) any
	optional bool // left out if no row has anything to say
}

// csvMeasured are the columns between the parameters and the metrics.
var csvMeasured = []csvColumn{
	{name: "status", at: func(r *csvRow) any { return &r.Status }},
	{name: "time", at: func(r *csvRow) any { return &r.mean }},
	{name: "time_min", at: func(r *csvRow) any { return r.stat(r.stats.Min) }},
	{name: "time_median", at: func(r *csvRow) any { return r.stat(r.stats.Median) }},
	{name: "time_max", at: func(r *csvRow) any { return r.stat(r.stats.Max) }},
	{name: "time_stddev", at: func(r *csvRow) any { return r.stat(r.stats.StandardDeviation) }},
	{name: "final_time", at: func(r *csvRow) any { return &r.final }},
}

func (r *csvRow) stat(v float64) any {
	if r.stats.Count == 0 {
		return nil
	}
	return v
}

// csvOthers are the columns behind the metrics.
func csvOthers(finals []string) []csvColumn {
	columns := []csvColumn{
		{"verified", func(r *csvRow) any { return &r.Verified }, false},
		{"early_stopped", func(r *csvRow) any { return &r.EarlyStopped }, true},
		{"device", func(r *csvRow) any { return &r.Device }, true},
		{"objective", func(r *csvRow) any { return &r.objective }, true},
		{"rank", func(r *csvRow) any { return r.rank }, true},
	}
	for _, name := range finals {
		columns = append(columns, csvColumn{csvText("final." + name), func(r *csvRow) any { return metricCell{name, &r.finals} }, false})
	}
	return append(columns, []csvColumn{
		{"final_runs", func(r *csvRow) any { return &r.Final }, true},
		{"reason", func(r *csvRow) any { return &r.Reason }, false},
		{"build_ms", func(r *csvRow) any { return &r.Durations.Build }, false},
		{"verify_ms", func(r *csvRow) any { return &r.Durations.Verify }, false},
		{"measure_ms", func(r *csvRow) any { return &r.Durations.Measure }, false},
		{"framework_ms", func(r *csvRow) any { return &r.Durations.Framework }, false},
		{"search_ms", func(r *csvRow) any { return &r.Durations.Search }, false},
		{"timestamp", func(r *csvRow) any { return &r.Timestamp }, false},
		{"runs", func(r *csvRow) any { return &r.Times }, false},
	}...)
}

// csvColumns are the columns of a table with these parameters and metrics.
func csvColumns(parameters, metrics []string, others []csvColumn) []csvColumn {
	var columns []csvColumn
	taken := map[string]bool{}
	for _, c := range slices.Concat(csvMeasured, others) {
		taken[c.name] = true
	}
	add := func(prefix, name string, at func(*csvRow) any) {
		if name = csvText(name); taken[name] {
			name = prefix + name
		}
		taken[name] = true
		columns = append(columns, csvColumn{name: name, at: at})
	}
	for i, name := range parameters {
		add("parameter.", name, func(r *csvRow) any { return &r.values[i] })
	}
	columns = append(columns, csvMeasured...)
	for _, name := range metrics {
		add("metric.", name, func(r *csvRow) any { return metricCell{name, &r.Metrics} })
	}
	return append(columns, others...)
}

// A metricCell is the value of a metric among others.
type metricCell struct {
	name string
	in   *[]problem.MetricValue
}

// csvCell is the text of a value.
func csvCell(at any) string {
	switch at := at.(type) {
	case *space.Value:
		if text, ok := (*at).(string); ok {
			return csvText(text)
		}
		return space.FormatValue(*at)
	case **float64:
		if *at != nil {
			return csvNumber(**at)
		}
	case float64:
		return csvNumber(at)
	case metricCell:
		for _, m := range *at.in {
			if m.Name == at.name {
				return csvNumber(m.Value)
			}
		}
	case *tune.Status:
		return string(*at)
	case *string:
		return csvText(*at)
	case *bool:
		return strconv.FormatBool(*at)
	case int:
		if at != 0 {
			return strconv.Itoa(at)
		}
	case *time.Duration:
		return csvNumber(milliseconds(*at))
	case *time.Time:
		if !at.IsZero() {
			return at.UTC().Format(time.RFC3339Nano)
		}
	case *[]float64:
		texts := make([]string, len(*at))
		for i, f := range *at {
			texts[i] = csvNumber(f)
		}
		return strings.Join(texts, " ")
	}
	return ""
}

// readCell reads a cell that is not empty: the inverse of csvCell.
func readCell(cell string, at any) (err error) {
	number := func(text string) (f float64) {
		if f, err = strconv.ParseFloat(text, 64); err != nil {
			err = fmt.Errorf("%q is not a number", text)
		}
		return f
	}
	switch at := at.(type) {
	case *space.Value:
		*at = csvValue(cell)
	case **float64:
		f := number(cell)
		*at = &f
	case metricCell:
		*at.in = append(*at.in, problem.MetricValue{Name: at.name, Value: number(cell)})
	case *tune.Status:
		*at = tune.Status(cell)
	case *string:
		*at = csvTextOf(cell)
	case *bool:
		*at = cell == "true"
	case *time.Duration:
		*at = durationOf(number(cell))
	case *time.Time:
		*at, err = time.Parse(time.RFC3339Nano, cell)
	case *[]float64:
		for _, text := range strings.Fields(cell) {
			if *at = append(*at, number(text)); err != nil {
				break
			}
		}
	}
	return err
}

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
	metrics, finals := r.MetricNames(), []string(nil)
	rows, ranks := make([]csvRow, len(r.Results)), r.ranks()
	for i, result := range r.Results {
		d, err := l.digits(result.Configuration)
		if err != nil {
			return err
		}
		row := csvRow{Result: result, stats: result.Stats()}
		for j, digit := range d {
			row.values = append(row.values, l.parameters.At(j).Values[digit])
		}
		if !r.Header.Objective.Equal(objectiveOf("")) {
			row.objective = r.Header.Objective.String()
		}
		if row.stats.Count > 0 {
			row.mean = &row.stats.Mean
		}
		if len(row.Final) > 0 {
			ms := row.FinalTime()
			row.final = &ms
		}
		if ranks != nil {
			row.rank = ranks[i]
		}
		if row.AtFinal != nil && len(row.AtFinal.Metrics) > 0 {
			row.finals, finals = row.AtFinal.Metrics, metrics
		}
		rows[i] = row
	}
	others := slices.DeleteFunc(csvOthers(finals), func(c csvColumn) bool {
		says := func(r csvRow) bool { cell := csvCell(c.at(&r)); return cell != "" && cell != "false" }
		return c.optional && !slices.ContainsFunc(rows, says)
	})
	columns := csvColumns(l.parameters.Names(), metrics, others)
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.name
	}
	out := csv.NewWriter(w)
	_ = out.Write(cells) // Error returns the first error
	for i := range rows {
		for j, c := range columns {
			cells[j] = csvCell(c.at(&rows[i]))
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

// looksLikeTable tells by its first row whether a file is a table of EncodeCSV.
func looksLikeTable(data []byte) bool {
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] == '{' || trimmed[0] == '[' {
		return false
	}
	header, err := csv.NewReader(bytes.NewReader(data)).Read()
	if err != nil {
		return false
	}
	at := slices.Index(header, csvMeasured[0].name)
	return at >= 0 && len(header) >= at+len(csvMeasured) && slices.Contains(header[at:], "verified") &&
		slices.EqualFunc(header[at:at+len(csvMeasured)], csvMeasured, func(name string, c csvColumn) bool { return name == c.name })
}

// decodeCSV reads a table of EncodeCSV, also one whose rows were sorted or filtered. It knows
// of a run no more than the rows tell: neither the device nor the kernel. Where no row names the
// objective, it is the time. As in T4, the order of the values of a parameter is lost. A value that
// reads as a number is one; true and false are 1 and 0.
func decodeCSV(data []byte) (*Record, error) {
	data = bytes.ToValidUTF8(data, []byte("\ufffd")) // names in other encodings could not be kept in a log
	table, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, err
	}
	parameters, metrics, columns := readCSVHeader(table[0])
	g := newGatherer(parameters)
	if len(g.parameters) < len(parameters) {
		return nil, fmt.Errorf("row 1: a parameter stands twice among %s", strings.Join(parameters, ", "))
	}
	rows := make([]csvRow, len(table)-1)
	for i := range rows {
		rows[i].values = make([]space.Value, len(parameters))
		for j, c := range columns {
			if cell := table[i+1][j]; c.at != nil && (cell != "" || j < len(parameters)) {
				if err := readCell(cell, c.at(&rows[i])); err != nil {
					return nil, fmt.Errorf("row %d: %s: %w", i+2, c.name, err)
				}
			}
		}
		for j, v := range rows[i].values {
			g.add(j, v)
		}
	}
	if len(rows) == 0 {
		g.parameters = nil // of which not one value is known
	}
	g.sort()
	objective := objectiveOfRows(rows)
	c, err := newCollector(Header{Format: FormatCSV, Objective: objective, Parameters: g.parameters, Metrics: metrics})
	if err != nil {
		return nil, err
	}
	for i := range rows {
		d, err := c.layout.digitsOf(rows[i].values)
		if err == nil {
			err = rows[i].finish(objective)
		}
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+2, err)
		}
		c.add(d, rows[i].Result)
	}
	c.describe()
	return c.Record, nil
}

// readCSVHeader returns the parameters and the metrics of a table, and all its columns. A column
// that is not known has no value.
func readCSVHeader(header []string) (parameters, metrics []string, columns []csvColumn) {
	first := slices.Index(header, csvMeasured[0].name)
	metricsAt := first + len(csvMeasured)
	rest := metricsAt + slices.Index(header[metricsAt:], "verified")
	fixed := slices.Concat(header[first:metricsAt], header[rest:])
	// original takes off what csvColumns puts before a name that another column has.
	original := func(i int, prefix string) string {
		name, ok := strings.CutPrefix(header[i], prefix)
		if ok && (slices.Contains(fixed, name) || slices.Contains(header[:i], name)) {
			return csvTextOf(name)
		}
		return csvTextOf(header[i])
	}
	for i := range first {
		parameters = append(parameters, original(i, "parameter."))
	}
	for i := metricsAt; i < rest; i++ {
		metrics = append(metrics, original(i, "metric."))
	}
	known := csvOthers(metrics)
	var others []csvColumn
	for _, name := range header[rest:] {
		c := csvColumn{name: name}
		if i := slices.IndexFunc(known, func(c csvColumn) bool { return c.name == name }); i >= 0 {
			c = known[i]
		}
		others = append(others, c)
	}
	return parameters, metrics, csvColumns(parameters, metrics, others)
}

// objectiveOfRows is that of the first row that names its objectives.
func objectiveOfRows(rows []csvRow) problem.Objective {
	for _, row := range rows {
		var all []problem.Objective
		for part := range strings.SplitSeq(row.objective, ", ") {
			name, least := strings.CutPrefix(part, "minimize ")
			most := false
			if !least {
				name, most = strings.CutPrefix(part, "maximize ")
			}
			switch {
			case least || most:
				all = append(all, problem.Objective{Name: name, Maximize: most})
			case len(all) > 0: // the name of the only objective holds a comma
				all[len(all)-1].Name += ", " + part
			}
		}
		if len(all) > 0 {
			first := all[0]
			first.More = append(first.More, all[1:]...) // nil of one objective
			return first
		}
	}
	return objectiveOf("")
}

// csvValue is the value of a parameter. What is not in the form that numbers are written in
// is a text.
func csvValue(cell string) space.Value {
	if n, err := strconv.Atoi(cell); err == nil && strconv.Itoa(n) == cell {
		return n
	}
	if json.Valid([]byte(cell)) { // which knows neither Inf nor hexadecimal digits
		if f, err := strconv.ParseFloat(cell, 64); err == nil {
			return f
		}
	}
	return strings.ToValidUTF8(csvTextOf(cell), "\ufffd")
}

// finish completes the result of a row that was read.
func (row *csvRow) finish(objective problem.Objective) error {
	r := &row.Result
	if !knownStatus(r.Status) {
		return fmt.Errorf("the status %q is none that a result can have", r.Status)
	}
	if row.final != nil && len(r.Final) == 0 {
		r.Final = []float64{*row.final}
	}
	if len(row.finals) > 0 && len(r.Final) > 0 {
		r.AtFinal = &problem.Judgement{Metrics: row.finals, Objective: finalObjective(r.Final, row.finals, objective)}
	}
	verified, mean := r.Verified, math.NaN()
	if row.mean != nil {
		mean = *row.mean
	}
	finish(r, objective, mean)
	r.Verified = verified
	return nil
}
