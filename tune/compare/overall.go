package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// efficiency is the application efficiency of a configuration on a device: 0 where it fails. It
// is not known where nobody has measured it.
func (m *measured) efficiency(key string) (e float64, inTurn, known bool) {
	switch entry := m.entries[key]; {
	case entry == nil:
		return 0, false, false
	case !entry.correct():
		return 0, true, true
	}
	r := m.relate(key)
	return 1 / r.slowdown, r.inTurn, true
}

// portability is that of a configuration over the devices that have a best.
func (g *gathered) portability(key string) (p float64, inTurn, known bool) {
	var all []float64
	inTurn = true
	for _, i := range g.usable() {
		e, together, ok := g.devices[i].efficiency(key)
		if !ok {
			return 0, false, false
		}
		inTurn = inTurn && together
		all = append(all, e)
	}
	return Portability(all), inTurn, true
}

// candidates are the configurations that are correct on every device that has a best: those
// that are the best of one first, the others as the first device has them.
func (g *gathered) candidates() []string {
	usable := g.usable()
	if len(usable) == 0 {
		return nil
	}
	var keys []string
	for _, i := range usable {
		keys = append(keys, g.devices[i].best)
	}
	keys = append(keys, g.devices[usable[0]].keys...)
	var kept []string
	seen := map[string]bool{}
	for _, key := range keys {
		if !seen[key] && !slices.ContainsFunc(usable, func(i int) bool { return !g.devices[i].entries[key].correct() }) {
			kept = append(kept, key)
		}
		seen[key] = true
	}
	return kept
}

// allInTurn reports whether what the bests cost elsewhere was all measured in turn, as [Cross]
// does it.
func (g *gathered) allInTurn() bool {
	usable := g.usable()
	for _, i := range usable {
		for _, j := range usable {
			if _, inTurn, known := g.devices[j].efficiency(g.devices[i].best); !known || !inTurn {
				return false
			}
		}
	}
	return true
}

// overall is the candidate with the highest performance portability. Where the matrix was all
// measured in turn, only candidates that were too take part: a lucky measurement in a search
// must not win over what was measured with more care. It is nil where no candidate is known.
func (g *gathered) overall() *Overall {
	if len(g.usable()) < 2 {
		return nil // there is nothing that it could be best over
	}
	candidates := g.candidates()
	turned := slices.DeleteFunc(slices.Clone(candidates), func(key string) bool {
		_, inTurn, _ := g.portability(key)
		return !inTurn
	})
	strict := g.allInTurn() && len(turned) > 0
	running := candidates
	if strict {
		running = turned
	}
	best, highest := "", -1.0
	for _, key := range running {
		if p, _, known := g.portability(key); known && p > highest {
			best, highest = key, p
		}
	}
	if best == "" {
		return nil
	}
	configuration := g.configuration(best)
	o := &Overall{
		Configuration: configuration.String(), Values: values(configuration), BestOf: []int{},
		Candidates: len(candidates), InTurn: strict,
	}
	for i, m := range g.devices {
		if m.best == best {
			o.BestOf = append(o.BestOf, i)
		}
		o.Cells = append(o.Cells, m.cell(best))
	}
	o.Portability = g.figures(o.Cells)
	return o
}

// perDevice is the portability of tuning for each device.
func (g *gathered) perDevice() PortabilityFigures {
	var cells []Cell
	for _, m := range g.devices {
		cells = append(cells, m.cell(m.best))
	}
	return g.figures(cells)
}

// figures are both measures of cells, one for each device; those of devices without a best do
// not count.
func (g *gathered) figures(cells []Cell) PortabilityFigures {
	var f PortabilityFigures
	var application, architectural []float64
	var unknown []string
	for _, i := range g.usable() {
		c := &cells[i]
		switch {
		case c.State == StateFailed:
			application, architectural = append(application, 0), append(architectural, 0)
			continue
		case c.State == StateMissing:
			f.WhyNot = "not everything was measured"
			return f
		}
		application = append(application, 1 / *c.Slowdown)
		if c.OfLimit == nil {
			unknown = append(unknown, letters(i))
			continue
		}
		architectural = append(architectural, math.Min(1, *c.OfLimit/100))
	}
	if len(application) == 0 {
		f.WhyNot = "no device has a correct configuration"
		return f
	}
	f.Application = pointer(Portability(application))
	if len(unknown) > 0 {
		f.WhyNot = fmt.Sprintf("the limit of %s is not known", strings.Join(unknown, ", "))
		return f
	}
	f.Architectural = pointer(Portability(architectural))
	return f
}
