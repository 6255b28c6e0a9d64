package main

import (
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
)

// printInstruments says how each quantity of a search is observed.
func (p *printer) printInstruments(d hardware.Device) {
	var texts []string
	quantities := map[string][]string{} // by text
	for _, i := range d.Instruments {
		text := i.String()
		if quantities[text] == nil {
			texts = append(texts, text)
		}
		quantities[text] = append(quantities[text], i.Quantity)
	}
	for _, text := range texts {
		fmt.Fprintf(p.notes, "%s: %s\n", strings.Join(quantities[text], ", "), text)
	}
}

// printReadings prints the readings of the best.
func (p *printer) printReadings(o *tune.Outcome) {
	for _, r := range o.Best.LastReadings() {
		if i, ok := o.Device.Instrument(r.Quantity); ok && i.Missing != "" {
			continue // said before the search
		}
		fmt.Fprintf(p.notes, "%s of the best: %s\n", r.Quantity, r)
	}
}
