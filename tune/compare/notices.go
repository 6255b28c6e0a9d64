package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/process"
)

// notices returns the caveats that the reader of a comparison must know.
func (g *gathered) notices(c *Comparison) []string {
	all := append([]string{}, g.doubts...)
	say := func(format string, a ...any) { all = append(all, fmt.Sprintf(format, a...)) }
	var unverified, byHost []string // the letters of devices
	for i, d := range c.Devices {
		m := g.devices[i]
		var searches []string
		for _, s := range m.sources {
			if g.sources[s].isSearch() {
				searches = append(searches, g.sources[s].Name)
			}
		}
		if len(searches) > 1 {
			say("%s are of one %s, %s, and combine.", strings.Join(searches, ", "), c.noun(), d.Label)
		}
		if d.Best == nil {
			name := d.Letter
			if d.Label != name {
				name += " (" + d.Label + ")"
			}
			say("%s has no best configuration: %s.", name, strings.TrimRight(d.WhyNone, "."))
			continue
		}
		if !d.Best.Verified {
			unverified = append(unverified, d.Letter)
		}
		if d.Timer == hardware.TimerHost {
			byHost = append(byHost, d.Letter)
		}
	}
	if len(unverified) > 0 {
		say("Unverified: the output of the best of %s.", strings.Join(unverified, ", "))
	}
	if len(byHost) > 0 {
		say("Times %s%s come from the host's clock and include the cost of a launch: "+
			"comparisons within one of them are sound, and its share of a limit is too low.", c.at(), strings.Join(byHost, ", "))
	}
	return all
}

// howToMeasure returns instructions to measure the missing cells, or "" if there are none.
func (g *gathered) howToMeasure(c *Comparison) string {
	if len(c.Missing) == 0 {
		return ""
	}
	if c.Sized() {
		return "repeat the command that tuned these sizes, with the same --log FILE: it goes on."
	}
	var columns []string
	for _, p := range c.Missing {
		columns = each.AppendNew(columns, c.Devices[p.Column].Letter)
	}
	slices.Sort(columns)
	specification := cmp.Or(c.Source, "SPEC")
	on, devices := "on the machine of "+columns[0], process.Quoted(c.Devices[c.Missing[0].Column].Name)
	if len(columns) > 1 {
		on, devices = "on the machines of "+strings.Join(columns, ", "), "NAME"
	}
	command := "ndtune compare " + process.Quoted(specification)
	for i := range g.sources {
		if len(g.sources[i].Record.Results) > 0 {
			command += " " + process.Quoted(g.sources[i].Name)
		}
	}
	return fmt.Sprintf("%s, with the same --set and -p as then: %s --devices %s --log FILE "+
		"(a device of which a record is given is not tuned again). Then compare these records and those that it makes.",
		on, command, devices)
}
