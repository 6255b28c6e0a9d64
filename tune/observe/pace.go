package observe

import (
	"fmt"
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
)

// A Pace reads, in microseconds, what tells how fast a device is at the moment: its clock and the reasons for which it has slowed
// itself down, and, on a CPU, how long the threads of this process wait for a processor. It is not safe for concurrent use. Close it
// when done.
type Pace struct {
	gauges         gauges
	clock, reasons *gauge // nil: they cannot be read
	threads        *threads
}

// OpenPace opens what can be read of a device. It has no error: [Pace.Clocked] and [Pace.Waits] say what there is. A CPU has
// waits and no clock, since its processors have a clock each, and those without work a low one.
func OpenPace(d hardware.Device) *Pace {
	root, folder := sysFolder()
	return openPace(d, files{root, folder})
}

func openPace(d hardware.Device, f files) *Pace {
	p := &Pace{}
	if d.Type == "cpu" {
		p.threads = openThreads()
		return p
	}
	var err error
	if p.gauges, err = openGauges(d, f); err != nil {
		return p
	}
	if g, err := p.gauges.working(hardware.Clock, ""); err == nil {
		p.clock = &g
	}
	if g, err := p.gauges.working(hardware.Throttled, ""); err == nil {
		p.reasons = &g
	}
	return p
}

// Clocked and Waits report whether the clock, and whether the waits of threads can be read.
func (p *Pace) Clocked() bool { return p.clock != nil }
func (p *Pace) Waits() bool   { return p.threads != nil }

// Close releases what was opened. It does nothing on nil.
func (p *Pace) Close() {
	if p == nil {
		return
	}
	if p.gauges.close != nil {
		p.gauges.close()
	}
	p.threads.close()
}

// Clock returns the clock of the compute units in MHz.
func (p *Pace) Clock() (float64, error) {
	mhz, err := p.clock.read()
	if err == nil && mhz <= 0 {
		err = fmt.Errorf("%s: %g MHz is no clock", p.clock.source, mhz)
	}
	return mhz, err
}

// Slowed returns the reasons for which the device has slowed itself down, nil if there are none or they cannot be read.
func (p *Pace) Slowed() []string {
	if p.reasons == nil {
		return nil
	}
	bits, err := p.reasons.read()
	if err != nil {
		return nil
	}
	return reasonsOf(bits)
}

// Begin begins the time for which Waited counts.
func (p *Pace) Begin() error { return p.threads.begin() }

// Waited returns which share of the time since Begin, 0 to below 1, the threads waited for a processor, and for how long they ran
// all together. The threads that ran longest count most: those of the kernel, and not those that woke for a moment.
func (p *Pace) Waited() (share float64, ran time.Duration, err error) { return p.threads.waited() }
