package device

import (
	"context"
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/observe"
	"github.com/ndtune/ndtune/tune/problem"
)

// openMeter opens the instruments that a problem needs on a device.
func openMeter(d hardware.Device, p *problem.Problem) *observe.Meter {
	var owned []observe.Own
	for _, i := range p.Definition().Measure.Instruments {
		o := observe.Own{Quantities: i.Quantities, Each: i.Each, Window: i.Window, Name: i.Registered}
		if c := i.Command; c != nil {
			o.Command, o.Dir, o.Timeout = c.Args, c.Dir, c.Timeout
		} else {
			o.Open = observe.Registered(i.Registered)
		}
		owned = append(owned, o)
	}
	m := observe.Open(d, p.Observed(), owned...)
	m.SetWindow(p.Definition().Measure.Window)
	return m
}

// Instruments finds how the quantities of a problem are observed on a device, and the power that the device draws while it
// does nothing. It returns nil if the problem observes nothing; otherwise it takes a second or two.
func Instruments(ctx context.Context, d hardware.Device, p *problem.Problem) ([]hardware.Instrument, error) {
	if len(p.Observed()) == 0 {
		return nil, nil
	}
	m := openMeter(d, p)
	defer m.Close()
	err := m.Calibrate(ctx)
	return m.Instruments(), err
}

// observe repeats the launches of a measured configuration until the instruments have seen enough.
func (t *trial) observe(ctx context.Context) error {
	observed := t.problem.Observed()
	if len(observed) == 0 {
		return nil
	}
	defer clock(&t.result.Durations.Measure)()
	why := ""
	switch {
	case t.result.EarlyStopped:
		why = "the configuration was stopped early, because it is far worse than the best (measure.early_stop)"
	case t.session.restoresEachLaunch():
		why = "a buffer is restored before each launch, so that the launches cannot be observed without the copies"
	case t.session.caches > 0:
		why = "the caches are overwritten before each launch, so that the launches cannot be observed without that (measure.cache: cold)"
	}
	if t.meter == nil {
		t.meter = openMeter(t.identity, t.problem)
	}
	median := time.Duration(t.result.Stats().Median * float64(time.Millisecond))
	load := func(n int) (func() error, error) {
		t.supervisor.Begin(StageMeasure, 2*n) // with those that were enqueued before
		var all Batch
		for range n {
			b, err := t.session.EnqueueAll(t.built.Launches)
			all = append(all, b...)
			if err != nil {
				all.Release()
				return nil, t.session.launchFailure(err)
			}
		}
		// Without a flush, a device need not begin before somebody waits.
		if err := t.session.Queue.Flush(); err != nil {
			all.Release()
			return nil, t.session.launchFailure(err)
		}
		return func() error {
			defer all.Release()
			if err := all.Wait(); err != nil {
				return t.session.launchFailure(err)
			}
			return nil
		}, nil
	}
	readings, err := t.meter.Observe(ctx, observe.Subject{
		Values: t.problem.Values(t.result.Configuration), Times: t.result.Times, Launch: median, Load: load, Unrepeated: why,
		Ready: func() error {
			if err := t.session.begin(); err != nil {
				return err
			}
			return t.session.Queue.Finish()
		},
		Asks: func() { t.supervisor.Begin(StageObserve, 0) },
	})
	t.result.Readings = append(t.result.Readings, readings...)
	return err
}
