package record

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/problem"
)

// t4Version is the version of the T4 results schema that is written.
const t4Version = "1.0.0"

// EncodeT4 writes a record in the T4 format, the results format of the FAIR Benchmark Hub
// for Auto-Tuning, version 1.0.0 (https://github.com/odgaard/TuningSchema). Times are in
// milliseconds and timestamps are cut to microseconds, as Kernel Tuner writes them. A
// failure has 0 for correctness, no runtimes, and the name of Kernel Tuner's error that is
// nearest to it for the value of its time.
//
// What T4 has no place for stands where readers look for nothing: metadata.ndtune is the
// [Header]; the reason of a failure is «reason» beside «invalidity», unless it is the
// error's name, and there stand «early_stopped» and «device», too, «verified» where it is not
// what the header says, «exact_timestamp» where microseconds are not enough, and
// «reason_base64» where the reason is not UTF-8; «times» has «benchmark», as Kernel Tuner
// writes it, and «final_runtimes», whose median is the measurement «final_time». What the metrics
// and the objective are at that median is «at_final», as in a run log. [Read] takes them back.
// After a final measurement «rank» is the place of a correct result, from 1, which is that of the
// winner (see [tune.Ranking]): the objectives are those of the search, and do not tell it.
func EncodeT4(w io.Writer, r *Record) error {
	l, err := newLayout(r.Header.Parameters)
	if err != nil {
		return err
	}
	header, err := r.Header.MarshalJSON()
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	_, _ = out.WriteString(`{"metadata":{"timeunit":"miliseconds","ndtune":`)
	_, _ = out.Write(header)
	_, _ = out.WriteString(`},"results":[`)
	ranks := r.ranks()
	var b []byte
	for i := range r.Results {
		d, err := l.digits(r.Results[i].Configuration)
		if err != nil {
			return err
		}
		b = b[:0]
		if i > 0 {
			b = append(b, ',')
		}
		rank := 0
		if ranks != nil {
			rank = ranks[i]
		}
		b = l.appendT4(append(b, '\n'), d, &r.Results[i], &r.Header, rank)
		_, _ = out.Write(b)
	}
	_, _ = out.WriteString("\n],\"schema_version\":\"" + t4Version + "\"}\n")
	return out.Flush() // an error of any write comes again here
}

// appendT4 writes one result.
func (l *layout) appendT4(b []byte, d digits, r *tune.Result, h *Header, rank int) []byte {
	objective := h.Objective
	correct := r.Status == tune.Correct
	b = append(b, `{"timestamp":`...)
	b = appendText(b, pythonTime(r.Timestamp))
	b = append(b, `,"configuration":`...)
	b = l.append(b, d)
	b = append(b, `,"times":{"compilation":`...)
	b = appendMilliseconds(b, r.Durations.Build)
	if r.Durations.Measure != 0 {
		b = appendMilliseconds(append(b, `,"benchmark":`...), r.Durations.Measure)
	}
	b = appendMilliseconds(append(b, `,"framework":`...), r.Durations.Framework)
	b = appendMilliseconds(append(b, `,"search_algorithm":`...), r.Durations.Search)
	b = appendMilliseconds(append(b, `,"validation":`...), r.Durations.Verify)
	if len(r.Times) > 0 {
		b = appendFloats(append(b, `,"runtimes":`...), r.Times)
	}
	if len(r.Final) > 0 {
		b = appendFloats(append(b, `,"final_runtimes":`...), r.Final)
	}
	b = append(b, `},"invalidity":`...)
	b = appendText(b, string(r.Status))
	if correct {
		b = append(b, `,"correctness":1`...)
	} else {
		b = append(b, `,"correctness":0`...)
	}
	if r.Reason != "" && r.Reason != errorName(r.Status) {
		b = appendReason(b, r.Reason)
	}
	b = appendCircumstances(b, r)
	if rank > 0 {
		b = strconv.AppendInt(append(b, `,"rank":`...), int64(rank), 10)
	}
	b = appendAtFinal(b, r)
	if r.Verified != verifiedBy(h, r) {
		b = strconv.AppendBool(append(b, `,"verified":`...), r.Verified)
	}
	if t := r.Timestamp; !t.IsZero() && !t.Equal(t.Truncate(time.Microsecond)) {
		b = appendTime(append(b, `,"exact_timestamp":`...), t)
	}
	b = append(b, `,"measurements":[`...)
	if correct {
		b = appendMeasurements(b, r, objective)
	} else {
		b = appendErrors(b, r.Status, objective)
	}
	b = append(b, `],"objectives":[`...)
	b = appendText(b, objectiveName(objective))
	return append(b, "]}"...)
}

// verifiedBy is whether a result was verified as far as the header tells.
func verifiedBy(h *Header, r *tune.Result) bool {
	return h.Verified && (r.Status == tune.Correct || r.Status == tune.Correctness)
}

func appendMeasurements(b []byte, r *tune.Result, objective problem.Objective) []byte {
	b = appendMeasurement(b, "time", r.Time())
	if len(r.Final) > 0 {
		b = appendMeasurement(append(b, ','), "final_time", r.FinalTime())
	}
	name := objectiveName(objective)
	if _, metric := r.Metric(name); name != "time" && !metric {
		b = appendMeasurement(append(b, ','), name, r.Objective)
	}
	for _, m := range r.Metrics {
		b = appendMeasurement(append(b, ','), m.Name, m.Value)
	}
	return b
}

func appendMeasurement(b []byte, name string, value float64) []byte {
	b = append(b, `{"name":`...)
	b = appendText(b, name)
	b = append(b, `,"value":`...)
	b = appendFloat(b, value)
	return append(b, `,"unit":""}`...)
}

// appendErrors writes the measurements of a failure: whatever a reader looks for, the time
// or the objective, is the name of an error.
func appendErrors(b []byte, s tune.Status, objective problem.Objective) []byte {
	for i, name := range []string{"time", objectiveName(objective)} {
		if i > 0 {
			if name == "time" {
				break
			}
			b = append(b, ',')
		}
		b = append(b, `{"name":`...)
		b = appendText(b, name)
		b = append(b, `,"value":"`+errorName(s)+`","unit":""}`...)
	}
	return b
}

func objectiveName(o problem.Objective) string {
	if o.Name == "" {
		return "time"
	}
	return o.Name
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

func appendMilliseconds(b []byte, d time.Duration) []byte {
	return appendFloat(b, milliseconds(d))
}

// pythonTime is the text that Python has for a point in time: microseconds where there are
// any, and the zone.
func pythonTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	t = t.UTC().Truncate(time.Microsecond)
	if t.Nanosecond() == 0 {
		return t.Format("2006-01-02 15:04:05-07:00")
	}
	return t.Format("2006-01-02 15:04:05.000000-07:00")
}

// t4Result is a result as T4 writes it, with the members that EncodeT4 adds.
type t4Result struct {
	Timestamp     json.RawMessage `json:"timestamp"`
	Configuration json.RawMessage `json:"configuration"`
	Times         struct {
		Compilation     json.RawMessage `json:"compilation"`
		CompilationTime json.RawMessage `json:"compilation_time"` // the schema's own word
		Benchmark       json.RawMessage `json:"benchmark"`
		Framework       json.RawMessage `json:"framework"`
		SearchAlgorithm json.RawMessage `json:"search_algorithm"`
		Validation      json.RawMessage `json:"validation"`
		Runtimes        json.RawMessage `json:"runtimes"`
		FinalRuntimes   json.RawMessage `json:"final_runtimes"`
	} `json:"times"`
	Invalidity   string          `json:"invalidity"`
	Reason       string          `json:"reason"`
	ReasonBase64 []byte          `json:"reason_base64"`
	EarlyStopped json.RawMessage `json:"early_stopped"`
	Device       json.RawMessage `json:"device"`
	Verified     json.RawMessage `json:"verified"`
	Exact        json.RawMessage `json:"exact_timestamp"`
	AtFinal      json.RawMessage `json:"at_final"`
	Measurements []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	} `json:"measurements"`
	Objectives []string `json:"objectives"`
}

type t4Metadata struct {
	TimeUnit string  `json:"timeunit"`
	NDTune   *Header `json:"ndtune"`
}

// decodeT4 reads a T4 file, of this package or of others.
func decodeT4(doc *document) (*Record, error) {
	var metadata t4Metadata
	if raw := doc.members["metadata"]; raw != nil {
		if err := json.Unmarshal(raw, &metadata); err != nil {
			return nil, fmt.Errorf("metadata: %w", err)
		}
	}
	results, err := t4Results(doc.members["results"])
	if err != nil {
		return nil, err
	}
	h, own := Header{}, metadata.NDTune != nil
	if own {
		h = *metadata.NDTune
		h.Format, h.Version = FormatT4, 0
	} else if h, err = gatherT4Header(results); err != nil {
		return nil, err
	}
	c, err := newCollector(h)
	if err != nil {
		return nil, err
	}
	for i := range results {
		d, result, err := results[i].result(c.layout, &h, unitOf(metadata.TimeUnit))
		if err != nil {
			return nil, fmt.Errorf("result %d: %w", i+1, err)
		}
		if own {
			result.Verified = verifiedBy(&h, &result)
			if raw := string(results[i].Verified); raw == "true" || raw == "false" {
				result.Verified = raw == "true"
			}
		}
		c.add(d, result)
	}
	if !own {
		c.describe()
	}
	return c.Record, nil
}

func t4Results(raw []byte) ([]t4Result, error) {
	if raw[0] != '[' {
		return nil, fmt.Errorf("results: want a list, not %s", kindOf(raw))
	}
	var results []t4Result
	for element := range elements(raw) {
		var r t4Result
		if err := json.Unmarshal(element, &r); err != nil {
			return nil, fmt.Errorf("result %d: %w", len(results)+1, err)
		}
		if len(r.Configuration) == 0 || r.Configuration[0] != '{' {
			return nil, fmt.Errorf("result %d: configuration: want an object, not %s", len(results)+1, kindOf(r.Configuration))
		}
		results = append(results, r)
	}
	return results, nil
}

// gatherT4Header makes a header of nothing but results: T4 keeps the rest in a file of its
// own, in forms of many kinds. The order of the values of a parameter is lost; numbers get
// the ascending one.
func gatherT4Header(results []t4Result) (Header, error) {
	h := Header{Format: FormatT4, Objective: objectiveOf("")}
	g := newGatherer(nil)
	for i := range results {
		for name, raw := range members(results[i].Configuration) {
			if err := g.value(g.name(name), raw); err != nil {
				return h, fmt.Errorf("result %d: %w", i+1, err)
			}
		}
	}
	g.sort()
	h.Parameters = g.parameters
	if len(results) > 0 && len(results[0].Objectives) > 0 {
		h.Objective = objectiveOf(results[0].Objectives[0])
	}
	return h, nil
}

// result makes a result of what T4 says of it. The unit is that of times, in milliseconds.
func (t *t4Result) result(l *layout, h *Header, unit float64) (digits, tune.Result, error) {
	d, err := l.scanOnly(t.Configuration)
	if err != nil {
		return nil, tune.Result{}, err
	}
	r := tune.Result{
		Status:       tune.Status(t.Invalidity),
		Reason:       t.Reason,
		EarlyStopped: string(t.EarlyStopped) == "true",
		Timestamp:    timestampMember(t.Timestamp),
	}
	if len(t.Device) > 0 && t.Device[0] == '"' { // whatever else others mean by it
		r.Device = unquote(t.Device)
	}
	if exact := timestampMember(t.Exact); !exact.IsZero() {
		r.Timestamp = exact
	}
	if len(t.ReasonBase64) > 0 {
		r.Reason = string(t.ReasonBase64)
	}
	if !knownStatus[r.Status] {
		return nil, r, fmt.Errorf("the invalidity %q is none that T4 knows", t.Invalidity)
	}
	if r.Times, err = numbersMember(t.Times.Runtimes, unit); err != nil {
		return nil, r, fmt.Errorf("runtimes: %w", err)
	}
	if r.Final, err = numbersMember(t.Times.FinalRuntimes, unit); err != nil {
		return nil, r, fmt.Errorf("final_runtimes: %w", err)
	}
	if len(t.AtFinal) > 0 && len(r.Final) > 0 {
		if err := decodeValue(t.AtFinal, &r.AtFinal); err != nil {
			return nil, r, fmt.Errorf("at_final: %w", err)
		}
	}
	build := t.Times.Compilation
	if build == nil {
		build = t.Times.CompilationTime
	}
	scaled := func(raw []byte) time.Duration { return millisecondsMember(raw, unit) }
	r.Durations = tune.Durations{
		Build: scaled(build), Verify: scaled(t.Times.Validation), Measure: scaled(t.Times.Benchmark),
		Framework: scaled(t.Times.Framework), Search: scaled(t.Times.SearchAlgorithm),
	}
	mean, failure := t.measurements(&r, h.Objective)
	if r.Status != tune.Correct && r.Reason == "" {
		r.Reason = failure
	}
	finish(&r, h.Objective, mean*unit)
	return d, r, nil
}

// measurements takes the metrics, the mean time, NaN where there is none, and the name of
// an error.
func (t *t4Result) measurements(r *tune.Result, objective problem.Objective) (mean float64, failure string) {
	mean = math.NaN()
	for _, m := range t.Measurements {
		f, err := number(m.Value)
		switch {
		case m.Name == "final_time" && len(r.Final) > 0:
		case err != nil:
			if m.Name == "time" || m.Name == objective.Name {
				failure = textMember(m.Value)
			}
		case m.Name == "time":
			mean = f
		case m.Name == "time_min" || m.Name == "time_median":
		default:
			r.Metrics = append(r.Metrics, problem.MetricValue{Name: m.Name, Value: f})
		}
	}
	return mean, failure
}

// unitOf is a unit of time in milliseconds, the unit of a file that names none.
func unitOf(name string) float64 {
	switch name = strings.ToLower(strings.TrimSpace(name)); {
	case name == "s" || strings.HasPrefix(name, "sec"):
		return 1e3
	case name == "us" || name == "µs" || strings.HasPrefix(name, "mic"):
		return 1e-3
	case name == "ns" || strings.HasPrefix(name, "nan"):
		return 1e-6
	}
	return 1
}
