package problem

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

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
	p.compileMeasure(errs, scope)
	if p.IsPipeline() {
		zeros := map[string]any{}
		for _, name := range p.KernelNames() {
			zeros[name] = 0.0
		}
		scope[partTimes] = zeros
	}
	objectives := append(append(slices.Clone(timeNames), p.roofline.reserved()...), p.quantities()...)
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
	p.compileObjective(errs, objectives)
	p.findObserved()
	p.checkErrors(errs)
}

// MetricNames returns the names of the metrics of results on a device, in order, beginning with those of
// the roofline and the observed quantities.
func (p *Problem) MetricNames(d hardware.Device) []string {
	names := append(p.roofline.metrics(d), p.observed...)
	for _, m := range p.definition.Metrics {
		names = append(names, m.Name)
	}
	return names
}

// CheckObjective returns an error if no result on a device can have the objective.
func (p *Problem) CheckObjective(d hardware.Device) error {
	if err := p.checkInstruments(d); err != nil {
		return err
	}
	if !p.Objective().Has(MetricOfLimit) {
		return nil
	}
	if err := p.LimitKnown(d); err != nil {
		return fmt.Errorf("the objective is %s: %w", MetricOfLimit, err)
	}
	return nil
}

// partTimes is the name of the times of the kernels of a pipeline in metrics: times.NAME.
const partTimes = "times"

// Judge computes the metrics and the objective of timed launches and of what was observed. The times of the parts of a pipeline count as
// shares of their sum: times.NAME is the share of the given time. A metric that cannot be computed is
// NaN. It is an error if the times cannot be ranked, or if the objective is not a finite number.
func (p *Problem) Judge(c space.Configuration, d hardware.Device, times Stats, time float64, parts []Part, readings []hardware.Reading) (Judgement, error) {
	if err := times.Rankable(); err != nil {
		return Judgement{}, err
	}
	env := p.environmentOf(c, d)
	env["time"], env["time_min"], env["time_median"] = time, times.Min, times.Median
	if p.IsPipeline() {
		env[partTimes] = p.partTimes(parts, time)
	}
	failed := map[string]error{} // by metric
	metrics := p.rooflineMetrics(env, d, time, failed)
	metrics = append(metrics, p.observedMetrics(env, readings)...)
	for i, e := range p.metrics {
		name := p.definition.Metrics[i].Name
		v, err := e.Float(env)
		if err != nil {
			v, failed[name] = math.NaN(), fmt.Errorf("metric %s: %w", name, err)
		}
		metrics = append(metrics, MetricValue{name, v})
		if _, taken := env[name]; space.IsIdentifier(name) && !taken {
			env[name] = v
		}
	}
	objectives := p.Objective().All()
	first := objectives[0].Value(times, time, metrics)
	for _, o := range objectives {
		if v := o.Value(times, time, metrics); !Finite(v) {
			if err := p.whyUnknown(o.Name, failed, readings); err != nil {
				return Judgement{metrics, first}, fmt.Errorf("the objective %s is not known: %w", o.Name, err)
			}
			return Judgement{metrics, first}, fmt.Errorf("the objective %s is %v", o.Name, v)
		}
	}
	return Judgement{metrics, first}, nil
}

// whyUnknown returns the reason why a metric or a quantity has no value: its own, or that of one that its expression reads. It returns nil
// if there is none.
func (p *Problem) whyUnknown(name string, failed map[string]error, readings []hardware.Reading) error {
	if err := failed[name]; err != nil {
		return err
	}
	if slices.Contains(p.essential, name) {
		if r, ok := hardware.ReadingOf(readings, name); !ok {
			return fmt.Errorf("%s was not observed", name)
		} else if r.Missing != "" {
			return fmt.Errorf("%s could not be observed: %s", name, r.Missing)
		}
	}
	i := slices.IndexFunc(p.definition.Metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	read := slices.Clone(p.essential)
	for _, m := range p.definition.Metrics[:i] {
		read = append(read, m.Name)
	}
	for _, other := range read {
		if p.metrics[i].Reads(other) {
			if err := p.whyUnknown(other, failed, readings); err != nil {
				return err
			}
		}
	}
	return nil
}

// partTimes returns the times of all kernels of a pipeline by name. A kernel that a configuration does not launch
// has the time 0. Without parts, no time is known.
func (p *Problem) partTimes(parts []Part, time float64) map[string]any {
	times, sum := map[string]any{}, 0.0
	for _, part := range parts {
		sum += part.Time
	}
	if sum > 0 {
		for _, name := range p.KernelNames() {
			times[name] = 0.0
		}
		for _, part := range parts {
			times[part.Kernel] = time * part.Time / sum
		}
	}
	return times
}

// A Judgement is the value of the times of a configuration.
type Judgement struct {
	Metrics   []MetricValue // in the order of [Problem.MetricNames]
	Objective float64       // NaN if it cannot be computed or ranked
}

// A MetricValue is a metric of a result.
type MetricValue struct {
	Name  string
	Value float64
}

// Metric returns the value of the named metric.
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

// Stats summarise the timed launches of a configuration. All but Count are in milliseconds.
type Stats struct {
	Count             int
	Mean, Median      float64
	Min, Max          float64
	StandardDeviation float64 // of the sample (n − 1); 0 for fewer than two launches
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

// Finite reports whether v is a finite number, as an objective must be to be ranked.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Better reports whether value a of the objective improves on value b: it is smaller where the
// objective is minimised, larger where it is maximised. A value that is not a finite number
// improves on nothing, and every finite number improves on it.
func (o Objective) Better(a, b float64) bool {
	switch {
	case !Finite(a):
		return false
	case !Finite(b):
		return true
	case o.Maximize:
		return a > b
	}
	return a < b
}

// Gain returns how many times better a value of the objective is than another. It is not known unless
// both are positive.
func (o Objective) Gain(value, than float64) (ratio float64, known bool) {
	switch {
	case !(value > 0) || !(than > 0):
		return 0, false
	case o.Maximize:
		return value / than, true
	}
	return than / value, true
}

// Worse reports whether a value of the objective is worse than the best by more than a
// factor: larger than factor·best where it is minimised, smaller than best/factor where it
// is maximised. It is false if the best is not positive, if the factor is not more than 1, and if any
// of the three is not a finite number.
func (o Objective) Worse(value, best, factor float64) bool {
	switch {
	case !Finite(value) || !Finite(best) || !Finite(factor) || best <= 0 || factor <= 1:
		return false
	case o.Maximize:
		return value < best/factor
	}
	return value > factor*best
}

// ObjectiveAt returns the objective of a configuration by the times of its launches in milliseconds. It
// is an error if these times cannot be ranked, or if the objective needs readings of instruments.
func (p *Problem) ObjectiveAt(c space.Configuration, d hardware.Device, times []float64) (float64, error) {
	stats := StatsOf(times)
	j, err := p.Judge(c, d, stats, stats.Mean, nil, nil)
	if err != nil {
		return 0, err
	}
	return j.Objective, nil
}
