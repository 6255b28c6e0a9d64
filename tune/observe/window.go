package observe

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A Load enqueues n launches and returns a function that waits for them.
type Load func(n int) (wait func() error, err error)

// A sample is a reading of all gauges of a meter, after some launches have ended.
type sample struct {
	at       time.Duration // since the begin of the window
	launches int
	energy   float64 // joules of the counter
	power    float64 // watts
	others   map[string]float64
}

// sample reads all gauges but those that have failed, to which it adds.
func (m *Meter) sample(at time.Duration, launches int, failed map[string]error) sample {
	s := sample{at: at, launches: launches, others: map[string]float64{}}
	for quantity, g := range m.found {
		if failed[quantity] != nil {
			continue
		}
		v, err := g.read()
		if err != nil {
			failed[quantity] = fmt.Errorf("%s: %w", g.source, err)
			continue
		}
		switch quantity {
		case hardware.Energy:
			s.energy = v
		case hardware.Power:
			s.power = v
		default:
			s.others[quantity] = v
		}
	}
	return s
}

// An edge is the first sample with a new value of the energy counter, which advanced at some time of the
// duration before it.
type edge struct {
	sample
	before time.Duration
}

// edges returns the edges of samples. A counter with a known tick has advanced within the last tick.
func edges(samples []sample, tick time.Duration) (all []edge) {
	for i := 1; i < len(samples); i++ {
		if a, b := &samples[i-1], &samples[i]; b.energy != a.energy {
			before := b.at - a.at
			if tick > 0 {
				before = min(before, tick)
			}
			all = append(all, edge{*b, before})
		}
	}
	return all
}

// tickOf returns the median time between two edges, or 0 for fewer than two intervals.
func tickOf(samples []sample) time.Duration {
	var between []time.Duration
	all := edges(samples, 0)
	for i := 1; i < len(all); i++ {
		between = append(between, all[i].at-all[i-1].at)
	}
	if len(between) < 2 {
		return 0
	}
	slices.Sort(between)
	return between[len(between)/2]
}

// An estimate is the power of a device over a span of time.
type estimate struct {
	power, off float64       // watts, with the standard uncertainty
	span       time.Duration // over which it is the mean
	launches   int           // in this time
}

// period returns the seconds of a launch.
func (e estimate) period() float64 { return e.span.Seconds() / float64(e.launches) }

// estimate returns the power by the counter, or else by readings of the power. The error says why the
// window is too short for it, or which instrument failed.
func (m *Meter) estimate(samples []sample, failed map[string]error) (estimate, error) {
	if g, ok := m.found[hardware.Energy]; ok {
		if err := failed[hardware.Energy]; err != nil {
			return estimate{}, err
		}
		return byCounter(samples, m.tick, g.source)
	}
	if err := failed[hardware.Power]; err != nil {
		return estimate{}, err
	}
	return byPower(samples, m.found[hardware.Power])
}

// byCounter returns the power between the first edge and the last one. Its uncertainty has two parts: that of the times of the
// two edges, which lie anywhere in the time before them, and the standard error of the mean of all intervals, as far
// as they scatter more than the uncertain times of their edges make them.
func byCounter(samples []sample, tick time.Duration, source string) (estimate, error) {
	all := edges(samples, tick)
	for len(all) > 0 && all[0].at < tick { // in the first tick the device may still be waking up
		all = all[1:]
	}
	short := func() error {
		return fmt.Errorf("the window is too short: %s advanced %d times in %s, every %s or so; an energy needs %d intervals",
			source, len(all), samples[len(samples)-1].at.Round(time.Millisecond), tick, leastTicks)
	}
	if len(all) < 2 {
		return estimate{}, short()
	}
	a, b := all[0], all[len(all)-1]
	e := estimate{span: b.at - a.at, launches: b.launches - a.launches}
	if e.span < leastTicks*tick*9/10 { // ticks are not quite regular
		return estimate{}, short()
	}
	e.power = (b.energy - a.energy) / e.span.Seconds()
	e.off = e.power * math.Hypot(a.before.Seconds(), b.before.Seconds()) / math.Sqrt(12) / e.span.Seconds()
	var powers []float64
	expected := 0.0 // variance of powers
	for i := 1; i < len(all); i++ {
		seconds := (all[i].at - all[i-1].at).Seconds()
		power := (all[i].energy - all[i-1].energy) / seconds
		powers = append(powers, power)
		expected += math.Pow(power/seconds*math.Hypot(all[i-1].before.Seconds(), all[i].before.Seconds()), 2) / 12
	}
	if n := float64(len(powers)); n >= leastTicks {
		e.off = math.Hypot(e.off, math.Sqrt(max(0, stat.Variance(powers, nil)-expected/n)/n))
	}
	return e, nil
}

// byPower returns the mean power, integrated by the trapezoid rule from the time at which the readings are those of
// the load. Readings that are the same as the one before may be no new ones, and do not make the mean more certain.
func byPower(samples []sample, g gauge) (estimate, error) {
	loaded := samples
	for len(loaded) > 0 && loaded[0].at < g.lag {
		loaded = loaded[1:]
	}
	if len(loaded) < 3 {
		return estimate{}, fmt.Errorf("the window is too short: %d readings of %s after its lag of %s; a mean needs 3",
			len(loaded), g.source, g.lag)
	}
	a, b := loaded[0], loaded[len(loaded)-1]
	e := estimate{span: b.at - a.at, launches: b.launches - a.launches}
	joules, fresh := 0.0, []float64{a.power}
	for i := 1; i < len(loaded); i++ {
		p, q := loaded[i-1], loaded[i]
		joules += (p.power + q.power) / 2 * (q.at - p.at).Seconds()
		if p.power != q.power {
			fresh = append(fresh, q.power)
		}
	}
	e.power = joules / e.span.Seconds()
	if len(fresh) > 1 {
		e.off = stat.StdDev(fresh, nil) / math.Sqrt(float64(len(fresh)))
	}
	return e, nil
}

const (
	// A batch of launches has at most batchMost of them, and takes at most batchTime, so that a cancelled run ends soon.
	batchMost = 4096
	batchTime = 20 * time.Millisecond
)

// A Subject is a configuration that is observed after it was timed.
type Subject struct {
	Values map[string]any // see [Frame]
	Times  []float64      // of its timed launches, in milliseconds
	Launch time.Duration  // that a launch takes, about
	Load   Load
	Ready  func() error // readies the buffers for a launch that an instrument frames; nil: nothing is needed
	Asks   func()       // is called before instruments of the user's own are asked, which may take their time; nil: nobody cares

	// Unrepeated is why launches cannot be repeated without anything between them; "": they can.
	Unrepeated string
}

// Observe repeats launches until its instruments have seen enough, has the instruments of the user's own frame further launches, and
// returns a reading of each quantity in the order of Open. The next launches are enqueued before the instruments are
// read, so that the device does not wait for the host. An error is one of the launches or of the
// context; those of instruments are in the readings.
func (m *Meter) Observe(ctx context.Context, s Subject) ([]hardware.Reading, error) {
	if s.Asks == nil || len(m.own) == 0 {
		s.Asks = func() {}
	}
	w := window{meter: m, failed: map[string]error{}, batch: min(m.limits.batch, max(m.tick/20, time.Millisecond))}
	if m.tick == 0 {
		w.batch = m.limits.batch
	}
	for _, o := range m.own {
		o.start()
	}
	if s.Unrepeated == "" && slices.ContainsFunc(m.wanted, m.inWindow) {
		err := m.frame(hardware.EachWindow, s, 0, func() (int, error) {
			err := w.run(ctx, max(s.Launch, time.Nanosecond), s.Load)
			return w.launches, err
		})
		if err != nil {
			return nil, err
		}
	}
	if slices.ContainsFunc(m.own, func(o *own) bool { return o.Each == hardware.EachLaunch }) {
		if err := m.frameLaunches(ctx, s); err != nil {
			return nil, err
		}
	}
	s.Asks()
	for _, o := range m.own { // last, so that they can have what the others have seen
		if o.Each == hardware.EachConfiguration {
			o.end(Frame{Values: s.Values, Times: s.Times})
		}
	}
	return w.readings(s.Unrepeated), nil
}

// inWindow reports whether a quantity is observed while launches are repeated.
func (m *Meter) inWindow(quantity string) bool {
	o := m.ownOf(quantity)
	return o == nil || o.Each == hardware.EachWindow
}

// frame has the instruments of a kind frame launches. Work returns their number.
func (m *Meter) frame(each string, s Subject, index int, work func() (launches int, err error)) error {
	s.Asks()
	f := Frame{Values: s.Values, Times: s.Times, Index: index}
	tell := func(say func(*own, Frame)) {
		for _, o := range m.own {
			if o.Each == each {
				say(o, f)
			}
		}
	}
	tell((*own).begin)
	began := m.now()
	launches, err := work()
	if err != nil {
		return err
	}
	f.Launches, f.Took = launches, m.now().Sub(began)
	s.Asks()
	tell((*own).end)
	return nil
}

// frameLaunches frames as many launches as were timed.
func (m *Meter) frameLaunches(ctx context.Context, s Subject) (err error) {
	for i := 0; i < len(s.Times) && err == nil; i++ {
		if err = ctx.Err(); err == nil && s.Ready != nil {
			err = s.Ready()
		}
		if err != nil {
			break
		}
		err = m.frame(hardware.EachLaunch, s, i, func() (int, error) {
			wait, err := s.Load(1)
			if err == nil {
				err = wait()
			}
			return 1, err
		})
	}
	return err
}

// A window is the time in which launches are repeated.
type window struct {
	meter    *Meter
	batch    time.Duration
	samples  []sample
	launches int
	failed   map[string]error // of gauges, by quantity
}

func (w *window) run(ctx context.Context, launch time.Duration, load Load) error {
	sized := func(d time.Duration) int { return int(min(max(d/launch, 1), batchMost)) }
	n, most := sized(w.batch), sized(batchTime)
	m := w.meter
	began := m.now()
	size := n
	pending, err := load(size)
	if err != nil {
		return err
	}
	w.read(0)
	for woke := began; ; {
		following := n
		next, err := load(following)
		if err != nil {
			_ = pending() // the error of the launch says more
			return err
		}
		waits := m.now()
		if err := pending(); err != nil {
			_ = next()
			return err
		}
		now := m.now()
		if now.Sub(waits) < now.Sub(woke)/10 {
			n = min(2*n, most) // the device may have waited for the host
		}
		woke = now
		w.launches += size
		w.read(now.Sub(began))
		pending, size = next, following
		if ctx.Err() != nil || w.complete(now.Sub(began)) {
			break
		}
	}
	if err := pending(); err != nil {
		return err
	}
	w.launches += size
	return ctx.Err()
}

// read adds a sample.
func (w *window) read(at time.Duration) {
	w.samples = append(w.samples, w.meter.sample(at, w.launches, w.failed))
}

// complete reports whether the window can end.
func (w *window) complete(elapsed time.Duration) bool {
	m := w.meter
	least := cmp.Or(m.window, m.limits.least)
	for _, o := range m.own {
		least = max(least, o.Window)
	}
	_, counts := m.found[hardware.Energy]
	power, reads := m.found[hardware.Power]
	if !counts && reads {
		least = max(least, power.lag+cmp.Or(m.window, m.limits.least))
	}
	switch {
	case elapsed < least:
		return false
	case !counts && !reads:
		return true
	case elapsed >= max(m.limits.most, 2*least) && len(w.samples) > 2:
		return true
	}
	e, err := m.estimate(w.samples, w.failed)
	// Ticks are not quite regular.
	return err == nil && e.span >= cmp.Or(m.window, time.Duration(m.limits.ticks)*m.tick)*19/20
}

// readings returns a reading of each quantity. Unrepeated is why there was no window.
func (w *window) readings(unrepeated string) []hardware.Reading {
	m := w.meter
	var all []hardware.Reading
	var load estimate
	var short error
	if unrepeated == "" && (m.found[hardware.Energy].read != nil || m.found[hardware.Power].read != nil) {
		load, short = m.estimate(w.samples, w.failed)
	}
	for _, i := range m.instruments {
		r := hardware.Reading{Quantity: i.Quantity}
		own, failed := m.ownOf(i.Quantity), w.failed[i.Quantity]
		ofPower := i.Quantity == hardware.Energy || i.Quantity == hardware.Power
		switch {
		case unrepeated != "" && m.inWindow(i.Quantity):
			r = hardware.MissingReading(i.Quantity, unrepeated)
		case own != nil:
			r = own.reading(i.Quantity)
		case i.Missing != "":
			r = hardware.MissingReading(i.Quantity, i.Missing)
		case i.Quantity == hardware.IdlePower:
			r.Value, r.Uncertainty = i.Idle, i.IdleOff
		case ofPower && short != nil:
			r = hardware.MissingReading(i.Quantity, short.Error())
		case i.Quantity == hardware.Energy:
			r.Value, r.Uncertainty = load.power*load.period(), load.off*load.period()
		case i.Quantity == hardware.Power:
			r.Value, r.Uncertainty = load.power, load.off
		case failed != nil:
			r = hardware.MissingReading(i.Quantity, failed.Error())
		case i.Quantity == hardware.Throttled:
			r.Value, r.Note = throttling(w.samples)
		default:
			r.Value, r.Uncertainty = mean(w.samples, i.Quantity)
		}
		all = append(all, r)
	}
	return all
}

// mean returns the mean of a quantity while launches ran, with its standard error.
func mean(samples []sample, quantity string) (value, off float64) {
	values := each.Of(samples[1:], func(s sample) float64 { return s.others[quantity] })
	value = stat.Mean(values, nil)
	if len(values) > 1 {
		off = stat.StdDev(values, nil) / math.Sqrt(float64(len(values)))
	}
	return value, off
}

// throttling returns the share of the samples in which the device had slowed itself down, and the reasons.
func throttling(samples []sample) (share float64, reasons string) {
	slow, texts := 0, []string(nil)
	for _, s := range samples[1:] {
		because := reasonsOf(s.others[hardware.Throttled])
		if len(because) > 0 {
			slow++
		}
		texts = each.AppendNew(texts, because...)
	}
	return float64(slow) / float64(len(samples)-1), strings.Join(texts, ", ")
}

func (m *Meter) ownOf(quantity string) *own {
	for _, o := range m.own {
		if slices.Contains(o.Quantities, quantity) {
			return o
		}
	}
	return nil
}
