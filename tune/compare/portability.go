package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/score"
)

// Portability returns the performance portability of a configuration from its efficiency on each
// device, from 0 to 1: the harmonic mean, or 0 if any efficiency is 0, which means that the
// configuration fails on that device.
//
// It is the metric PP of S. J. Pennycook, J. D. Sewall and V. W. Lee, «A Metric for Performance
// Portability» (PMBS 2016, arXiv:1611.07409) and «Implications of a metric for performance
// portability» (Future Generation Computer Systems 92, 2019), by application efficiency: the best
// known time on a device over that of the configuration.
func Portability(efficiencies []float64) float64 {
	if len(efficiencies) == 0 {
		return 0
	}
	sum := 0.0
	for _, e := range efficiencies {
		if !(e > 0) {
			return 0
		}
		sum += 1 / e
	}
	return math.Min(1, float64(len(efficiencies))/sum) // rounding only: a sum of ones is exact
}

// A cost is the objective of a measurement if it is minimised, its inverse if it is maximised. Less
// is better, and the ratio of two costs tells how many times worse one is.
type cost = float64

// costOf returns the cost of a value of the objective, or an error if it is not positive and finite.
func costOf(o score.Objective, value float64) (cost, error) {
	if !(value > 0) || math.IsInf(value, 1) {
		return 0, fmt.Errorf("the objective %s is %v: costs on other devices are ratios, which need positive values", o.Name, value)
	}
	if o.Maximize {
		return 1 / value, nil
	}
	return value, nil
}

// candidates returns the configurations that are correct on every device that has a best: first the
// devices' bests, then the others in the order of the first device.
func (g *gathered) candidates() []string {
	usable := g.usable()
	if len(usable) == 0 {
		return nil
	}
	keys := each.Of(usable, func(i int) string { return g.devices[i].best })
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

// cells returns the results of a configuration on all devices.
func (g *gathered) cells(key string) []Cell {
	return each.Of(g.devices, func(m *measured) Cell { return m.cell(key) })
}

// inTurn reports whether the slow-downs of cells, one for each device, come from measurements in turn
// on all devices that have a best, except where the configuration fails.
func (g *gathered) inTurn(cells []Cell) bool {
	return !slices.ContainsFunc(g.usable(), func(i int) bool {
		return cells[i].State == StateMissing || isRough(cells[i])
	})
}

// overall returns the candidate with the highest performance portability, or nil if there is none.
// If the matrix is measured in turn, as [Cross] does it, only candidates with such measurements take
// part: a lucky measurement in a search must not win over a more careful one.
func (g *gathered) overall() *Overall {
	if len(g.usable()) < 2 {
		return nil // nothing to be best over
	}
	candidates := g.candidates()
	running := slices.DeleteFunc(slices.Clone(candidates), func(key string) bool { return !g.inTurn(g.cells(key)) })
	bestsInTurn := !slices.ContainsFunc(g.usable(), func(i int) bool { return !g.inTurn(g.cells(g.devices[i].best)) })
	strict := bestsInTurn && len(running) > 0
	if !strict {
		running = candidates
	}
	best, highest := "", -1.0
	for _, key := range running {
		if p := g.portability(key); p > highest {
			best, highest = key, p
		}
	}
	if best == "" {
		return nil
	}
	configuration := g.configuration(best)
	o := &Overall{
		Configuration: configuration.String(), Values: values(configuration), BestOf: []int{},
		Cells: g.cells(best), Portability: highest, Candidates: len(candidates), InTurn: strict,
	}
	o.BestOf = append(o.BestOf, each.Indices(g.devices, func(m *measured) bool { return m.best == best })...)
	return o
}

// portability returns the performance portability of a candidate over the devices that have a best.
func (g *gathered) portability(key string) float64 {
	return Portability(each.Of(g.usable(), func(i int) float64 { return 1 / g.devices[i].relate(key).slowdown }))
}
