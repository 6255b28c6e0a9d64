package problem

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

var timeNames = []string{"time", "time_min", "time_median"}

func (p *Problem) compileMetrics(errs *fieldErrors, scope expression.Scope) {
	scope = maps.Clone(scope)
	for _, name := range timeNames {
		scope[name] = 0.0
	}
	objectives := append(slices.Clone(timeNames), p.roofline.reserved()...)
	for _, m := range p.definition.Metrics {
		field := "metrics." + m.Name
		switch {
		case m.Name == "":
			errs.addf("metrics", "a metric has no name")
		case slices.Contains(p.roofline.reserved(), m.Name):
			errs.addf(field, "roofline gives the metric of this name: leave this one out, or give it another name")
		case slices.Contains(objectives, m.Name):
			errs.addf(field, "the name stands twice")
		}
		e, err := expression.Compile(m.Expression, scope)
		errs.add(field, err)
		p.metrics = append(p.metrics, e)
		objectives = append(objectives, m.Name)
		if _, taken := scope[m.Name]; space.IsIdentifier(m.Name) && !taken {
			scope[m.Name] = 0.0
		}
	}
	if name := p.Objective().Name; !slices.Contains(objectives, name) {
		errs.addf("objective.name", "%q is neither time, time_min, time_median nor a metric%s", name, nearest.Hint(name, objectives))
	}
}

// MetricNames are the names of the metrics that results on a device have, in order: those of
// the roofline first.
func (p *Problem) MetricNames(d hardware.Device) []string {
	names := p.roofline.metrics(d)
	for _, m := range p.definition.Metrics {
		names = append(names, m.Name)
	}
	return names
}

// CheckObjective says why no result on a device can have the objective.
func (p *Problem) CheckObjective(d hardware.Device) error {
	if p.Objective().Name != MetricOfLimit {
		return nil
	}
	if err := p.LimitKnown(d); err != nil {
		return fmt.Errorf("the objective is %s: %w", MetricOfLimit, err)
	}
	return nil
}

// Judge computes the metrics and the objective of timed launches. A metric that cannot be
// computed is NaN; times that cannot be, and an objective that is not a finite number, are
// errors.
func (p *Problem) Judge(c space.Configuration, d hardware.Device, times Stats, time float64) (Judgement, error) {
	if err := times.Rankable(); err != nil {
		return Judgement{}, err
	}
	env := p.environment(d)
	c.Assign(env)
	env["time"], env["time_min"], env["time_median"] = time, times.Min, times.Median
	metrics, failed := p.rooflineMetrics(env, d, time)
	for i, e := range p.metrics {
		name := p.definition.Metrics[i].Name
		v, err := e.Float(env)
		if err != nil {
			v = math.NaN()
			failed = fmt.Errorf("metric %s: %w", name, err)
		}
		metrics = append(metrics, MetricValue{name, v})
		if _, taken := env[name]; space.IsIdentifier(name) && !taken {
			env[name] = v
		}
	}
	objective := p.Objective().Name
	value, ok := env[objective].(float64)
	for _, m := range metrics {
		if m.Name == objective {
			value, ok = m.Value, true
		}
	}
	if !ok || !Finite(value) {
		if failed == nil {
			failed = fmt.Errorf("the objective %s is %v", objective, value)
		}
		return Judgement{metrics, value}, failed
	}
	return Judgement{metrics, value}, nil
}

// A Judgement is what the times of a configuration are worth.
type Judgement struct {
	Metrics   []MetricValue // in the order of the problem's
	Objective float64       // NaN where it cannot be computed or ranked
}

// A MetricValue is a metric of a result.
type MetricValue struct {
	Name  string
	Value float64
}

// Metric is the value of the named metric.
func (j Judgement) Metric(name string) (float64, bool) { return Named(j.Metrics, name) }

// Named returns the value of the named metric.
func Named(metrics []MetricValue, name string) (float64, bool) {
	for _, m := range metrics {
		if m.Name == name {
			return m.Value, true
		}
	}
	return 0, false
}

// Stats summarise the timed launches of a configuration. All but Count are in
// milliseconds.
type Stats struct {
	Count             int
	Mean, Median      float64
	Min, Max          float64
	StandardDeviation float64 // of the sample (n − 1); 0 for fewer than two launches
}

// StatsOf summarises times. Without times all fields are 0.
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

// Rankable refuses times that no launch can have taken: a timer that gave them would win
// every search.
func (s Stats) Rankable() error {
	switch {
	case s.Count == 0:
		return errors.New("there is no time of a launch")
	case !(s.Min > 0):
		return fmt.Errorf("the timer gave %v ms for a launch; such a time cannot be ranked", s.Min)
	case math.IsInf(s.Max, 1):
		return fmt.Errorf("the timer gave %v ms for a launch; such a time cannot be ranked", s.Max)
	}
	return nil
}

// Finite reports whether an objective can be ranked.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
