package record

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
)

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
	r := &Record{}
	if metadata.NDTune != nil {
		r.Header = *metadata.NDTune
		r.Header.Format, r.Header.Version = FormatT4, 0
	} else if r.Header, err = gatherT4Header(results); err != nil {
		return nil, err
	}
	l, err := newLayout(r.Header.Parameters)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i := range results {
		d, result, err := results[i].result(l, &r.Header, unitOf(metadata.TimeUnit))
		if err != nil {
			return nil, fmt.Errorf("result %d: %w", i+1, err)
		}
		if seen[d.key()] {
			continue
		}
		seen[d.key()] = true
		if metadata.NDTune != nil {
			result.Verified = verifiedBy(&r.Header, &result)
			if raw := string(results[i].Verified); raw == "true" || raw == "false" {
				result.Verified = raw == "true"
			}
		}
		r.Results = append(r.Results, result)
		for _, m := range result.Metrics {
			if metadata.NDTune == nil && !slices.Contains(r.Header.Metrics, m.Name) {
				r.Header.Metrics = append(r.Header.Metrics, m.Name)
			}
		}
	}
	if metadata.NDTune == nil {
		r.Header.describe(r.Results)
	}
	return r, nil
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
		Configuration: l.configuration(d),
		Status:        tune.Status(t.Invalidity),
		Reason:        t.Reason,
		EarlyStopped:  string(t.EarlyStopped) == "true",
		Timestamp:     timestampMember(t.Timestamp),
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
		if r.AtFinal, err = parseJudgement(t.AtFinal); err != nil {
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
func (t *t4Result) measurements(r *tune.Result, objective tune.Objective) (mean float64, failure string) {
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
			r.Metrics = append(r.Metrics, tune.MetricValue{Name: m.Name, Value: f})
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
