package worker

import (
	"context"

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
	m, err := peak.Open(d.Device)
	if err != nil {
		return err
	}
	defer m.Close()
	identity.Timer = m.Timer()
	c.send(answer{Ready: &ready{identity}})
	for _, name := range h.Peaks {
		part, err := peak.FindPart(name)
		if err != nil {
			return err
		}
		c.send(answer{Measuring: &measuring{name}})
		peaks, err := m.Measure(context.Background(), part) // the parent ends a worker that shall stop
		if err != nil {
			return err
		}
		c.send(answer{Measured: &measured{name, peaks}})
	}
	return nil
}
