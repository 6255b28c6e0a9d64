package record

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
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
// and the objective are at that median is «at_final», and the launches are «global», «local», «offset» and
// «kernels», as in a run log. [Read] takes them back.
// After a final measurement «rank» is the place of a correct result, from 1, which is that of the
// winner (see [tune.Ranking]): the objectives are those of the search, and do not tell it.
func EncodeT4(w io.Writer, r *Record) error {
	header, err := r.Header.MarshalJSON()
	if err != nil {
		return err
	}
	begin := fmt.Appendf(nil, `{"metadata":{"timeunit":"miliseconds","ndtune":%s},"results":[`, header)
	ranks := r.ranks()
	return r.encode(w, r.Header.Parameters, begin, "\n],\"schema_version\":\""+t4Version+"\"}\n", func(b []byte, of *layout, d digits, i int) ([]byte, error) {
		rank := 0
		if ranks != nil {
			rank = ranks[i]
		}
		if i > 0 {
			b = append(b, ',')
		}
		return of.appendT4(append(b, '\n'), d, &r.Results[i], &r.Header, rank), nil
	})
}

// appendT4 writes one result.
func (l *layout) appendT4(b []byte, d digits, r *tune.Result, h *Header, rank int) []byte {
	correct := r.Status == tune.Correct
	b = appendText(append(b, `{"timestamp":`...), pythonTime(r.Timestamp))
	b = l.append(append(b, `,"configuration":`...), d)
	b = append(b, `,"times":{`...)
	for _, f := range t4Durations(&r.Durations) {
		if *f.at != 0 || f.name != "benchmark" { // which others leave out
			b = appendMilliseconds(appendName(b, f.name), *f.at)
		}
	}
	b = appendFields(b, field{"runtimes", &r.Times}, field{"final_runtimes", &r.Final})
	b = appendText(append(b, `},"invalidity":`...), string(r.Status))
	if correct {
		b = append(b, `,"correctness":1`...)
	} else {
		b = append(b, `,"correctness":0`...)
	}
	if r.Reason != errorName(r.Status) {
		b = appendFields(b, field{"reason", &r.Reason}, field{"reason_base64", (*notUTF8)(&r.Reason)})
	}
	b = appendFields(b, field{"early_stopped", &r.EarlyStopped}, field{"device", &r.Device}, field{"rank", &rank})
	b = appendFields(b, field{"final_device", &r.FinalDevice}, field{"at_final", &r.AtFinal}, field{"cards", &r.Cards})
	b = appendFields(b, field{"readings", &r.Readings}, field{"final_readings", &r.FinalReadings})
	b = appendFields(b, field{"global", &r.Global}, field{"local", &r.Local}, field{"offset", &r.Offset}, field{"kernels", &r.Parts})
	if r.Verified != verifiedBy(h, r) {
		b = strconv.AppendBool(appendName(b, "verified"), r.Verified)
	}
	if t := r.Timestamp; !t.Equal(t.Truncate(time.Microsecond)) {
		b = appendFields(b, field{"exact_timestamp", &t})
	}
	b = append(b, `,"measurements":[`...)
	objective := objectiveName(h.Objective)
	measurement := func(name string, value float64, unit string) {
		b = appendText(append(separate(b), `{"name":`...), name)
		if b = append(b, `,"value":`...); correct {
			b = appendFloat(b, value)
		} else { // whatever a reader looks for is the name of the error
			b = appendText(b, errorName(r.Status))
		}
		b = append(appendText(append(b, `,"unit":`...), unit), '}')
	}
	measurement("time", r.Time(), "")
	if correct && len(r.Final) > 0 {
		measurement("final_time", r.FinalTime(), "")
	}
	if _, metric := r.Metric(objective); objective != "time" && !(correct && metric) {
		measurement(objective, r.Objective, "")
	}
	if correct {
		for _, m := range r.Metrics {
			unit := ""
			if _, observed := hardware.ReadingOf(r.Readings, m.Name); observed {
				unit = hardware.Unit(m.Name)
			}
			measurement(m.Name, m.Value, unit)
		}
	}
	b = append(b, `],"objectives":[`...)
	for _, o := range h.Objective.All() {
		b = appendText(separate(b), o.Name)
	}
	return append(b, "]}"...)
}

// A durationName is the name of a part of a Durations in a file of other programs.
type durationName struct {
	name string
	at   *time.Duration
}

func t4Durations(d *tune.Durations) [5]durationName {
	return [5]durationName{
		{"compilation", &d.Build}, {"benchmark", &d.Measure}, {"framework", &d.Framework},
		{"search_algorithm", &d.Search}, {"validation", &d.Verify},
	}
}

// verifiedBy is whether a result was verified as far as the header tells.
func verifiedBy(h *Header, r *tune.Result) bool {
	return h.Verified && (r.Status == tune.Correct || r.Status == tune.Correctness)
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
	Timestamp     json.RawMessage            `json:"timestamp"`
	Configuration json.RawMessage            `json:"configuration"`
	Times         map[string]json.RawMessage `json:"times"`
	Invalidity    string                     `json:"invalidity"`
	Reason        string                     `json:"reason"`
	ReasonBase64  []byte                     `json:"reason_base64"`
	EarlyStopped  json.RawMessage            `json:"early_stopped"`
	Device        json.RawMessage            `json:"device"`
	Verified      json.RawMessage            `json:"verified"`
	Exact         json.RawMessage            `json:"exact_timestamp"`
	FinalDevice   json.RawMessage            `json:"final_device"`
	AtFinal       json.RawMessage            `json:"at_final"`
	Cards         json.RawMessage            `json:"cards"`
	Readings      json.RawMessage            `json:"readings"`
	FinalReadings json.RawMessage            `json:"final_readings"`
	Global        json.RawMessage            `json:"global"`
	Local         json.RawMessage            `json:"local"`
	Offset        json.RawMessage            `json:"offset"`
	Kernels       json.RawMessage            `json:"kernels"`
	Measurements  []struct {
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
	if len(results) > 0 {
		for i, name := range results[0].Objectives {
			if o := objectiveOf(name); i == 0 {
				h.Objective = o
			} else {
				h.Objective.More = append(h.Objective.More, o)
			}
		}
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
	if !knownStatus(r.Status) {
		return nil, r, fmt.Errorf("the invalidity %q is none that T4 knows", t.Invalidity)
	}
	if r.Times, err = numbersMember(t.Times["runtimes"], unit); err != nil {
		return nil, r, fmt.Errorf("runtimes: %w", err)
	}
	if r.Final, err = numbersMember(t.Times["final_runtimes"], unit); err != nil {
		return nil, r, fmt.Errorf("final_runtimes: %w", err)
	}
	if len(t.AtFinal) > 0 && len(r.Final) > 0 {
		if err := decodeValue(t.AtFinal, &r.AtFinal); err != nil {
			return nil, r, fmt.Errorf("at_final: %w", err)
		}
	}
	for _, f := range []struct {
		raw json.RawMessage
		to  any
	}{{t.Global, &r.Global}, {t.Local, &r.Local}, {t.Offset, &r.Offset}, {t.Kernels, &r.Parts}, {t.FinalDevice, &r.FinalDevice}, {t.Cards, &r.Cards}, {t.Readings, &r.Readings}, {t.FinalReadings, &r.FinalReadings}} {
		if len(f.raw) > 0 {
			_ = decodeValue(f.raw, f.to) // whatever else others mean by it
		}
	}
	for _, f := range t4Durations(&r.Durations) {
		*f.at = millisecondsMember(t.Times[f.name], unit)
	}
	if t.Times["compilation"] == nil {
		r.Durations.Build = millisecondsMember(t.Times["compilation_time"], unit) // the schema's own word
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
		f, err := parseNumber(m.Value)
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
