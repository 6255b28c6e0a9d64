package compare

import (
	"math"
	"slices"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
)

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
// of that search, or 0. Configurations that were not evaluated do not count.
func (g *gathered) close(m *measured) int {
	i := slices.IndexFunc(m.sources, func(i int) bool { return g.sources[i].isSearch() && len(g.sources[i].Record.Results) > 0 })
	if i < 0 {
		return 0
	}
	results := g.sources[m.sources[i]].Record.Results
	costs := each.Of(results, func(r tune.Result) cost {
		c, err := costOf(g.objective, r.Objective)
		if err != nil || !r.Rankable() {
			return math.Inf(1)
		}
		return c
	})
	least, n := slices.Min(costs), 0
	for i, c := range costs {
		if results[i].Status != tune.Constraints {
			n++
		}
		if !math.IsInf(c, 1) && c <= closeTo*least {
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
