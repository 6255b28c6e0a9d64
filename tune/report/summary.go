package report

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
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
	// OverMedian and OverWorst say how many times better Best.SearchObjective is than these. Only the
	// best few are measured again: all three are of the search.
	OverMedian *float64 `json:"overMedian"`
	OverWorst  *float64 `json:"overWorst"`
	// The baseline of the specification, measured again with the best; null without one that is correct.
	Baseline     *float64 `json:"baseline"`
	OverBaseline *float64 `json:"overBaseline"`
}

// A StatusCount is how many configurations ended so, with words for a reader.
type StatusCount struct {
	Status string `json:"status"`
	Text   string `json:"text"`
	Count  int    `json:"count"`
}

// A Best is the best configuration.
type Best struct {
	Row           int      `json:"row"`
	Configuration string   `json:"configuration"`
	Options       string   `json:"options"` // of the compiler, all of them
	Sizes         []string `json:"sizes"`   // of the launches, as [tune.Result.Launches] describes them
	YAML          string   `json:"yaml"`
	Objective     float64  `json:"objective"` // at Time

	SearchObjective float64 `json:"searchObjective"`

	Time       float64 `json:"time"`       // milliseconds
	Final      bool    `json:"final"`      // Time is the median of the final measurement, in turn with others
	Launches   int     `json:"launches"`   // that Time comes from
	SearchTime float64 `json:"searchTime"` // the mean of the launches in the search
	Deviation  float64 `json:"deviation"`  // standard deviation of these launches, milliseconds
	Finalists  int     `json:"finalists"`  // measured again with it

	Metrics  []MetricFigure `json:"metrics"`
	Verified bool           `json:"verified"`
	Device   string         `json:"device"`

	FinalDevice string `json:"finalDevice"` // that made the final measurement, if several shared the search
}

// A MetricFigure is a metric of the best. AtTime says that it is the metric at Best.Time, not
// that of the search.
type MetricFigure struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	AtTime bool    `json:"atTime"`
}

func summarize(run *Run) Summary {
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
	if len(run.ranking.Indices) == 0 {
		return s
	}
	s.Best = describeBest(run)
	values := run.objectives()
	median, worst := score.StatsOf(values).Median, slices.Max(values)
	if run.objective.Maximize {
		worst = slices.Min(values)
	}
	s.Median, s.Worst = &median, &worst
	s.OverMedian, s.OverWorst = gain(run.objective.Gain(s.Best.SearchObjective, median)), gain(run.objective.Gain(s.Best.SearchObjective, worst))
	if base := tune.ResultOf(run.results, run.baseline); run.baseline != nil && base != nil && base.Rankable() {
		value := base.Figures().Objective
		s.Baseline, s.OverBaseline = &value, gain(run.results[s.Best.Row].GainOver(run.objective, base))
	}
	return s
}

// objectives returns those of the search, of the configurations that can be ranked.
func (run *Run) objectives() []float64 {
	return each.Of(run.ranking.Indices, func(i int) float64 { return run.results[i].Objective })
}

// gain is nil where it is not known.
func gain(ratio float64, known bool) *float64 {
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

// describeBest describes the first of the ranking.
func describeBest(run *Run) *Best {
	row := run.ranking.Indices[0]
	r := &run.results[row]
	f := r.Figures()
	d := &Best{
		Row: row, Configuration: r.Configuration.String(), Options: strings.TrimSpace(problem.OptionsAt(run.options, run.defined, r.Configuration) + " " + problem.BuildOptions(r.Configuration, nil)), Sizes: r.Launches(),
		YAML: asYAML(r.Configuration), Objective: f.Objective, SearchObjective: r.Objective,
		Time: f.Time, Final: f.Final, Launches: len(r.Times), SearchTime: r.Time(), Deviation: r.Stats().StandardDeviation,
		Metrics: []MetricFigure{}, Verified: r.Verified, Device: r.Device, FinalDevice: r.FinalDevice,
	}
	if f.Final {
		d.Launches = len(r.Final)
	}
	d.Finalists = each.Count(run.results, func(r tune.Result) bool { return len(r.Final) > 0 })
	for _, m := range r.Metrics {
		figure := MetricFigure{m.Name, m.Value, false}
		if v, known := f.Metric(m.Name); known {
			figure.Value, figure.AtTime = v, true
		}
		if !math.IsNaN(figure.Value) && !math.IsInf(figure.Value, 0) && !(m.Name == score.MetricOfLimit && score.IsBeaten(figure.Value)) {
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

// The levels of a [Notice].
const (
	levelWarning = "warning"
	levelHint    = "hint"
)

// noisy is the standard deviation over the mean from which on a mean of a few launches is
// doubtful.
const noisy = 0.05

// noticesOf says what is doubtful about a run, then what could be better.
func noticesOf(run *Run, h *record.Header) []Notice {
	all := []Notice{}
	warn := func(format string, a ...any) {
		all = append(all, Notice{levelWarning, fmt.Sprintf(format, a...)})
	}
	hint := func(format string, a ...any) {
		all = append(all, Notice{levelHint, fmt.Sprintf(format, a...)})
	}
	s := &run.Summary
	b := s.Best
	if len(run.results) == 0 {
		return all // a run that has only begun
	}
	if b == nil {
		warn("No configuration is correct. The failures below say why.")
		return all
	}
	correct := s.Statuses[0].Count
	switch {
	case s.Verified == 0 && !h.Verified:
		warn("Nothing checked that the output is right: the specification has no verify, or this file format does not say.")
	case s.Verified < correct:
		warn("%d of %d correct configurations are unverified.", correct-s.Verified, correct)
	}
	if h.MeansOnly > 0 {
		warn("Of %d results the record holds the mean of the launches only, which is their time here: one disturbed launch changes it.", h.MeansOnly)
	}
	if !h.Medians && len(h.Metrics) > 0 {
		warn("The metrics are those of the record, at the mean of the launches. Times are their medians.")
	}
	if run.Device.Timer == hardware.TimerHost {
		warn("Times come from the host's clock, because the driver's profiling timestamps cannot be used, or by measure.timer; they include the cost of a launch.")
	}
	for _, i := range run.Device.Instruments {
		if i.Missing != "" {
			warn("The quantity %s %s.", i.Quantity, i)
		}
	}
	for _, text := range tune.Notices(run.results, run.Device) {
		warn("%s.", text)
	}
	r := &run.results[b.Row]
	if share, known := r.Figures().Metric(score.MetricOfLimit); known && score.IsBeaten(share) {
		warn("%s", score.BeatenText(""))
	}
	if stats := r.Stats(); stats.Mean > 0 && stats.Count > 1 && stats.StandardDeviation/stats.Mean > noisy && !b.Final {
		warn("The times of the best scatter by %s %% (standard deviation over mean of %d launches): a repeated run may choose another.",
			figure.Number(100*stats.StandardDeviation/stats.Mean), stats.Count)
	}
	if n := besideFront(run); n > 0 {
		warn("%d of %d correct configurations take no part in the front: they lack a value of an objective, "+
			"or were measured only once because they were slow (measure.early_stop).", n, correct)
	}
	if n := rivals(run); n > 0 {
		hint("Within 1 %% of the best: %s more. Another run may turn that difference around.", figure.Count(n, "configuration"))
	}
	if edges := edgesOf(run); len(edges) > 0 {
		hint("The best lies at the edge of what was tried: %s. Values beyond may be better still.", strings.Join(edges, ", "))
	}
	return all
}

// besideFront returns the number of correct results that cannot be part of the front, though the search measured them.
func besideFront(run *Run) int {
	return each.Count(run.results, func(r tune.Result) bool {
		return run.Front != nil && r.Status == tune.Correct && (r.EarlyStopped || slices.ContainsFunc(r.Values(run.objective), func(v float64) bool { return !score.Finite(v) }))
	})
}

// rivals are how many others are within 1 % of the best by the objective: in the final measurement
// where that decided, else in the search.
func rivals(run *Run) int {
	n, b := 0, run.Summary.Best
	for _, i := range run.ranking.Indices {
		f := run.results[i].Figures()
		if i == b.Row || f.Final != b.Final {
			continue
		}
		if x, y := f.Objective, b.Objective; y != 0 && math.Abs(x-y) <= 0.01*math.Abs(y) {
			n++
		}
	}
	return n
}

// edgesOf are the parameters of which the best has the largest number of at least three that
// grow by a factor or a step. The smallest is left out: it is most often the smallest there is.
func edgesOf(run *Run) []string {
	var edges []string
	for _, p := range run.Parameters {
		if !p.Numeric || len(p.Numbers) < 3 {
			continue
		}
		v, _ := run.results[run.Summary.Best.Row].Configuration.Get(p.Name)
		if mine, _ := space.Number(v); mine >= slices.Max(p.Numbers) {
			edges = append(edges, fmt.Sprintf("%s=%s is the largest value", p.Name, space.FormatValue(v)))
		}
	}
	return edges
}
