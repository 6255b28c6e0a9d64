package spec

import (
	"fmt"
	"slices"

	"github.com/ndtune/ndtune/tune/problem"
)

// measure reads what is observed beside the time.
func (f field) measure() (m problem.Measure) {
	f.keys(
		key("observe", &m.Observe, func(f field) []string { return each(f.listOrOne(), field.text) }),
		key("instruments", &m.Instruments, func(f field) []problem.Instrument { return each(f.list(), field.instrument) }),
	)
	return m
}

// instrument reads an instrument of the user's own.
func (f field) instrument() (i problem.Instrument) {
	var command problem.Command
	f.keys(
		key("command", &command.Args, field.command),
		key("timeout", &command.Timeout, field.duration),
		key("registered", &i.Registered, field.text),
		key("quantities", &i.Quantities, func(f field) []string { return each(f.listOrOne(), field.text) }),
		key("window", &i.Window, field.duration),
	)
	f.require("quantities")
	if f.has("command") {
		command.Dir = f.folder()
		i.Command = &command
	} else if f.has("timeout") {
		f.failf("timeout belongs to command")
	}
	return i
}

// observe adds quantities that an option names.
func (o Options) observe(doc *document, d *problem.Definition) {
	for _, name := range o.Observe {
		if !slices.Contains(d.Measure.Observe, name) {
			doc.change(fmt.Sprintf("measure.observe[%d]", len(d.Measure.Observe)), "--observe "+name, nil)
			d.Measure.Observe = append(slices.Clip(d.Measure.Observe), name)
		}
	}
}
