package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// A Run is one record: what was tuned on what, what came of it, and every configuration as a
// row of columns. A row is a place in the order of arrival, from 0.
type Run struct {
	Name   string `json:"name"`
	Format string `json:"format"`

	Kernel      string          `json:"kernel"`
	Source      string          `json:"source"` // of the kernel: a specification or a program
	Device      hardware.Device `json:"device"`
	Constants   []Assignment    `json:"constants"`
	ProblemSize []int           `json:"problemSize"`
	Strategy    string          `json:"strategy"`
	Seed        uint64          `json:"seed"`
	Started     string          `json:"started"` // RFC 3339, UTC; empty where unknown
	Tool        string          `json:"tool"`
	Iterations  int             `json:"iterations"` // timed launches of a configuration; 0 where unknown
	Cache       string          `json:"cache"`      // "cold", or "" for warm caches

	Parameters []Parameter `json:"parameters"`
	Objective  Objective   `json:"objective"`
	Measures   []Measure   `json:"measures"` // what can be drawn, the objective first
	Devices    []string    `json:"devices"`  // selectors, where several shared the search

	Summary    Summary     `json:"summary"`
	Front      *Front      `json:"front"` // null with one objective
	Notices    []Notice    `json:"notices"`
	Failures   []Failure   `json:"failures"` // the most frequent first
	Reasons    []Reason    `json:"reasons"`  // of failures, each text once
	Importance *Importance `json:"importance"`
	Spent      *Spent      `json:"spent"` // null where the record does not say

	Columns []Column `json:"columns"`

	results   []tune.Result
	options   string // of the compiler, as the specification writes them
	defined   []definition.Constant
	objective score.Objective
	baseline  map[string]space.Value
	ranking   tune.Ranking
	began     time.Time // as the header says; zero where it does not
}

// An Assignment is a name with the text of its value.
type Assignment struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Parameter is a tunable parameter. Numeric says that all its values are numbers, which
// Numbers then holds; the values are in the order of the record.
type Parameter struct {
	Name    string    `json:"name"`
	Values  []string  `json:"values"`
	Numeric bool      `json:"numeric"`
	Numbers []float64 `json:"numbers"`
}

// An Objective is what the search ranked by.
type Objective struct {
	Name     string `json:"name"`
	Maximize bool   `json:"maximize"`
}

// A Measure is a figure of every correct configuration, and the column that holds it. The
// unit is empty where the name says it (GB/s).
type Measure struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Column string `json:"column"`
}

// A Notice is something that a reader must know before trusting the result.
type Notice struct {
	Level string `json:"level"` // "warning": it can be wrong; "hint": it could be better
	Text  string `json:"text"`
}

// newRun is all of a run but what matters, which takes longest: see importanceOf.
func newRun(s Source) (*Run, error) {
	h := &s.Record.Header
	run := &Run{
		Name: s.Name, Format: h.Format, Kernel: h.Kernel, Source: h.Source, Device: h.Device,
		ProblemSize: h.ProblemSize, Strategy: h.Strategy, Seed: h.Seed, Tool: h.Tool, Iterations: h.Iterations, Cache: string(h.Cache),
		Objective: Objective{h.Objective.Name, h.Objective.Maximize},
		Constants: []Assignment{}, Parameters: []Parameter{}, Devices: []string{}, // lists, also where they are empty
		results: s.Record.Results, options: h.Options, defined: h.Constants, objective: h.Objective, baseline: h.Baseline,
		ranking: tune.Rank(h.Objective, s.Record.Results), began: h.Started,
	}
	run.ProblemSize = append([]int{}, run.ProblemSize...)
	run.Device.Extensions = nil // of no interest here, and long
	if !h.Started.IsZero() {
		run.Started = h.Started.UTC().Format(time.RFC3339)
	}
	for _, c := range h.Constants {
		v, err := space.NormalizeValue(c.Value)
		if err != nil {
			return nil, fmt.Errorf("constant %s: %w", c.Name, err)
		}
		run.Constants = append(run.Constants, Assignment{c.Name, space.FormatValue(v)})
	}
	for _, p := range h.Parameters {
		run.Parameters = append(run.Parameters, newParameter(p))
	}
	metrics := s.Record.MetricNames()
	run.Measures = measures(h.Objective.Name, metrics, h.Device.Instruments)
	if err := run.fillColumns(h.Parameters, metrics); err != nil {
		return nil, err
	}
	run.Failures, run.Reasons = failuresOf(run)
	run.Spent = spentOf(run)
	run.Summary = summarize(run)
	run.Front = FrontOf(h.Objective, run.results)
	run.Notices = noticesOf(run, h)
	return run, nil
}

func newParameter(p space.Parameter) Parameter {
	q := Parameter{Name: p.Name, Numeric: true}
	for _, v := range p.Values {
		q.Values = append(q.Values, space.FormatValue(v))
		f, ok := space.Number(v)
		q.Numeric = q.Numeric && ok
		q.Numbers = append(q.Numbers, f)
	}
	if !q.Numeric {
		q.Numbers = nil
	}
	return q
}

// measures are the objective, the time and the metrics, each once. The metrics that instruments observe have their units.
func measures(objective string, metrics []string, instruments []hardware.Instrument) []Measure {
	all := []Measure{{objective, unitOf(objective), columnObjective}}
	if objective != "time" {
		all = append(all, Measure{"time", "ms", columnTime})
	}
	for i, name := range metrics {
		if name != objective {
			all = append(all, Measure{name, "", metricColumn(i)})
		}
	}
	for i := range all {
		if slices.ContainsFunc(instruments, func(of hardware.Instrument) bool { return of.Quantity == all[i].Name }) {
			all[i].Unit = hardware.Unit(all[i].Name)
		}
	}
	return all
}

// unitOf is the unit of an objective.
func unitOf(name string) string {
	if slices.Contains(score.TimeNames, name) {
		return "ms"
	}
	return ""
}

// Title names the run in one line.
func (r *Run) Title() string {
	var parts []string
	for _, part := range []string{r.Kernel, strings.TrimSpace(r.Device.Name)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return r.Name
	}
	return strings.Join(parts, " on ")
}
