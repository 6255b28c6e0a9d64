package spec

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/definition"
)

// measure reads how launches are timed, and what is observed beside the times.
func (f field) measure() (m definition.Measure) {
	t := &m.Timing
	f.keys(
		key("cache", &t.Cache, func(f field) definition.CacheState { return definition.CacheState(f.text()) }).
			means("warm or cold", "where timed launches find their data; default: warm"),
		key("launches", &t.Launches, func(f field) int {
			return f.integer(1, mostLaunches, "the timed launches are an integer from 1 to 1000000")
		}).means("integer", "the timed launches of a configuration; default: 7"),
		key("seconds", &t.Time, field.seconds).means("number", "the time limit of all timed launches together; default: none"),
		key("warmup", &t.Warmup, func(f field) int {
			n := f.integer(0, mostLaunches, "the untimed launches are an integer from 0 to 1000000")
			return cmp.Or(n, definition.NoWarmup)
		}).means("integer", "the launches before the timed ones; default: 1"),
		key("timer", &t.Timer, field.text).means("host", "times by the host's clock; default: by the device, if its timestamps are usable"),
		key("early_stop", &t.EarlyStop, field.earlyStop).
			means("number", "the factor over the best time beyond which a configuration is timed only once; default: 3, 0: never"),
		key("observe", &m.Observe, oneOrMore(field.text)).means("text or list", "the quantities to observe, such as energy"),
		key("window", &m.Window, field.window).means("duration", "the time for which each configuration is observed"),
		key("settings", &m.Settings, field.settings).means("mapping", "settings of the device: clock, memory_clock, power_limit"),
		key("instruments", &m.Instruments, listOf(field.instrument)).means("list", "instruments of your own"),
	)
	return m
}

// window reads the time for which a configuration is observed.
func (f field) window() time.Duration {
	d := f.duration()
	if (d < time.Millisecond || d > mostSeconds*time.Second) && !f.failed(f.name) {
		f.failf("%s: want a duration from 1ms to %s, such as 2s", d, mostSeconds*time.Second)
	}
	return d
}

// earlyStop reads how many times worse than the best so far a configuration is after whose first timed launch no other
// one follows.
func (f field) earlyStop() float64 {
	factor := f.number()
	switch {
	case f.failed(f.name):
		return 0
	case factor == 0:
		return definition.NoEarlyStop
	case !(factor > 1):
		f.failf("%v: want a factor above 1, or 0 for never", factor)
	}
	return factor
}

// settings reads the settings of the device.
func (f field) settings() (all []definition.Setting) {
	return each.Of(f.entries(), func(item entry) definition.Setting {
		return definition.Setting{Name: item.key, Expression: item.value.expression()}
	})
}

const (
	mostLaunches = 1_000_000
	mostSeconds  = 3600
)

func (f field) seconds() time.Duration {
	n := f.number()
	if (n <= 0 || n > mostSeconds) && !f.failed(f.name) {
		f.failf("%v: want a number of seconds above 0, at most %d", n, mostSeconds)
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

// instrument reads an instrument of the user's own.
func (f field) instrument() (i definition.Instrument) {
	var command definition.Command
	f.keys(
		key("command", &command.Args, field.command).means("list", "the program of the instrument, with its arguments; this or registered"),
		key("timeout", &command.Timeout, field.duration).means("duration", "the time that an answer may take; default: 5s"),
		key("registered", &i.Registered, field.text).means("text", "the name by which a Go program registered the instrument"),
		key("each", &i.Each, field.text).means("text", "what it frames: window, launch or configuration; default: window"),
		key("quantities", &i.Quantities, oneOrMore(field.text)).means("text or list", "the quantities that it gives").required(),
		key("window", &i.Window, field.duration).means("duration", "the time for which a kernel is repeated, at least"),
	)
	i.Command = f.complete(command)
	return i
}

// observe adds quantities that an option names.
func (o Options) observe(doc *document, d *definition.Definition) {
	for _, name := range o.Observe {
		if !slices.Contains(d.Measure.Observe, name) {
			doc.change(fmt.Sprintf("measure.observe[%d]", len(d.Measure.Observe)), "--observe "+name, nil)
			d.Measure.Observe = append(slices.Clip(d.Measure.Observe), name)
		}
	}
}
