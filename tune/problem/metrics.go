package problem

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

func (p compiler) compileMetrics() {
	p.scope = maps.Clone(p.scope)
	for _, name := range score.TimeNames {
		p.scope[name] = 0.0
	}
	p.compileMeasure()
	if p.IsPipeline() {
		zeros := map[string]any{}
		for _, name := range p.KernelNames() {
			zeros[name] = 0.0
		}
		p.scope[partTimes] = zeros
	}
	objectives := append(append(slices.Clone(score.TimeNames), p.roofline.reserved()...), p.quantities()...)
	for _, m := range p.definition.Metrics {
		field := "metrics." + m.Name
		switch {
		case m.Name == "":
			p.addf("metrics", "a metric has no name")
		case slices.Contains(p.roofline.reserved(), m.Name):
			p.addf(field, "roofline gives the metric of this name: leave this one out, or give it another name")
		case slices.Contains(objectives, m.Name):
			p.addf(field, "the name stands twice")
		}
		e, err := expression.Compile(m.Expression, p.scope)
		p.add(field, err)
		p.metrics = append(p.metrics, e)
		objectives = append(objectives, m.Name)
		if _, taken := p.scope[m.Name]; space.IsIdentifier(m.Name) && !taken {
			p.scope[m.Name] = 0.0
		}
	}
	p.compileObjective(objectives)
	p.findObserved()
	p.checkErrors()
}

// MetricNames returns the names of the metrics of results on a device, in order, beginning with those of
// the roofline and the observed quantities.
func (p *Problem) MetricNames(d hardware.Device) []string {
	own := each.Of(p.definition.Metrics, func(m definition.Metric) string { return m.Name })
	return slices.Concat(p.roofline.metrics(d.Peaks), p.observed, own)
}

// CheckObjective returns an error if no result on a device can have the objective.
func (p *Problem) CheckObjective(d hardware.Device) error {
	if err := p.checkInstruments(d); err != nil {
		return err
	}
	if !p.Objective().Has(score.MetricOfLimit) {
		return nil
	}
	if err := p.LimitKnown(d); err != nil {
		return fmt.Errorf("the objective is %s: %w", score.MetricOfLimit, err)
	}
	return nil
}

// partTimes is the name of the times of the kernels of a pipeline in metrics: times.NAME.
const partTimes = "times"

// Judge computes the metrics and the objective of timed launches and of what was observed. The times of the parts of a pipeline count as
// shares of their sum: times.NAME is the share of the median. A metric that cannot be computed is
// NaN. It is an error if the times cannot be ranked, or if the objective is not a finite number.
func (p *Problem) Judge(
	c space.Configuration, d hardware.Device, times score.Stats, parts []Part, readings []hardware.Reading,
) (score.Judgement, error) {
	if err := times.Rankable(); err != nil {
		return score.Judgement{}, err
	}
	env := p.environmentOf(c, d)
	for _, name := range score.TimeNames {
		env[name], _ = times.Named(name)
	}
	if p.IsPipeline() {
		env[partTimes] = p.partTimes(parts, times.Median)
	}
	failed := map[string]error{} // by metric
	metrics := p.rooflineMetrics(env, d, times.Median, failed)
	metrics = append(metrics, p.observedMetrics(env, readings)...)
	for i, e := range p.metrics {
		name := p.definition.Metrics[i].Name
		v, err := e.Float(env)
		if err != nil {
			v, failed[name] = math.NaN(), fmt.Errorf("metric %s: %w", name, err)
		}
		metrics = append(metrics, score.MetricValue{Name: name, Value: v})
		if _, taken := env[name]; space.IsIdentifier(name) && !taken {
			env[name] = v
		}
	}
	objectives := p.Objective().All()
	first := objectives[0].Value(times, metrics)
	for _, o := range objectives {
		if v := o.Value(times, metrics); !score.Finite(v) {
			if err := p.whyUnknown(o.Name, failed, readings); err != nil {
				return score.Judgement{Metrics: metrics, Objective: first}, fmt.Errorf("the objective %s is not known: %w", o.Name, err)
			}
			return score.Judgement{Metrics: metrics, Objective: first}, fmt.Errorf("the objective %s is %v", o.Name, v)
		}
	}
	return score.Judgement{Metrics: metrics, Objective: first}, nil
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
	i := slices.IndexFunc(p.definition.Metrics, func(m definition.Metric) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	before := each.Of(p.definition.Metrics[:i], func(m definition.Metric) string { return m.Name })
	for _, other := range slices.Concat(p.essential, before) {
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

// ObjectiveAt returns the objective of a configuration by the times of its launches in milliseconds. It
// is an error if these times cannot be ranked, or if the objective needs readings of instruments.
func (p *Problem) ObjectiveAt(c space.Configuration, d hardware.Device, times []float64) (float64, error) {
	j, err := p.Judge(c, d, score.StatsOf(times), nil, nil)
	if err != nil {
		return 0, err
	}
	return j.Objective, nil
}

// compileObjective checks the objectives. The names are those that an objective can have.
func (p compiler) compileObjective(names []string) {
	all := p.Objective().All()
	field := func(i int) string {
		if len(all) > 1 {
			return fmt.Sprintf("objective[%d].name", i)
		}
		return "objective.name"
	}
	for i, o := range all {
		switch {
		case !slices.Contains(names, o.Name):
			p.addf(field(i), "%q is neither a metric nor a time (%s)%s", o.Name, strings.Join(score.TimeNames, ", "), nearest.Hint(o.Name, names))
		case slices.ContainsFunc(all[:i], func(other score.Objective) bool { return other.Name == o.Name }):
			p.addf(field(i), "the objective %s stands twice", o.Name)
		case len(all) > 1 && strings.Contains(o.Name, ","):
			p.addf(field(i), "one of several objectives has no comma in its name: give the metric another name")
		case o.Several() || o.Choose != "":
			p.addf(field(i), "a further objective has no objectives of its own")
		}
	}
	if len(all) > score.MaxObjectives {
		p.addf("objective", "there are %d objectives, and at most %d are possible", len(all), score.MaxObjectives)
		return
	}
	_, err := p.Objective().Chooser()
	p.add("choose", err)
}
