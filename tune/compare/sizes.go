package compare

import (
	"math"
	"slices"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
)

// sized reports whether the cases are sizes, of one device or of several.
func (g *gathered) sized() bool {
	return slices.ContainsFunc(g.devices, func(m *measured) bool { return m.size != "" })
}

// alone reports whether all cases are of one device, so that their sizes tell them apart.
func (g *gathered) alone() bool {
	return !slices.ContainsFunc(g.devices, func(m *measured) bool {
		first := g.devices[0]
		return m.size == "" || m.listing != first.listing || !hardware.SameDevice(m.identity, first.identity)
	})
}

// letter returns the name of a case in tables: a letter, or its size.
func (g *gathered) letter(i int) string {
	if g.alone() {
		return g.devices[i].size
	}
	return letters(i)
}

// labels returns a different name for each case: the size, the device, or both.
func (g *gathered) labels(identities []hardware.Device) []string {
	labels := make([]string, len(g.devices))
	bySize := map[string][]int{}
	for i, m := range g.devices {
		bySize[m.size] = append(bySize[m.size], i)
	}
	for size, indices := range bySize {
		devices := each.Of(indices, func(i int) hardware.Device { return identities[i] })
		for n, label := range Labels(devices) {
			if size != "" {
				label += ", " + size
			}
			labels[indices[n]] = label
		}
	}
	if g.alone() {
		for i, m := range g.devices {
			labels[i] = m.size
		}
	}
	return labels
}

// closeTo is the ratio of a cost to that of the best that counts as close.
const closeTo = 1.05

// close returns the number of evaluations of the first search of a case until a result was close to the best
// of that search, or 0.
func (g *gathered) close(m *measured) int {
	for _, i := range m.sources {
		if s := &g.sources[i]; s.isSearch() && len(s.Record.Results) > 0 {
			return evaluationsTo(closeTo, func(r *tune.Result) float64 {
				c, err := costOf(g.objective, r.Objective)
				if err != nil || !r.Rankable() {
					return math.Inf(1)
				}
				return c
			}, s.Record.Results)
		}
	}
	return 0
}

// evaluationsTo returns the number of results up to the first whose cost is at most the given ratio times
// the least one; 0 if there is none. Configurations that were not evaluated do not count.
func evaluationsTo(ratio float64, cost func(*tune.Result) float64, results []tune.Result) int {
	least := math.Inf(1)
	for i := range results {
		least = math.Min(least, cost(&results[i]))
	}
	n := 0
	for i := range results {
		if results[i].Status != tune.Constraints {
			n++
		}
		if c := cost(&results[i]); !math.IsInf(c, 1) && c <= ratio*least {
			return n
		}
	}
	return 0
}

// Sized reports whether sizes are compared.
func (c *Comparison) Sized() bool {
	return slices.ContainsFunc(c.Devices, func(d Device) bool { return d.Size != "" })
}

// noun is the word for what is compared.
func (c *Comparison) noun() string {
	switch {
	case !c.Sized():
		return "device"
	case slices.ContainsFunc(c.Devices, func(d Device) bool { return d.Letter != d.Size }):
		return "case"
	}
	return "size"
}

// at is the preposition before the name of a case.
func (c *Comparison) at() string {
	if c.noun() == "size" {
		return "at "
	}
	return "on "
}
