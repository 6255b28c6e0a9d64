package record

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

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
	r := &Record{Header: Header{Format: FormatCSV, Objective: t.objective(rows[1:]), Parameters: g.parameters, Metrics: t.metrics}}
	l, err := newLayout(r.Header.Parameters)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, row := range rows[1:] {
		d, err := l.scanOnly(raws[i])
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+2, err)
		}
		if seen[d.key()] {
			continue
		}
		seen[d.key()] = true
		result, err := t.result(row, r.Header.Objective)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i+2, err)
		}
		result.Configuration = l.configuration(d)
		r.Results = append(r.Results, result)
	}
	r.Header.describe(r.Results)
	return r, nil
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
func (t *csvTable) objective(rows [][]string) tune.Objective {
	for _, row := range rows {
		cell := csvTextOf(t.cell(row, "objective"))
		if name, ok := strings.CutPrefix(cell, "minimize "); ok {
			return tune.Objective{Name: name}
		}
		if name, ok := strings.CutPrefix(cell, "maximize "); ok {
			return tune.Objective{Name: name, Maximize: true}
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
func (t *csvTable) result(row []string, objective tune.Objective) (r tune.Result, err error) {
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
	var finals []tune.MetricValue
	for i, name := range t.metrics {
		if cell := row[t.metricsAt+i]; cell != "" && err == nil {
			var f float64
			if f, err = strconv.ParseFloat(cell, 64); err != nil {
				err = fmt.Errorf("%s: %q is not a number", name, cell)
			}
			r.Metrics = append(r.Metrics, tune.MetricValue{Name: name, Value: f})
		}
		if final := csvFinal(name); t.cell(row, final) != "" {
			finals = append(finals, tune.MetricValue{Name: name, Value: number(final)})
		}
	}
	if len(finals) > 0 && len(r.Final) > 0 {
		r.AtFinal = &tune.Judgement{Metrics: finals, Objective: finalObjective(r.Final, finals, objective)}
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
