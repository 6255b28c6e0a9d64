package score

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/internal/figure"
)

// Stats summarise the timed launches of a configuration. All but Count are in milliseconds. The time of the configuration is the median:
// one disturbed launch does not change it.
type Stats struct {
	Count             int
	Mean, Median      float64
	Min, Max          float64
	StandardDeviation float64 // of the sample (n − 1); 0 for fewer than two launches
}

// TimeNames are the names of statistics in expressions and objectives. The first two are the same.
var TimeNames = []string{"time", "time_median", "time_mean", "time_min"}

// Named returns the statistic of one of the [TimeNames]. It is false for other names.
func (s Stats) Named(name string) (float64, bool) {
	i := slices.Index(TimeNames, name)
	if i < 0 {
		return 0, false
	}
	return []float64{s.Median, s.Median, s.Mean, s.Min}[i], true
}

// Rankable returns an error if there are no times, or if no launch can have taken them: configurations
// with such times would win every search.
func (s Stats) Rankable() error {
	if s.Count == 0 {
		return errors.New("there is no time of a launch")
	}
	for _, ms := range []float64{s.Min, s.Max} {
		if !(ms > 0 && Finite(ms)) {
			return fmt.Errorf("the timer gave %v ms for a launch; such a time cannot be ranked", ms)
		}
	}
	return nil
}

// StatsOf summarises times. All fields are 0 if there are none.
func StatsOf(times []float64) Stats {
	if len(times) == 0 {
		return Stats{}
	}
	sorted := slices.Sorted(slices.Values(times))
	n := len(sorted)
	s := Stats{Count: n, Mean: stat.Mean(sorted, nil), Min: sorted[0], Max: sorted[n-1]}
	s.Median = (sorted[(n-1)/2] + sorted[n/2]) / 2
	if n > 1 {
		s.StandardDeviation = stat.StdDev(sorted, nil)
	}
	return s
}

// Finite reports whether v is a finite number, as an objective must be to be ranked.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// A Judgement is the value of the times of a configuration.
type Judgement struct {
	Metrics   []MetricValue // in the order of problem.Problem.MetricNames
	Objective float64       // NaN if it cannot be computed or ranked
}

// Metric returns the value of the named metric.
func (j Judgement) Metric(name string) (float64, bool) { return Named(j.Metrics, name) }

// A MetricValue is a metric of a result.
type MetricValue struct {
	Name  string
	Value float64
}

// Text returns the metric for people: a share of the limit that cannot be is none.
func (m MetricValue) Text() string {
	if m.Name == MetricOfLimit {
		return m.Name + "=" + ShareText(m.Value)
	}
	return m.Name + "=" + figure.Number(m.Value)
}

// Named returns the value of the named metric.
func Named(metrics []MetricValue, name string) (float64, bool) {
	for _, m := range metrics {
		if m.Name == name {
			return m.Value, true
		}
	}
	return 0, false
}
