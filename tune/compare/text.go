package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune/score"
)

// The names of tables.
const (
	TableDevices = "devices" // the best of each
	TableMatrix  = "matrix"  // a row for each device that has a best
	TableOverall = "overall" // the best over all: slow-downs, times, shares of limits
)

// Title returns a title for the comparison, in one line.
func (c *Comparison) Title() string {
	text := cmp.Or(c.Kernel, "a problem")
	if c.Source != "" {
		text += " of " + c.Source
	}
	if len(c.ProblemSize) > 0 {
		text += ", " + figure.Sizes(c.ProblemSize)
	}
	noun := c.noun()
	if len(c.Devices) != 1 {
		noun += "s"
	}
	text = fmt.Sprintf("%s, %s%d %s", text, c.at(), len(c.Devices), noun)
	if noun == "sizes" {
		text += " on " + c.Devices[0].Name
	}
	return text
}

// NoOverall returns the reason why there is no best over all, or "" if there is one.
func (c *Comparison) NoOverall() string {
	if c.Overall != nil {
		return ""
	}
	var with []string
	for _, d := range c.Devices {
		if d.Best != nil {
			with = append(with, d.Letter)
		}
	}
	switch len(with) {
	case 0:
		return "no " + c.noun() + " has a best configuration"
	case 1:
		return "only " + with[0] + " has a best configuration"
	}
	return "no configuration is known to be correct on all of " + strings.Join(with, ", ")
}

// Tables returns the comparison as tables, the same ones for the terminal and for files.
func (c *Comparison) Tables() []figure.Table {
	tables := []figure.Table{c.deviceTable()}
	if slices.ContainsFunc(c.Devices, func(d Device) bool { return d.Best != nil }) {
		tables = append(tables, c.matrixTable())
	}
	if c.Overall != nil {
		tables = append(tables, c.overallTable())
	}
	return tables
}

// limited reports whether the share of the limit is known for the best of any device.
func (c *Comparison) limited() bool {
	return slices.ContainsFunc(c.Devices, func(d Device) bool { return d.Best != nil && d.Best.OfLimit != nil })
}

func (c *Comparison) deviceTable() figure.Table {
	over := "over the median"
	if c.Default != "" {
		over = "over the default"
	}
	t := figure.Table{
		Name: TableDevices, Title: "the best of each " + c.noun(),
		Head:   []string{"", c.noun(), "time", "% of limit", over, "correct", closeHead, "best configuration"},
		Number: []bool{false, false, true, true, true, true, true, false},
	}
	if c.Default != "" {
		t.Notes = append(t.Notes, "default: "+c.Default)
	}
	for _, d := range c.Devices {
		took, limit, gain, configuration := "–", "–", "–", "–"
		if b := d.Best; b != nil {
			took, limit, configuration = figure.Milliseconds(b.Time)+"ms", shareText(b.OfLimit), b.Configuration
			if b.OfLimit != nil && score.IsBeaten(*b.OfLimit) {
				t.Notes = append(t.Notes, d.Letter+": "+score.BeatenText(""))
			}
			if b.Gain != nil {
				gain = times(b.Gain)
			} else {
				t.Notes = append(t.Notes, fmt.Sprintf("%s: no gain: %s", d.Letter, b.WhyNoGain))
			}
		}
		near := "–"
		if d.Close > 0 {
			near = fmt.Sprint(d.Close)
		}
		t.Rows = append(t.Rows, []string{d.Letter, d.Label, took, limit, gain, fmt.Sprintf("%d of %d", d.Correct, d.Evaluated), near, configuration})
	}
	if c.Sized() {
		t.Notes = append(t.Notes, closeHead+": evaluations until one was within 5 % of the best of its search; the first size has no neighbours to begin with")
	} else {
		t.RemoveColumn(6)
	}
	if !c.limited() {
		t.RemoveColumn(3)
	}
	if c.noun() == "size" {
		t.RemoveColumn(0) // the size is its name
	}
	return t
}

const closeHead = "to 5 %"

// addDevices adds a column of numbers for each device to a table.
func (c *Comparison) addDevices(t *figure.Table, prefix string) {
	for _, d := range c.Devices {
		t.Head, t.Number = append(t.Head, prefix+d.Letter), append(t.Number, true)
	}
}

func (c *Comparison) matrixTable() figure.Table {
	what := "time"
	if !strings.HasPrefix(c.Objective.Name, "time") {
		what = "the objective, " + c.Objective.Name + ","
	}
	t := figure.Table{Name: TableMatrix, Title: fmt.Sprintf("what each best costs elsewhere: how many times worse %s is than that of the %s's best", what, c.noun()), Head: []string{""}, Number: []bool{false}}
	reasons := c.Reasons()
	c.addDevices(&t, c.at())
	for i, d := range c.Devices {
		if d.Best == nil {
			continue
		}
		cells := each.Of(c.Matrix[i], func(cell Cell) string { return cellText(&cell, reasons) })
		t.Rows = append(t.Rows, append([]string{"best of " + d.Letter}, cells...))
	}
	for i, why := range reasons {
		t.Notes = append(t.Notes, fmt.Sprintf("[%d] %s", i+1, why))
	}
	shown := slices.Concat(c.Matrix...)
	if c.Overall != nil {
		shown = append(shown, c.Overall.Cells...) // the notes here are for both tables
	}
	if slices.ContainsFunc(shown, isRough) {
		t.Notes = append(t.Notes, "~: not measured in turn with the "+c.noun()+"'s best, but each in its own search")
	}
	if len(c.Missing) > 0 {
		missing := each.Of(c.Missing, func(p Place) string {
			return fmt.Sprintf("the best of %s %s%s", c.Devices[p.Row].Letter, c.at(), c.Devices[p.Column].Letter)
		})
		t.Notes = append(t.Notes, "missing: "+strings.Join(missing, ", "), "to measure what is missing, "+c.Measure)
	}
	return t
}

func (c *Comparison) overallTable() figure.Table {
	o := c.Overall
	over := "all"
	if slices.ContainsFunc(c.Devices, func(d Device) bool { return d.Best == nil }) {
		over = "those that have a best"
	}
	t := figure.Table{Name: TableOverall, Title: "the best over " + over + ": " + o.Configuration, Head: []string{""}, Number: []bool{false}}
	slowdowns, took, limits := []string{"beside each " + c.noun() + "'s own"}, []string{"time"}, []string{"% of limit"}
	reasons := c.Reasons()
	c.addDevices(&t, c.at())
	for j := range o.Cells {
		cell := &o.Cells[j]
		slowdowns = append(slowdowns, cellText(cell, reasons))
		if cell.Time != nil {
			took = append(took, figure.Milliseconds(*cell.Time)+"ms")
		} else {
			took = append(took, "–")
		}
		limits = append(limits, shareText(cell.OfLimit))
	}
	t.Rows = append(t.Rows, slowdowns, took)
	if c.limited() {
		t.Rows = append(t.Rows, limits)
	}
	t.Notes = append(t.Notes, c.Candidates(),
		fmt.Sprintf("performance portability: %s, where each %s's own best has 1", figure.Number(o.Portability), c.noun()))
	return t
}

// shareText is a share of the limit in a table.
func shareText(share *float64) string {
	if share == nil {
		return "–"
	}
	return score.ShareText(*share)
}

// Candidates tells from how many configurations the best over all was chosen, or "" if there is none.
func (c *Comparison) Candidates() string {
	if c.Overall == nil {
		return ""
	}
	text := fmt.Sprintf("chosen of %d configurations that are correct on all of them", c.Overall.Candidates)
	if c.Overall.Candidates == 1 {
		text = "the only configuration that is known to be correct on all of them"
	}
	if len(c.Missing) > 0 {
		text += "; what is missing may hold a better one"
	}
	return text
}

// isRough reports whether the slow-down of a cell does not come from measurements in turn.
func isRough(c Cell) bool { return c.State == StateMeasured && !c.InTurn }

// cellText returns the slow-down of a cell, with ~ if it is rough, or the number of the reason why
// there is none.
func cellText(c *Cell, reasons []string) string {
	switch {
	case c.State == StateMissing:
		return "?"
	case c.State == StateFailed:
		return fmt.Sprintf("fails [%d]", slices.Index(reasons, c.Why())+1)
	case isRough(*c):
		return "~" + times(c.Slowdown)
	}
	return times(c.Slowdown)
}

func times(v *float64) string { return figure.Number(*v) + "×" }
