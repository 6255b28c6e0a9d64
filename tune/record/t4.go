package record

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
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
// [Header], and «ndtune» of a result its line in a run log. [Read] takes these. The reason of a
// failure is «reason» beside «invalidity», unless it is the error's name. After a final
// measurement «rank» counts the correct results from 1, the winner (see [tune.Ranking]): the
// objectives are those of the search, and do not tell it.
func EncodeT4(w io.Writer, r *Record) error {
	header, err := r.Header.MarshalJSON()
	if err != nil {
		return err
	}
	begin := fmt.Appendf(nil, `{"metadata":{"timeunit":"miliseconds","ndtune":%s},"results":[`, header)
	ranks := r.ranks()
	end := "\n],\"schema_version\":\"" + t4Version + "\"}\n"
	return r.encode(w, r.Header.Parameters, begin, end, func(b []byte, of *layout, d indices, i int) ([]byte, error) {
		rank := 0
		if ranks != nil {
			rank = ranks[i]
		}
		if i > 0 {
			b = append(b, ',')
		}
		return of.appendT4(append(b, '\n'), d, &r.Results[i], r.Header.Objective, rank)
	})
}

// appendT4 writes one result.
func (l *layout) appendT4(b []byte, d indices, r *tune.Result, o score.Objective, rank int) ([]byte, error) {
	correct := r.Status == tune.Correct
	b = appendText(append(b, `{"timestamp":`...), pythonTime(r.Timestamp))
	b = l.append(append(b, `,"configuration":`...), d)
	b = append(b, `,"times":{`...)
	for _, f := range t4Durations(&r.Durations) {
		if *f.at != 0 || f.name != "benchmark" { // which others leave out
			b = appendMilliseconds(appendName(b, f.name), *f.at)
		}
	}
	b = appendFields(b, field{"runtimes", &r.Times})
	b = appendText(append(b, `},"invalidity":`...), string(r.Status))
	if correct {
		b = append(b, `,"correctness":1`...)
	} else {
		b = append(b, `,"correctness":0`...)
	}
	if r.Reason != errorName(r.Status) {
		b = appendFields(b, field{"reason", &r.Reason})
	}
	b = appendFields(b, field{"rank", &rank})
	b = append(b, `,"measurements":[`...)
	objective := o.First().Name
	measurement := func(name string, value float64, unit string) {
		b = appendText(append(separate(b), `{"name":`...), name)
		b = append(b, `,"value":`...)
		if correct {
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
	for _, one := range o.All() {
		b = appendText(separate(b), one.Name)
	}
	own := entry{kind: kindResult, configuration: configured{l, d}, result: *r}
	b, err := own.append(append(b, `],"ndtune":`...))
	return append(b, '}'), err
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

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

func appendMilliseconds(b []byte, d time.Duration) []byte { return appendFloat(b, milliseconds(d)) }

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

// t4Result is a result as T4 writes it, with the member that EncodeT4 adds.
type t4Result struct {
	Timestamp     json.RawMessage            `json:"timestamp"`
	Configuration json.RawMessage            `json:"configuration"`
	Times         map[string]json.RawMessage `json:"times"`
	Invalidity    string                     `json:"invalidity"`
	NDTune        json.RawMessage            `json:"ndtune"`
	Measurements  []struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	} `json:"measurements"`
	Objectives []string `json:"objectives"`
}

// decodeT4 reads a T4 file, of this package or of others.
func decodeT4(doc document) (*Record, error) {
	var metadata struct {
		TimeUnit string
		NDTune   *Header
	}
	if raw := doc["metadata"]; raw != nil {
		if err := json.Unmarshal(raw, &metadata); err != nil {
			return nil, fmt.Errorf("metadata: %w", err)
		}
	}
	results, err := t4Results(doc["results"])
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
		var d indices
		var result tune.Result
		var err error
		if own && len(results[i].NDTune) > 0 {
			var p entry
			p, err = c.layout.parse(results[i].NDTune)
			d, result = p.configuration.indices, p.result
		} else {
			d, result, err = results[i].result(c.layout, &c.Header, unitOf(metadata.TimeUnit))
		}
		if err != nil {
			return nil, fmt.Errorf("result %d: %w", i+1, err)
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
			o := objectiveOf(name)
			if i == 0 {
				h.Objective = o
			} else {
				h.Objective.More = append(h.Objective.More, o)
			}
		}
	}
	return h, nil
}

// result makes a result of what T4 says of it. The unit is that of times, in milliseconds.
func (t *t4Result) result(l *layout, h *Header, unit float64) (indices, tune.Result, error) {
	d, err := l.scanOnly(t.Configuration)
	if err != nil {
		return nil, tune.Result{}, err
	}
	r := tune.Result{Status: tune.Status(t.Invalidity), Timestamp: timestampMember(t.Timestamp)}
	if !knownStatus(r.Status) {
		return nil, r, fmt.Errorf("the invalidity %q is none that T4 knows", t.Invalidity)
	}
	if r.Times, err = parseNumbers(t.Times["runtimes"]); err != nil {
		return nil, r, fmt.Errorf("runtimes: %w", err)
	}
	for i := range r.Times {
		r.Times[i] *= unit
	}
	for _, f := range t4Durations(&r.Durations) {
		*f.at = millisecondsMember(t.Times[f.name], unit)
	}
	if t.Times["compilation"] == nil {
		r.Durations.Build = millisecondsMember(t.Times["compilation_time"], unit) // the schema's own word
	}
	mean, failure := t.measurements(&r, h.Objective)
	if r.Status != tune.Correct {
		r.Reason = failure
	}
	finish(&r, h, mean*unit)
	return d, r, nil
}

// measurements takes the metrics, the mean time, NaN where there is none, and the name of
// an error.
func (t *t4Result) measurements(r *tune.Result, objective score.Objective) (mean float64, failure string) {
	mean = math.NaN()
	for _, m := range t.Measurements {
		f, err := parseNumber(m.Value)
		switch {
		case err != nil:
			if m.Name == "time" || m.Name == objective.Name {
				failure = textMember(m.Value)
			}
		case m.Name == "time":
			mean = f
		case slices.Contains(score.TimeNames, m.Name):
		default:
			r.Metrics = append(r.Metrics, score.MetricValue{Name: m.Name, Value: f})
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
