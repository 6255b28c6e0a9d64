package problem

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/nearest"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/footprint"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// quantities returns the names that can be observed, without those that a parameter, a constant or a metric has.
func (p *Problem) quantities() []string {
	all := ownQuantities()
	for _, i := range p.definition.Measure.Instruments {
		all = append(all, i.Quantities...)
	}
	return slices.DeleteFunc(all, func(name string) bool { return p.hides(name) != "" })
}

// ownQuantities returns the quantities that ndtune gives itself: those of the device, those of the compiler, and the errors of the
// outputs.
func ownQuantities() []string {
	return slices.Concat(hardware.Quantities(), footprint.Quantities(), hardware.Errors())
}

func isError(quantity string) bool { return slices.Contains(hardware.Errors(), quantity) }

// hides returns the field whose name hides a quantity, "" if there is none.
func (p *Problem) hides(name string) string {
	if _, ok := p.constants[name]; ok {
		return "constants." + name
	}
	if slices.Contains(p.parameters.Names(), name) {
		return "parameters." + name
	}
	if slices.ContainsFunc(p.definition.Metrics, func(m definition.Metric) bool { return m.Name == name }) {
		return "metrics." + name
	}
	return ""
}

// compileMeasure checks what is observed, and adds the names of quantities to a scope.
func (p compiler) compileMeasure() {
	seen := map[string]bool{}
	for i, own := range p.definition.Measure.Instruments {
		field := fmt.Sprintf("measure.instruments[%d]", i)
		if (own.Command == nil) == (own.Registered == "") {
			p.addf(field, "an instrument has a command, or else the name of a registered one")
		} else if own.Command != nil && len(own.Command.Args) == 0 {
			p.addf(field+".command", "the program is missing")
		}
		if own.Each != "" && !slices.Contains(hardware.Frames(), own.Each) {
			p.addf(field+".each", "%q is neither window, launch nor configuration%s", own.Each, nearest.Hint(own.Each, hardware.Frames()))
		} else if own.Window > 0 && own.Each != "" && own.Each != hardware.EachWindow {
			p.addf(field+".window", "belongs to each: window")
		}
		if len(own.Quantities) == 0 {
			p.addf(field+".quantities", "the instrument gives no quantity")
		}
		for _, name := range own.Quantities {
			_, taken := p.scope[name]
			switch {
			case !space.IsIdentifier(name):
				p.addf(field+".quantities", "%q is not a name that expressions can use", name)
			case slices.Contains(ownQuantities(), name):
				p.addf(field+".quantities", "ndtune observes %s itself: give the quantity another name", name)
			case definition.Reserved(name), taken, p.hides(name) != "", slices.Contains(p.roofline.reserved(), name):
				p.addf(field+".quantities", "the name %s is taken", name)
			case seen[name]:
				p.addf(field+".quantities", "two instruments give %s", name)
			}
			seen[name] = true
		}
	}
	all := p.quantities()
	for i, name := range p.definition.Measure.Observe {
		field := fmt.Sprintf("measure.observe[%d]", i)
		if by := p.hides(name); by != "" && slices.Contains(ownQuantities(), name) {
			p.addf(field, "%s hides the quantity of this name: give it another name", by)
		} else if !slices.Contains(all, name) {
			hint := cmp.Or(nearest.Hint(name, all), "; the quantities are "+strings.Join(all, ", "))
			p.addf(field, "%q cannot be observed%s", name, hint)
		}
	}
	for _, name := range all {
		p.scope[name] = 0.0
	}
}

// findObserved sets the quantities that are listed, or that metrics, the objective or build restrictions use, and those among them
// without which there is no objective.
func (p *Problem) findObserved() {
	needed := map[string]bool{} // for the objectives
	for _, o := range p.Objective().All() {
		needed[o.Name] = true
	}
	all := p.quantities()
	for i := len(p.metrics) - 1; i >= 0; i-- { // a metric uses earlier ones
		if e := p.metrics[i]; e != nil && needed[p.definition.Metrics[i].Name] {
			for _, name := range all {
				needed[name] = needed[name] || e.Reads(name)
			}
			for _, m := range p.definition.Metrics[:i] {
				needed[m.Name] = needed[m.Name] || e.Reads(m.Name)
			}
		}
	}
	for _, name := range all {
		reads := func(e *expression.Expression) bool { return e != nil && e.Reads(name) }
		listed := slices.Contains(p.definition.Measure.Observe, name)
		if needed[name] || listed || slices.ContainsFunc(p.metrics, reads) || slices.ContainsFunc(p.buildRestrictions, reads) {
			p.observed = append(p.observed, name)
		}
		if needed[name] {
			p.essential = append(p.essential, name)
		}
	}
}

// Observed returns the quantities that are observed while a kernel runs, in the order of results. They are metrics of the
// problem, as are those of [Problem.Compiled] and the errors of the outputs.
func (p *Problem) Observed() []string {
	return slices.DeleteFunc(slices.Clone(p.observed), func(name string) bool { return footprint.Is(name) || isError(name) })
}

// NeedsReadings reports whether an objective needs a quantity of those that [Problem.Observed] lists.
func (p *Problem) NeedsReadings() bool {
	return slices.ContainsFunc(p.Observed(), func(name string) bool { return slices.Contains(p.essential, name) })
}

// NeedsError reports whether the errors of the outputs are metrics of the problem: [hardware.Error] or
// [hardware.ErrorRMS].
func (p *Problem) NeedsError() bool { return slices.ContainsFunc(p.observed, isError) }

// checkErrors adds an error if the errors of the outputs are needed, and there is no reference to compare them with.
func (p compiler) checkErrors() {
	i := slices.IndexFunc(p.observed, isError)
	if i < 0 {
		return
	}
	switch v := p.definition.Verify; {
	case v == nil:
		p.addf("metrics", "%s is the difference from a reference, and the outputs are not compared with one: "+
			"add verify, or give a metric of your own this name", p.observed[i])
	case v.Check != nil || v.Command != nil:
		p.addf("metrics", "%s is the difference from a reference, and a check or a command judges the outputs without one", p.observed[i])
	}
}

// checkInstruments returns an error if the objective needs a quantity that a device is known not to give.
func (p *Problem) checkInstruments(d hardware.Device) error {
	for _, name := range p.essential {
		if i, ok := d.Instrument(name); ok && i.Missing != "" {
			text := "the objective " + name
			if !p.Objective().Has(name) {
				text = "the objective " + p.Objective().Name + " needs " + name + ", which"
			}
			return fmt.Errorf("%s cannot be observed: %s", text, i.Missing)
		}
	}
	return nil
}

// observedMetrics returns the readings as metrics, and adds them to the environment of expressions. A quantity without a reading
// is NaN.
func (p *Problem) observedMetrics(env map[string]any, readings []hardware.Reading) []score.MetricValue {
	var metrics []score.MetricValue
	for _, name := range p.observed {
		r, ok := hardware.ReadingOf(readings, name)
		if !ok {
			r = hardware.MissingReading(name, "")
		}
		env[name] = r.Value
		metrics = append(metrics, score.MetricValue{Name: name, Value: r.Value})
	}
	return metrics
}

// ReadingsOf returns the readings of the quantities that are among the metrics of a result.
func (p *Problem) ReadingsOf(metrics []score.MetricValue) (readings []hardware.Reading) {
	for _, m := range metrics {
		if slices.Contains(p.observed, m.Name) {
			readings = append(readings, hardware.Reading{Quantity: m.Name, Value: m.Value})
		}
	}
	return readings
}

// canonicalMeasure returns what is observed as text for the digest, "" for nothing.
func (p *Problem) canonicalMeasure() string {
	if len(p.observed) == 0 {
		return ""
	}
	text := fmt.Sprintf("%q", p.observed)
	for _, i := range p.definition.Measure.Instruments {
		text += fmt.Sprintf(" %q %s %q %s", i.Quantities, i.Window, i.Registered, cmp.Or(i.Each, hardware.EachWindow))
		if i.Command != nil {
			text += fmt.Sprintf(" %q", i.Command.Args)
		}
	}
	return text
}

func (p compiler) compileTiming() {
	t := p.definition.Measure.Timing
	switch states := []string{string(definition.CacheWarm), string(definition.CacheCold)}; t.Cache {
	case "", definition.CacheWarm, definition.CacheCold:
	default:
		p.addf("measure.cache", "%q is neither warm nor cold%s", t.Cache, nearest.Hint(string(t.Cache), states))
	}
	if t.Timer != "" && t.Timer != hardware.TimerHost {
		p.addf("measure.timer", "%q is not host%s", t.Timer, nearest.Hint(t.Timer, []string{hardware.TimerHost}))
	}
	if t.Launches < 0 {
		p.addf("measure.launches", "%d: it must be positive", t.Launches)
	}
	if t.Time < 0 {
		p.addf("measure.seconds", "%v: it must be positive", t.Time.Seconds())
	}
	if t.Warmup < definition.NoWarmup {
		p.addf("measure.warmup", "%d: it must not be negative", t.Warmup)
	}
}

// Timing returns how configurations are timed, with the defaults: Launches is positive, and Warmup and EarlyStop are 0 for none.
func (p *Problem) Timing() definition.Timing {
	t := p.definition.Measure.Timing
	t.Cache = cmp.Or(t.Cache, definition.CacheWarm)
	t.Launches = cmp.Or(t.Launches, definition.DefaultLaunches)
	t.Warmup = max(0, cmp.Or(t.Warmup, 1))
	t.EarlyStop = max(0, cmp.Or(t.EarlyStop, definition.DefaultEarlyStop))
	return t
}

// timingDigest returns a text of the settings without which times cannot be compared, "" for the defaults. The number of
// launches, their time and early stops are no such settings. The timer belongs to the device: see [hardware.SameKind].
func timingDigest(t definition.Timing) string {
	text := cacheDigest(t.Cache)
	if t.Warmup != 1 {
		text += fmt.Sprintf(" %d untimed launches", t.Warmup)
	}
	return text
}

func cacheDigest(c definition.CacheState) string {
	if c == definition.CacheWarm {
		return ""
	}
	return string(c) + " caches"
}
