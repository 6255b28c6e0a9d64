package report

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/space"
)

// A Summary is the first screen. Numbers are pointers where they can be unknown.
type Summary struct {
	Evaluations  int           `json:"evaluations"`
	Combinations string        `json:"combinations"` // of all values, before restrictions
	Statuses     []StatusCount `json:"statuses"`     // those that occur, in the order of tune.Statuses
	Verified     int           `json:"verified"`     // of the correct configurations
	EarlyStopped int           `json:"earlyStopped"`

	Best   *Best    `json:"best"`   // null where no configuration is correct
	Median *float64 `json:"median"` // of the objective over all correct configurations
	Worst  *float64 `json:"worst"`
	// OverMedian and OverWorst say how many times better Best.Objective is than these. Only the
	// best few are measured again: the median and the worst are of the search.
	OverMedian *float64 `json:"overMedian"`
	OverWorst  *float64 `json:"overWorst"`
}

// A StatusCount is how many configurations ended so, with words for a reader.
type StatusCount struct {
	Status string `json:"status"`
	Text   string `json:"text"`
	Count  int    `json:"count"`
}

// A Best is the best configuration.
type Best struct {
	Row           int     `json:"row"`
	Configuration string  `json:"configuration"`
	Options       string  `json:"options"` // -D options of a compiler
	YAML          string  `json:"yaml"`
	Objective     float64 `json:"objective"` // at Time

	Time       float64 `json:"time"`       // milliseconds
	Final      bool    `json:"final"`      // Time is the median of the interleaved final measurement
	Launches   int     `json:"launches"`   // that Time comes from
	SearchTime float64 `json:"searchTime"` // the mean of the launches in the search
	Deviation  float64 `json:"deviation"`  // standard deviation of these launches, milliseconds
	Finalists  int     `json:"finalists"`  // measured again with it

	Metrics  []MetricFigure `json:"metrics"`
	Verified bool           `json:"verified"`
	Device   string         `json:"device"`
}

// A MetricFigure is a metric of the best. AtTime says that it is the metric at Best.Time, not
// that of the search.
type MetricFigure struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	AtTime bool    `json:"atTime"`
}

func summarize(run *Run, b *best) Summary {
	s := Summary{Evaluations: len(run.results), Combinations: combinations(run.Parameters), Statuses: []StatusCount{}}
	counts := map[tune.Status]int{}
	for i := range run.results {
		r := &run.results[i]
		counts[r.Status]++
		if r.Status == tune.Correct && r.Verified {
			s.Verified++
		}
		if r.EarlyStopped {
			s.EarlyStopped++
		}
	}
	for _, status := range tune.Statuses() {
		if n := counts[status]; n > 0 {
			s.Statuses = append(s.Statuses, StatusCount{string(status), status.Text(), n})
		}
	}
	if b == nil {
		return s
	}
	s.Best = describeBest(run, b)
	values := objectives(run.results)
	slices.Sort(values)
	n := len(values)
	median, worst := (values[(n-1)/2]+values[n/2])/2, values[n-1]
	if run.objective.Maximize {
		worst = values[0]
	}
	s.Median, s.Worst = &median, &worst
	s.OverMedian, s.OverWorst = gain(run.objective, s.Best.Objective, median), gain(run.objective, s.Best.Objective, worst)
	return s
}

// objectives are those of the correct configurations that can be ranked.
func objectives(results []tune.Result) []float64 {
	var values []float64
	for i := range results {
		if results[i].Rankable() {
			values = append(values, results[i].Objective)
		}
	}
	return values
}

// gain is nil where it is not known.
func gain(o tune.Objective, value, than float64) *float64 {
	ratio, known := o.Gain(value, than)
	if !known {
		return nil
	}
	return &ratio
}

func combinations(parameters []Parameter) string {
	product := big.NewInt(1)
	for _, p := range parameters {
		product.Mul(product, big.NewInt(int64(len(p.Values))))
	}
	return product.String()
}

func describeBest(run *Run, b *best) *Best {
	r := &run.results[b.row]
	f := b.figures
	d := &Best{
		Row: b.row, Configuration: r.Configuration.String(), Options: tune.BuildOptions(r.Configuration),
		YAML: asYAML(r.Configuration), Objective: f.Objective,
		Time: f.Time, Final: f.Final, Launches: len(r.Times), SearchTime: r.Time(), Deviation: r.Stats().StandardDeviation,
		Metrics: []MetricFigure{}, Verified: r.Verified, Device: r.Device,
	}
	if f.Final {
		d.Launches = len(r.Final)
	}
	for i := range run.results {
		if len(run.results[i].Final) > 0 {
			d.Finalists++
		}
	}
	for _, m := range r.Metrics {
		figure := MetricFigure{m.Name, m.Value, false}
		if v, known := f.Metric(m.Name); known {
			figure.Value, figure.AtTime = v, true
		}
		if !math.IsNaN(figure.Value) && !math.IsInf(figure.Value, 0) {
			d.Metrics = append(d.Metrics, figure)
		}
	}
	return d
}

// asYAML is a configuration as a mapping, which a specification or a program can read.
func asYAML(c space.Configuration) string {
	var b strings.Builder
	for i := range c.Len() {
		line, err := yaml.Marshal(map[string]any{c.Parameters().At(i).Name: c.At(i)})
		if err != nil {
			panic(err) // numbers, bools and texts can be written
		}
		b.Write(line)
	}
	return b.String()
}
