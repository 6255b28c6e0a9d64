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
	metrics := r.MetricNames()
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
func csvObjective(o problem.Objective) string {
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

// looksLikeTable tells by its first row whether a file is a table of EncodeCSV.
func looksLikeTable(data []byte) bool {
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] == '{' || trimmed[0] == '[' {
		return false
	}
	header, err := csv.NewReader(bytes.NewReader(data)).Read()
	return err == nil && isTable(header)
}

func isTable(header []string) bool {
	at := slices.Index(header, csvMeasured[0])
	return at >= 0 && len(header) >= at+len(csvMeasured) &&
		slices.Equal(header[at:at+len(csvMeasured)], csvMeasured) && slices.Contains(header[at:], "verified")
}

// decodeCSV reads a table of EncodeCSV, also one whose rows were sorted or filtered. It knows
// of a run no more than the rows tell: neither the device nor the kernel. Where no row names the
// objective, it is the time. As in T4, the order of the values of a parameter is lost. A value that
// reads as a number is one; true and false are 1 and 0.
func decodeCSV(data []byte) (*Record, error) {
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, err
	}
	t := newCSVTable(rows[0])
	g := newGatherer(t.parameters)
	if len(g.parameters) < len(t.parameters) {
		return nil, fmt.Errorf("row 1: a parameter stands twice among %s", strings.Join(t.parameters, ", "))
	}
	if len(rows) == 1 {
		g.parameters = nil // of which not one value is known
	}
	raws := make([][]byte, len(rows)) // configurations as JSON
	for i, row := range rows[1:] {
		if raws[i], err = t.configuration(g, row); err != nil {
			return nil, fmt.Errorf("row %d: %w", i+2, err)
		}
	}
	g.sort()
	objective := t.objective(rows[1:])
	c, err := newCollector(Header{Format: FormatCSV, Objective: objective, Parameters: g.parameters, Metrics: t.metrics})
	if err != nil {
		return nil, err
	}
	for i, row := range rows[1:] {
		d, err := c.layout.scanOnly(raws[i])
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+2, err)
		}
		result, err := t.result(row, objective)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+2, err)
		}
		c.add(d, result)
	}
	c.describe()
	return c.Record, nil
}

// A csvTable is the columns of a table: parameters, what is measured, metrics, the rest.
type csvTable struct {
	parameters []string
	metrics    []string
	metricsAt  int
	column     map[string]int // of those that are neither
}

func newCSVTable(header []string) *csvTable {
	t := &csvTable{column: map[string]int{}}
	measured := slices.Index(header, csvMeasured[0])
	t.metricsAt = measured + len(csvMeasured)
	rest := t.metricsAt + slices.Index(header[t.metricsAt:], "verified")
	for i, name := range header {
		if i >= measured && i < t.metricsAt || i >= rest {
			t.column[name] = i
		}
	}
	// original takes off what csvHeader puts before a name that another column has.
	original := func(i int, prefix string) string {
		if name, ok := strings.CutPrefix(header[i], prefix); ok {
			if _, fixed := t.column[name]; fixed || slices.Contains(header[:i], name) {
				return csvTextOf(name)
			}
		}
		return csvTextOf(header[i])
	}
	for i := range measured {
		t.parameters = append(t.parameters, original(i, "parameter."))
	}
	for i := t.metricsAt; i < rest; i++ {
		t.metrics = append(t.metrics, original(i, "metric."))
	}
	return t
}

// cell is the content of a column, empty where the table has no such column.
func (t *csvTable) cell(row []string, name string) string {
	if i, ok := t.column[name]; ok {
		return row[i]
	}
	return ""
}

// objective is the one that the rows name.
func (t *csvTable) objective(rows [][]string) problem.Objective {
	for _, row := range rows {
		cell := csvTextOf(t.cell(row, "objective"))
		if name, ok := strings.CutPrefix(cell, "minimize "); ok {
			return problem.Objective{Name: name}
		}
		if name, ok := strings.CutPrefix(cell, "maximize "); ok {
			return problem.Objective{Name: name, Maximize: true}
		}
	}
	return objectiveOf("")
}

// configuration gathers the values of a row, and returns them as a JSON object.
func (t *csvTable) configuration(g *gatherer, row []string) ([]byte, error) {
	b := []byte{'{'}
	for i, name := range t.parameters {
		if i > 0 {
			b = append(b, ',')
		}
		raw := appendValue(nil, csvValue(row[i]))
		if err := g.value(i, raw); err != nil {
			return nil, err
		}
		b = append(append(appendText(b, name), ':'), raw...)
	}
	return append(b, '}'), nil
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
	return csvTextOf(cell)
}

// result reads what became of a configuration.
func (t *csvTable) result(row []string, objective problem.Objective) (r tune.Result, err error) {
	number := func(name string) float64 {
		text := t.cell(row, name)
		if text == "" || err != nil {
			return math.NaN()
		}
		var f float64
		if f, err = strconv.ParseFloat(text, 64); err != nil {
			err = fmt.Errorf("%s: %q is not a number", name, text)
		}
		return f
	}
	r.Status, r.Reason = tune.Status(t.cell(row, "status")), csvTextOf(t.cell(row, "reason"))
	if !knownStatus[r.Status] {
		return r, fmt.Errorf("the status %q is none that a result can have", r.Status)
	}
	if r.Times, err = csvRunsOf(t.cell(row, "runs")); err != nil {
		return r, fmt.Errorf("runs: %w", err)
	}
	mean := number("time")
	if final := t.cell(row, "final_time"); final != "" {
		r.Final = []float64{number("final_time")}
	}
	if runs, wrong := csvRunsOf(t.cell(row, "final_runs")); wrong != nil {
		return r, fmt.Errorf("final_runs: %w", wrong)
	} else if len(runs) > 0 {
		r.Final = runs
	}
	var finals []problem.MetricValue
	for i, name := range t.metrics {
		if cell := row[t.metricsAt+i]; cell != "" && err == nil {
			var f float64
			if f, err = strconv.ParseFloat(cell, 64); err != nil {
				err = fmt.Errorf("%s: %q is not a number", name, cell)
			}
			r.Metrics = append(r.Metrics, problem.MetricValue{Name: name, Value: f})
		}
		if final := csvFinal(name); t.cell(row, final) != "" {
			finals = append(finals, problem.MetricValue{Name: name, Value: number(final)})
		}
	}
	if len(finals) > 0 && len(r.Final) > 0 {
		r.AtFinal = &problem.Judgement{Metrics: finals, Objective: finalObjective(r.Final, finals, objective)}
	}
	r.Durations = tune.Durations{
		Build: durationOf(number("build_ms")), Verify: durationOf(number("verify_ms")), Measure: durationOf(number("measure_ms")),
		Framework: durationOf(number("framework_ms")), Search: durationOf(number("search_ms")),
	}
	if err != nil {
		return r, err
	}
	if text := t.cell(row, "timestamp"); text != "" {
		if r.Timestamp, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return r, fmt.Errorf("timestamp: %w", err)
		}
	}
	r.EarlyStopped = t.cell(row, "early_stopped") == "true"
	r.Device = csvTextOf(t.cell(row, "device"))
	finish(&r, objective, mean)
	r.Verified = t.cell(row, "verified") == "true"
	return r, nil
}

// csvRunsOf is the inverse of csvRuns.
func csvRunsOf(cell string) ([]float64, error) {
	var times []float64
	for _, text := range strings.Fields(cell) {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		times = append(times, f)
	}
	return times, nil
}
