package observe

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
)

// TestWindow observes kernels for as long as a user wants, and refuses a window that is too short for the counter.
func TestWindow(t *testing.T) {
	s := standIn(t)
	for _, c := range []struct {
		window, least, most time.Duration
		want                string
	}{
		{0, 400 * time.Millisecond, 800 * time.Millisecond, ""},
		{300 * time.Millisecond, 300 * time.Millisecond, 600 * time.Millisecond, ""},
		{3 * time.Second, 3 * time.Second, 3400 * time.Millisecond, ""},
		{250 * time.Millisecond, 0, 0, "a window of 250ms is too short: the total energy counter advances every 100ms, and an energy needs 3 intervals; observe for 300ms at least"},
	} {
		b := &bench{load: 400, idle: 75, tick: 100 * time.Millisecond, publish: s.publish}
		m := Open(nvidia, []string{hardware.Energy})
		m.SetWindow(c.window)
		b.drive(m)
		if err := m.Calibrate(t.Context()); c.want != "" {
			if err == nil || err.Error() != c.want {
				t.Errorf("%s: %v, want %s", c.window, err, c.want)
			}
			m.Close()
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		before := b.now
		if r := b.observe(t, m, 5*time.Microsecond); !near(r[hardware.Energy], 400*5e-6, 0.05) {
			t.Errorf("%s: %+v", c.window, r[hardware.Energy])
		}
		if took := b.now - before; took < c.least || took > c.most {
			t.Errorf("a window of %s took %s, want %s to %s", c.window, took, c.least, c.most)
		}
		m.Close()
	}
}

// The reading before the first launches is of an idle device.
func TestMeanLeavesOutTheIdleReading(t *testing.T) {
	of := func(mhz float64) sample { return sample{others: map[string]float64{hardware.Clock: mhz}} }
	if got, off := mean([]sample{of(300), of(1900), of(2000)}, hardware.Clock); got != 1950 || math.Abs(off-50) > 1e-9 {
		t.Errorf("%v ± %v MHz, want 1950 ± 50", got, off)
	}
}

// TestASlowReadingKeepsTheDeviceBusy reads a counter in 2.4 ms, as long as 800 launches take.
func TestASlowReadingKeepsTheDeviceBusy(t *testing.T) {
	s := standIn(t)
	b := &bench{load: 400, idle: 75, tick: 20 * time.Millisecond, publish: s.publish}
	m := Open(nvidia, []string{hardware.Energy, hardware.Power})
	defer m.Close()
	b.drive(m)
	if err := m.Calibrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	g := m.found[hardware.Energy]
	quick := g.read
	g.read = func() (float64, error) { v, err := quick(); b.advance(2400 * time.Microsecond); return v, err }
	m.found[hardware.Energy] = g
	m.limits.least = time.Second
	if r := b.observe(t, m, 3*time.Microsecond); math.Abs(r[hardware.Power].Value-400) > 4 {
		t.Errorf("power: %+v", r[hardware.Power])
	}
}

// TestLongLaunches observes a kernel of five seconds, whose energy three launches show.
func TestLongLaunches(t *testing.T) {
	s := standIn(t)
	b := &bench{load: 400, idle: 75, tick: 100 * time.Millisecond, publish: s.publish}
	m := Open(nvidia, []string{hardware.Energy})
	defer m.Close()
	b.drive(m)
	if err := m.Calibrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	before := b.now
	if r := b.observe(t, m, 5*time.Second); !near(r[hardware.Energy], 2000, 0.02) {
		t.Errorf("energy: %+v", r[hardware.Energy])
	}
	if took := b.now - before; took > 16*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestPowerInsteadOfACounter observes devices without a counter that works: the energy is integrated from readings
// of the power, which lag behind the load.
func TestPowerInsteadOfACounter(t *testing.T) {
	for _, c := range []struct {
		name, source string
		options      []string
		status       [3]int32
		tick         time.Duration
	}{
		{"older driver", "power usage", []string{"-DOLD"}, [3]int32{}, time.Second},
		{"not supported", "instantaneous power", nil, [3]int32{0, 3, 0}, time.Second},
		{"neither supported", "power usage", nil, [3]int32{0, 3, 3}, time.Second},
		{"stands still", "instantaneous power", nil, [3]int32{}, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := standIn(t, c.options...)
			s.status(c.status[0], c.status[1], c.status[2])
			b := &bench{load: 300, idle: 50, tick: c.tick, publish: s.publish}
			m := Open(nvidia, []string{hardware.Energy, hardware.IdlePower})
			defer m.Close()
			b.drive(m)
			if err := m.Calibrate(context.Background()); err != nil {
				t.Fatal(err)
			}
			if i := m.Instruments()[0]; i.Source != c.source || i.Missing != "" {
				t.Errorf("the instrument is %+v, want the source %q", i, c.source)
			}
			r := b.observe(t, m, time.Millisecond)
			if e := r[hardware.Energy]; math.Abs(e.Value-0.3) > 0.001 {
				t.Errorf("energy: %+v", e)
			}
			if i := r[hardware.IdlePower]; math.Abs(i.Value-50) > 0.1 {
				t.Errorf("idle power: %+v", i)
			}
		})
	}
}

// TestAWindowThatIsTooShortIsRefused observes a counter that stands still while the kernel runs, and one that fails.
func TestAWindowThatIsTooShortIsRefused(t *testing.T) {
	s := standIn(t)
	b := &bench{load: 400, idle: 75, tick: 100 * time.Millisecond, publish: s.publish}
	m := Open(nvidia, []string{hardware.Energy, hardware.Clock})
	defer m.Close()
	b.drive(m)
	if err := m.Calibrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	b.tick = time.Hour
	r := b.observe(t, m, time.Millisecond)
	if e := r[hardware.Energy]; !math.IsNaN(e.Value) || !strings.Contains(e.Missing, "the window is too short: total energy counter advanced 0 times in 2s") {
		t.Errorf("energy: %+v", e)
	}
	s.status(0, 3, 0)
	r = b.observe(t, m, time.Millisecond)
	if e := r[hardware.Energy]; !math.IsNaN(e.Value) || !strings.Contains(e.Missing, "nvmlDeviceGetTotalEnergyConsumption") {
		t.Errorf("energy: %+v", e)
	}
	if c := r[hardware.Clock]; c.Missing != "" {
		t.Errorf("the clock is lost with the energy: %+v", c)
	}
}

// TestErrorsOfLaunches ends an observation by a launch that fails, and by a context.
func TestErrorsOfLaunches(t *testing.T) {
	m := open(hardware.Device{Type: "cpu"}, []string{hardware.Energy}, files{fstest.MapFS{}, "/sys"}, nil)
	bad := errors.New("refused")
	waited := 0
	for enqueued := range 3 {
		n := 0
		_, err := m.Observe(context.Background(), Subject{Launch: time.Second, Load: func(int) (func() error, error) {
			if n++; n > enqueued {
				return nil, bad
			}
			return func() error { waited++; return nil }, nil
		}})
		if !errors.Is(err, bad) {
			t.Errorf("after %d batches: %v", enqueued, err)
		}
	}
	if waited != 0+1+2 {
		t.Errorf("of 3 batches, %d were waited for", waited)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := m.Observe(ctx, Subject{Launch: time.Second, Load: instant}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled observation returned %v", err)
	}
}

// TestUncertainty observes a kernel of 5.3 ms again and again, at any phase of a counter that advances every 100 ms. The energies
// scatter as their uncertainties say, which the granularity of the readings alone determines, and a window is short.
func TestUncertainty(t *testing.T) {
	s := standIn(t)
	b := &bench{load: 685, idle: 80, tick: 100 * time.Millisecond, publish: s.publish}
	m := Open(nvidia, []string{hardware.Energy})
	defer m.Close()
	b.drive(m)
	if err := m.Calibrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	const launch, n = 5300 * time.Microsecond, 100
	squares, took := 0.0, time.Duration(0)
	for range n {
		b.advance(13700 * time.Microsecond)
		before := b.now
		r := b.observe(t, m, launch)[hardware.Energy]
		took += b.now - before
		truth := b.load * launch.Seconds()
		squares += math.Pow((r.Value-truth)/r.Uncertainty, 2)
		if r.Uncertainty > 0.01*truth {
			t.Errorf("%+v", r)
		}
	}
	if rms := math.Sqrt(squares / n); rms < 0.5 || rms > 1.3 {
		t.Errorf("the errors are %.2f of their uncertainties", rms)
	}
	if mean := took / n; mean > 600*time.Millisecond {
		t.Errorf("a window takes %s", mean)
	}
}

// TestAChangingPowerIsUncertain observes a device whose power rises while the kernel runs.
func TestAChangingPowerIsUncertain(t *testing.T) {
	s := standIn(t)
	b := &bench{load: 300, idle: 80, tick: 20 * time.Millisecond, publish: s.publish}
	m := Open(nvidia, []string{hardware.Power})
	defer m.Close()
	b.drive(m)
	if err := m.Calibrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	began := b.now
	steady := b.publish
	b.publish = func(counted, watts float64) { b.load = 300 + 2000*(b.now-began).Seconds(); steady(counted, watts) }
	if r := b.observe(t, m, time.Millisecond)[hardware.Power]; r.Uncertainty < 0.05*r.Value || b.now-began > 300*time.Millisecond {
		t.Errorf("%+v after %s", r, b.now-began)
	}
}
