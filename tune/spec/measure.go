package spec

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ndtune/ndtune/tune/problem"
)

// measure reads how launches are timed, and what is observed beside the times.
func (f field) measure() (m problem.Measure) {
	t := &m.Timing
	f.keys(
		key("cache", &t.Cache, func(f field) problem.CacheState {
			return problem.CacheState(f.choice(string(problem.CacheWarm), string(problem.CacheCold)))
		}),
		key("launches", &t.Launches, func(f field) int {
			return int(f.whole(1, mostLaunches, "the timed launches are a whole number from 1 to 1000000"))
		}),
		key("seconds", &t.Time, field.seconds),
		key("warmup", &t.Warmup, func(f field) int {
			n := int(f.whole(0, mostLaunches, "the untimed launches are a whole number from 0 to 1000000"))
			return cmp.Or(n, problem.NoWarmup)
		}),
		key("early_stop", &t.EarlyStop, field.earlyStop),
		key("observe", &m.Observe, func(f field) []string { return each(f.listOrOne(), field.text) }),
		key("window", &m.Window, field.window),
		key("settings", &m.Settings, field.settings),
		key("instruments", &m.Instruments, func(f field) []problem.Instrument { return each(f.list(), field.instrument) }),
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
		return problem.NoEarlyStop
	case !(factor > 1):
		f.failf("%v: want a factor above 1, or 0 for never", factor)
	}
	return factor
}

// settings reads the settings of the device.
func (f field) settings() (all []problem.Setting) {
	for _, item := range f.entries() {
		all = append(all, problem.Setting{Name: item.key, Expression: item.value.expression()})
	}
	return all
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
