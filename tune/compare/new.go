package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/excerpt"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// Options of a comparison.
type Options struct {
	// Default is the configuration that gains are relative to; nil: the median of the correct
	// configurations in each device's searches.
	Default *space.Configuration

	Tool string // the calling program, with its version
}

// New compares the devices of the sources. Sources of one device are combined; if they have two
// results for a configuration, the first counts. It is an error, which names both, if two sources
// are of different problems.
func New(sources []Source, o Options) (*Comparison, error) {
	g, err := gather(sources)
	if err != nil {
		return nil, err
	}
	c := &Comparison{
		Tool: o.Tool, Parameters: g.names, Objective: Objective{g.objective.Name, g.objective.Maximize},
		Notices: []string{}, Missing: []Place{},
	}
	c.Objective.Name = cmp.Or(c.Objective.Name, "time")
	if o.Default != nil {
		c.Default = o.Default.String()
	}
	for i := range sources {
		h := &sources[i].Record.Header
		c.Kernel, c.Source, c.Digest = cmp.Or(c.Kernel, h.Kernel), cmp.Or(c.Source, h.Source), cmp.Or(c.Digest, h.Digest)
		if len(c.ProblemSize) == 0 {
			c.ProblemSize = h.ProblemSize
		}
	}
	labels := g.labels(each.Of(g.devices, func(m *measured) hardware.Device { return m.identity }))
	for i, m := range g.devices {
		d := g.describe(m, o)
		d.Letter, d.Label = g.letter(i), labels[i]
		c.Devices = append(c.Devices, d)
	}
	if c.Sized() {
		c.Digest, c.ProblemSize = "", nil // those of a size
	}
	for i, m := range g.devices {
		row := []Cell{}
		if m.best != "" {
			row = g.cells(m.best)
		}
		for j := range row {
			if row[j].State == StateMissing {
				c.Missing = append(c.Missing, Place{i, j})
			}
		}
		c.Matrix = append(c.Matrix, row)
	}
	c.Overall = g.overall()
	c.Measure = g.howToMeasure(c)
	c.Notices = g.notices(c)
	return c, nil
}

// describe returns the results of one device by itself.
func (g *gathered) describe(m *measured, o Options) Device {
	d := Device{Device: m.identity, Size: m.size, Close: g.close(m), Records: []string{}, Measured: len(m.keys) > 0}
	for _, i := range m.sources {
		d.Records = append(d.Records, g.sources[i].Name)
	}
	for _, key := range g.searched(m) {
		d.Evaluated++
		if m.entries[key].correct() {
			d.Correct++
		}
	}
	if m.best == "" {
		d.WhyNone = g.whyNone(m)
		return d
	}
	e := m.entries[m.best]
	_, f := e.latest()
	d.Best = &Best{
		Configuration: e.configuration.String(), Values: values(e.configuration), Time: f.Time, InTurn: f.Final, Verified: e.first.Verified,
		OfLimit: ofLimit(f),
	}
	d.Best.Gain, d.Best.WhyNoGain = g.gain(m, o)
	return d
}

// values returns the values of a configuration by parameter.
func values(c space.Configuration) map[string]any {
	all := map[string]any{}
	c.Assign(all)
	return all
}

// searched returns the keys of the configurations that the searches of a device evaluated, or of all
// its configurations if it has no record of a search.
func (g *gathered) searched(m *measured) []string {
	all := map[string]bool{}
	for _, i := range m.sources {
		if !g.sources[i].isSearch() {
			continue
		}
		for j := range g.sources[i].Record.Results {
			all[g.key(g.sources[i].Record.Results[j].Configuration)] = true
		}
	}
	if len(all) == 0 {
		return m.keys
	}
	return slices.DeleteFunc(slices.Clone(m.keys), func(key string) bool { return !all[key] })
}

// gain returns the cost of the default over that of the best, or why it is unknown.
func (g *gathered) gain(m *measured, o Options) (gain *float64, whyNot string) {
	if o.Default != nil {
		key := g.key(*o.Default)
		switch e := m.entries[key]; {
		case e == nil:
			return nil, "the default was not measured on it"
		case !e.correct():
			return nil, fmt.Sprintf("the default fails on it: %s: %s", e.first.Status, tune.Headline(e.first.Status, e.first.Reason))
		}
		return pointer(m.relate(key).slowdown), ""
	}
	var objectives []float64 // not costs: if more is better, these have another median
	for _, key := range g.searched(m) {
		if e := m.entries[key]; e.correct() {
			objectives = append(objectives, e.first.Objective)
		}
	}
	if len(objectives) == 0 {
		return nil, "no configuration of its own search is correct"
	}
	ratio, known := g.objective.Gain(m.entries[m.best].first.Objective, score.StatsOf(objectives).Median)
	if !known {
		return nil, fmt.Sprintf("the objective %s is not positive", g.objective.Name)
	}
	return pointer(ratio), ""
}

// whyNone returns the reason why a device has no best configuration.
func (g *gathered) whyNone(m *measured) string {
	for _, i := range m.sources {
		if why := g.sources[i].Trouble; why != "" {
			return why
		}
	}
	if len(m.keys) == 0 {
		return "nothing was measured on it"
	}
	counts := map[tune.Status]int{}
	for _, e := range m.entries {
		counts[e.first.Status]++
	}
	var parts []string
	for _, s := range tune.Statuses() {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	e := m.entries[m.keys[0]]
	return fmt.Sprintf("none of %d configurations is correct (%s); the first, %s: %s",
		len(m.keys), strings.Join(parts, ", "), e.configuration, tune.Headline(e.first.Status, e.first.Reason))
}

// maxReason is the number of bytes that a cell keeps of a reason: build logs can be long.
const maxReason = 4 << 10

// cell returns the result of a configuration on a device.
func (m *measured) cell(key string) Cell {
	e := m.entries[key]
	switch {
	case e == nil:
		return Cell{State: StateMissing}
	case !e.correct():
		return Cell{State: StateFailed, Status: e.first.Status, Reason: excerpt.Beginning(strings.TrimSpace(e.first.Reason), maxReason)}
	}
	r := m.relate(key)
	return Cell{
		State: StateMeasured, Time: pointer(r.figures.Time), Slowdown: pointer(r.slowdown), InTurn: r.inTurn,
		OfLimit: ofLimit(r.figures), Verified: e.first.Verified,
	}
}

// ofLimit returns the share of the time that the device needs at least, in percent, or nil if it is
// unknown.
func ofLimit(f tune.Figures) *float64 {
	share, known := f.Metric(score.MetricOfLimit)
	if !known || !(share > 0) {
		return nil
	}
	return pointer(share)
}

func pointer(v float64) *float64 { return &v }
