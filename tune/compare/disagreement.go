package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/space"
)

// disagreements are the parameters that the bests of the devices have different values of, those
// first that cost most where all must share one value.
func (g *gathered) disagreements() []Disagreement {
	all := []Disagreement{}
	for _, name := range g.names {
		d := Disagreement{Parameter: name}
		distinct := map[string]bool{}
		for _, m := range g.devices {
			text := ""
			if m.best != "" {
				v, _ := m.entries[m.best].configuration.Get(name)
				text = space.FormatValue(v)
				distinct[valueKey(v)] = true
			}
			d.Values = append(d.Values, text)
		}
		if len(distinct) > 1 {
			g.share(&d)
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b Disagreement) int {
		return cmp.Compare(meanOf(b), meanOf(a))
	})
	return all
}

func meanOf(d Disagreement) float64 {
	if d.Mean == nil {
		return math.Inf(1)
	}
	return *d.Mean
}

// share finds the value of a parameter that costs least where all devices have it.
func (g *gathered) share(d *Disagreement) {
	usable := g.usable()
	costs := each.Of(usable, func(i int) map[string]float64 { return g.devices[i].costsByValue(d.Parameter) })
	least := math.Inf(1)
	for _, v := range g.valuesOf(d.Parameter) {
		sum, worst, on := 0.0, 0.0, 0
		for n, i := range usable {
			c, measured := costs[n][valueKey(v)]
			if !measured {
				c = math.Inf(1)
			}
			sum += c
			if c > worst {
				worst, on = c, i
			}
		}
		if mean := sum / float64(len(usable)); mean < least {
			least = mean
			d.Common, d.Mean, d.Worst, d.On = space.FormatValue(v), pointer(mean), pointer(worst), on
		}
	}
}

// costsByValue is the least slow-down on a device of the correct configurations with each value
// of a parameter.
func (m *measured) costsByValue(parameter string) map[string]float64 {
	least := map[string]float64{}
	for key, e := range m.entries {
		if !e.correct() {
			continue
		}
		v, _ := e.configuration.Get(parameter)
		s := m.relate(key).slowdown
		if known, any := least[valueKey(v)]; !any || s < known {
			least[valueKey(v)] = s
		}
	}
	return least
}

// valuesOf are the values of a parameter that any record lists, in order.
func (g *gathered) valuesOf(parameter string) []space.Value {
	var all []space.Value
	for i := range g.sources {
		for _, p := range g.sources[i].Record.Header.Parameters {
			if p.Name != parameter {
				continue
			}
			for _, v := range p.Values {
				if !slices.ContainsFunc(all, func(w space.Value) bool { return space.SameValue(v, w) }) {
					all = append(all, v)
				}
			}
		}
	}
	return all
}
