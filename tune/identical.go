package tune

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
)

// An Ineffective parameter changes neither the binary, nor the launch, nor a setting of the device.
type Ineffective struct {
	Parameter string
	Pairs     int // of configurations that differ in this parameter alone
}

// IneffectiveParameters compares the results that differ in one parameter alone. It returns the
// parameters for which all these pairs have the same binary and the same launch. Results without a
// digest of their binary do not count.
func IneffectiveParameters(p *problem.Problem, results []Result, d hardware.Device) []Ineffective {
	launches := map[string]string{} // by configuration
	for i := range results {
		r := &results[i]
		if r.Binary == 0 {
			continue
		}
		if v, err := p.Variant(r.Configuration, d); err == nil {
			launches[r.Configuration.Key()] = fmt.Sprint(r.Binary, v.Launches, v.Elements, v.Pixels, v.Settings)
		}
	}
	var found []Ineffective
	for i := range p.Parameters().Len() {
		q := p.Parameters().At(i)
		groups := map[string][]string{} // by the other parameters
		for j := range results {
			c := results[j].Configuration
			if launch, known := launches[c.Key()]; known {
				others := without(c, i)
				groups[others] = append(groups[others], launch)
			}
		}
		pairs, effect := 0, false
		for _, group := range groups {
			pairs += len(group) - 1
			effect = effect || slices.ContainsFunc(group, func(l string) bool { return l != group[0] })
		}
		if pairs > 0 && !effect {
			found = append(found, Ineffective{q.Name, pairs})
		}
	}
	return found
}

// without returns the values of a configuration but for parameter i.
func without(c space.Configuration, i int) string {
	var text strings.Builder
	for j := range c.Len() {
		if j != i {
			text.WriteString(space.FormatValue(c.At(j)) + "\x00")
		}
	}
	return text.String()
}
