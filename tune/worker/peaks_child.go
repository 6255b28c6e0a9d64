package worker

import (
	"context"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/device/peak"
)

// measurePeaks measures the parts that the parent names, one after the other. A part that
// cannot be measured says why; the error says that none can.
func (c *child) measurePeaks(h hello) error {
	d, err := findDevice(h)
	if err != nil {
		return err
	}
	identity, err := device.Describe(d.Device)
	if err != nil {
		return err
	}
	var parts []peak.Part
	for _, name := range h.Peaks {
		part, err := peak.FindPart(name)
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	ready := func(timer string) {
		identity.Timer = timer
		c.send(answer{Ready: &ready{identity}})
	}
	begin := func(p peak.Part) { c.send(answer{Measuring: &measuring{p.Name}}) }
	send := func(end bool) func(peak.Part, *tune.Peaks) {
		return func(p peak.Part, known *tune.Peaks) { c.send(answer{Measured: &measured{p.Name, known, end}}) }
	}
	// The parent ends a worker that shall stop.
	return h.Task.Run(context.Background(), d.Device, parts, ready, begin, send(false), send(true))
}
