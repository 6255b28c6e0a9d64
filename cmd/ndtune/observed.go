package main

import (
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
)

// instrumentText says how a quantity is observed, or why it is not.
func instrumentText(i hardware.Instrument) string {
	if i.Missing != "" {
		return "cannot be observed: " + i.Missing
	}
	text := i.Source
	if i.TickMS > 0 {
		text += fmt.Sprintf(", every %s ms", formatNumber(i.TickMS))
	}
	if i.Idle > 0 {
		text += fmt.Sprintf("; idle %s W", uncertain(i.Idle, i.IdleOff))
	}
	return text
}

// uncertain formats a value with its uncertainty.
func uncertain(value, off float64) string {
	if off > 0 {
		return formatNumber(value) + " ± " + formatNumber(off)
	}
	return formatNumber(value)
}

// printInstruments says how each quantity of a search is observed.
func (p *printer) printInstruments(d hardware.Device) {
	var texts []string
	quantities := map[string][]string{} // by text
	for _, i := range d.Instruments {
		text := instrumentText(i)
		if quantities[text] == nil {
			texts = append(texts, text)
		}
		quantities[text] = append(quantities[text], i.Quantity)
	}
	for _, text := range texts {
		fmt.Fprintf(p.notes, "%s: %s\n", strings.Join(quantities[text], ", "), text)
	}
}

// printReadings prints the readings of the best, and how many results lack a reading that others may have.
func (p *printer) printReadings(o *tune.Outcome) {
	for _, r := range o.Best.Readings {
		if i, ok := o.Device.Instrument(r.Quantity); ok && i.Missing != "" {
			continue // said before the search
		}
		text := uncertain(r.Value, r.Uncertainty)
		if unit := hardware.Unit(r.Quantity); unit != "" {
			text += " " + unit
		}
		if r.Missing != "" {
			text = "missing: " + r.Missing
		}
		if r.Note != "" {
			text += " (" + r.Note + ")"
		}
		fmt.Fprintf(p.notes, "%s of the best: %s\n", r.Quantity, text)
	}
	for _, quantity := range p.problem.Observed() {
		if i, ok := o.Device.Instrument(quantity); ok && i.Missing != "" {
			continue
		}
		missing, why := 0, ""
		for i := range o.Results {
			if r, ok := hardware.ReadingOf(o.Results[i].Readings, quantity); ok && r.Missing != "" {
				if missing++; missing == 1 {
					why = r.Missing
				}
			}
		}
		if missing > 0 {
			fmt.Fprintf(p.notes, "%s is missing in %s, in the first because %s\n", quantity, countNoun(missing, "result"), strings.TrimSuffix(why, "."))
		}
	}
}

// observeNames returns the quantities that --observe names.
func observeNames(texts []string) ([]string, error) {
	var all []string
	for _, text := range texts {
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name == "" {
				return nil, wrong("--observe %s: want names of quantities with commas between them, such as energy,clock", text)
			}
			all = append(all, name)
		}
	}
	return all, nil
}
