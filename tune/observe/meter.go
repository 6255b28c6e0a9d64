// Package observe reads the instruments of a device while a kernel runs on it: energy, power, clocks,
// temperature.
//
// Its types: a [Meter] reads each [Instrument] while a kernel runs; a [Control] changes settings.
//
// It is opinionated. A counter of energy advances every 20 to 100 ms, and a kernel takes microseconds: so a
// [Meter] repeats the kernel until the counter has advanced often enough, and refuses to divide by less. A
// quantity that cannot be read has a reason, never a zero. Only a [Control] changes settings of a device.
//
// # Reasons
//
// A kernel is repeated until its instruments have seen enough. A counter of energy advances every 20 to 100 ms, so a window goes from
// one advance to another. The next launches are enqueued before the instruments are read, because reading NVIDIA's counter can take 2
// ms. The uncertainty of an energy is that of the times of the two advances, with the standard error of the power over all advances; the
// scatter that the uncertain times cause is subtracted first. A quantity without a value has a reason: a window in which the counter
// advanced too seldom has no energy, rather than a wrong one.
//
// The process above the workers changes settings of a device, at the request of the worker that times. It survives the crash of a
// worker, so it can restore them in every case but its own sudden end; for that, a file has the commands that restore them, written before
// the first change and locked by its process. Every command looks for such files when it starts, and prints them.
//
// Files of the operating system are read through an fs.FS, so that folders recorded as text archives can test it.
package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/hardware"
)

// gauges are what can be read of a device.
type gauges struct {
	where string // for messages
	all   []gauge
	lack  map[string]string // why quantities have no gauge; "": all others
	close func()
}

// A gauge reads a quantity: joules of a counter, watts, MHz, °C, or the bits of reasons for throttling.
type gauge struct {
	quantity string
	source   string
	lag      time.Duration // until a power is that of the load, if a device reports an average
	read     func() (float64, error)
}

func (g *gauges) add(quantity, source string, lag time.Duration, read func() (float64, error)) {
	g.all = append(g.all, gauge{quantity, source, lag, read})
}

// working returns the first gauge of a quantity that can be read, or why there is none. If a source is given, the
// gauge has this source.
func (g *gauges) working(quantity, source string) (gauge, error) {
	var errs []error
	for _, gauge := range g.all {
		if gauge.quantity == quantity && (source == "" || gauge.source == source) {
			_, err := gauge.read()
			if err == nil {
				return gauge, nil
			}
			errs = append(errs, err)
		}
	}
	if errs == nil {
		why := cmp.Or(g.lack[quantity], g.lack[""], fmt.Sprintf("%s has no %s", g.where, strings.ReplaceAll(quantity, "_", " ")))
		errs = []error{errors.New(why)}
	}
	return gauge{}, errors.Join(errs...)
}

const (
	sensorLag  = 100 * time.Millisecond // a value of a sensor
	averageLag = time.Second            // an average over a second, as many drivers report it
)

// openGauges returns the gauges of a device.
func openGauges(d hardware.Device, f files) (gauges, error) {
	switch vendor := strings.ToLower(d.Vendor); {
	case d.Type == "cpu":
		return f.openCPU()
	case strings.Contains(vendor, "nvidia"):
		return openNVML(d)
	default:
		return f.openGPU(d)
	}
}

// A Meter observes quantities of one device. It is not safe for concurrent use. Close it when done.
type Meter struct {
	wanted      []string
	instruments []hardware.Instrument
	found       map[string]gauge // by quantity
	gauges      gauges
	own         []*own
	tick        time.Duration // of the energy counter; 0: there is none
	limits      limits
	window      time.Duration // for which a kernel is observed; 0: as long as the instruments need
	now         func() time.Time
	pause       func(time.Duration)
}

// limits are the bounds of the observation of a kernel.
type limits struct {
	least time.Duration // of the repetition
	ticks int           // of the counter, at least
	most  time.Duration // at which it ends, with fewer ticks
	batch time.Duration // of launches between two readings
	idle  time.Duration // of the observation of the idle device
}

var defaultLimits = limits{
	least: 100 * time.Millisecond, ticks: 4, most: 2 * time.Second, batch: 10 * time.Millisecond, idle: time.Second,
}

// leastTicks is the number of ticks below which an energy is refused.
const leastTicks = 3

// Open opens the instruments of a device for some quantities, which are those of [hardware.Quantities] and
// those of the instruments of the user's own. It has no error: [Meter.Instruments] says what is missing. If the device has
// Instruments, their ticks and idle values are taken over; otherwise [Meter.Calibrate] finds them.
func Open(d hardware.Device, wanted []string, owned ...Own) *Meter {
	root, folder := sysFolder()
	return open(d, wanted, files{root, folder}, owned)
}

func open(d hardware.Device, wanted []string, f files, owned []Own) *Meter {
	m := &Meter{wanted: wanted, found: map[string]gauge{}, limits: defaultLimits, now: time.Now, pause: time.Sleep}
	var failed error
	if slices.ContainsFunc(wanted, func(q string) bool { return slices.Contains(hardware.Quantities(), q) }) {
		m.gauges, failed = openGauges(d, f)
	}
	m.own = each.Of(owned, func(o Own) *own { return newOwn(o, d) })
	for _, q := range wanted {
		known, _ := d.Instrument(q)
		m.instruments = append(m.instruments, m.find(q, failed, known))
	}
	for _, i := range m.instruments {
		m.tick = max(m.tick, time.Duration(i.TickMS*float64(time.Millisecond)))
	}
	return m
}

// SetWindow sets the time for which kernels are observed, instead of the one that the instruments need. A counter is observed for
// this time between two of its advances.
func (m *Meter) SetWindow(window time.Duration) { m.window = window }

// A WindowError says that a window is too short for the energy counter.
type WindowError struct {
	Window, Tick time.Duration
	Source       string
}

func (e *WindowError) Error() string {
	return fmt.Sprintf("a window of %s is too short: the %s advances every %s, and an energy needs %d intervals; observe for %s at least",
		e.Window, e.Source, e.Tick.Round(time.Millisecond), leastTicks, (leastTicks * e.Tick).Round(10*time.Millisecond))
}

// find returns how a quantity is observed. Energy comes from a counter or from readings of the power, and so
// does power. A known instrument, which another process found, is taken over.
func (m *Meter) find(quantity string, failed error, known hardware.Instrument) hardware.Instrument {
	if known.Missing != "" {
		return known
	}
	i := known
	i.Quantity = quantity
	for _, o := range m.own {
		if slices.Contains(o.Quantities, quantity) {
			i.Source = o.name()
			return i
		}
	}
	if failed != nil {
		i.Missing = failed.Error()
		return i
	}
	gauges := []string{quantity}
	switch quantity {
	case hardware.Energy, hardware.Power, hardware.IdlePower:
		gauges = []string{hardware.Energy, hardware.Power}
	}
	var errs []error
	for _, name := range gauges {
		g, err := m.gauges.working(name, known.Source)
		if err == nil {
			m.found[name] = g
			i.Source = g.source
			return i
		}
		if len(errs) == 0 || errs[0].Error() != err.Error() {
			errs = append(errs, err)
		}
	}
	i.Missing = strings.ReplaceAll(errors.Join(errs...).Error(), "\n", "; ")
	return i
}

// Instruments says how each quantity is observed, or why it is not.
func (m *Meter) Instruments() []hardware.Instrument { return m.instruments }

// Close releases the instruments.
func (m *Meter) Close() {
	if m == nil {
		return
	}
	if m.gauges.close != nil {
		m.gauges.close()
	}
	for _, o := range m.own {
		o.stop()
	}
}

// Calibrate finds the time between two ticks of the energy counter, and the power of the device while it does
// nothing. It takes about a second, or more for a slow counter. If the counter does not advance, energy is
// computed from readings of the power instead, if there are any. The error is that of the context, or a [WindowError].
func (m *Meter) Calibrate(ctx context.Context) error {
	counter, counts := m.found[hardware.Energy]
	if !counts && m.found[hardware.Power].read == nil {
		return nil
	}
	samples, failed, err := m.sampleIdle(ctx, counts)
	if err != nil {
		return err
	}
	if counts {
		why := failed[hardware.Energy]
		if m.tick = tickOf(samples); m.tick == 0 && why == nil {
			why = fmt.Errorf("%s did not advance in %s", counter.source, m.limits.most)
		}
		if why != nil {
			if m.noCounter(why); m.found[hardware.Power].read == nil {
				return nil
			}
			if samples, failed, err = m.sampleIdle(ctx, false); err != nil {
				return err
			}
		} else if m.window > 0 && m.window < leastTicks*m.tick*19/20 {
			return &WindowError{m.window, m.tick, counter.source}
		}
	}
	idle, err := m.estimate(samples, failed)
	if err != nil {
		m.lose(err)
		return nil
	}
	m.ofPower(func(i *hardware.Instrument) {
		if i.Missing == "" {
			i.TickMS, i.Idle, i.IdleOff = float64(m.tick)/float64(time.Millisecond), idle.power, idle.off
		}
	})
	return nil
}

const calibrationPause = 500 * time.Microsecond

// sampleIdle reads the instruments of a device without launches. It waits for some ticks of a counter.
func (m *Meter) sampleIdle(ctx context.Context, counts bool) (samples []sample, failed map[string]error, err error) {
	least, ticks := m.limits.idle, 0
	if !counts {
		least += m.found[hardware.Power].lag
	}
	failed = map[string]error{}
	began := m.now()
	elapsed := time.Duration(0)
	for elapsed < least || counts && elapsed < m.limits.most && ticks <= leastTicks {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		s := m.sample(elapsed, 0, failed)
		if n := len(samples); n > 0 && samples[n-1].energy != s.energy {
			ticks++
		}
		samples = append(samples, s)
		m.pause(calibrationPause)
		elapsed = m.now().Sub(began)
	}
	return samples, failed, nil
}

// lose says that energy and power cannot be observed.
func (m *Meter) lose(err error) {
	delete(m.found, hardware.Energy)
	delete(m.found, hardware.Power)
	m.ofPower(func(i *hardware.Instrument) { i.Missing, i.Source = err.Error(), "" })
}

// ofPower calls change for the instruments of energy and power, which all come from one gauge.
func (m *Meter) ofPower(change func(*hardware.Instrument)) {
	for i := range m.instruments {
		switch m.instruments[i].Quantity {
		case hardware.Energy, hardware.Power, hardware.IdlePower:
			change(&m.instruments[i])
		}
	}
}

// noCounter replaces a counter that does not advance by readings of the power.
func (m *Meter) noCounter(why error) {
	delete(m.found, hardware.Energy)
	g, err := m.gauges.working(hardware.Power, "")
	if err != nil {
		m.lose(fmt.Errorf("%w; %w", why, err))
		return
	}
	m.found[hardware.Power] = g
	m.ofPower(func(i *hardware.Instrument) { i.Source = g.source })
}
