package observe

import (
	"context"
	"errors"
	"math"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/library"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A bench is a device on a clock of its own: its energy counter advances every tick by the joules that were
// spent until then.
type bench struct {
	now        time.Duration
	busy       time.Duration // until when launches run
	load, idle float64       // watts
	tick       time.Duration
	spent      float64 // joules
	counted    float64 // joules that the counter has
	publish    func(counted, watts float64)
}

// advance passes time.
func (b *bench) advance(d time.Duration) {
	for end := b.now + d; b.now < end; {
		next := min(end, (b.now/b.tick+1)*b.tick)
		watts := b.idle
		if b.now < b.busy {
			next, watts = min(next, b.busy), b.load
		}
		b.spent += watts * (next - b.now).Seconds()
		if b.now = next; b.now%b.tick == 0 {
			b.counted = b.spent
		}
		b.publish(b.counted, watts)
	}
}

// drive gives a meter the clock of the bench.
func (b *bench) drive(m *Meter) {
	m.now = func() time.Time { return time.Unix(0, 0).Add(b.now) }
	m.pause = b.advance
	b.publish(b.counted, b.idle)
}

// launches are a load of the bench.
func (b *bench) launches(launch time.Duration) Load {
	return func(n int) (func() error, error) {
		b.busy = max(b.busy, b.now) + time.Duration(n)*launch
		end := b.busy
		return func() error { b.advance(max(end-b.now, time.Microsecond)); return nil }, nil
	}
}

func (b *bench) observe(t *testing.T, m *Meter, launch time.Duration) map[string]hardware.Reading {
	t.Helper()
	readings, err := m.Observe(context.Background(), Subject{Launch: launch, Load: b.launches(launch)})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]hardware.Reading{}
	for _, r := range readings {
		all[r.Quantity] = r
	}
	return all
}

// near reports whether a reading is within its uncertainty, which is at most a share of the value.
func near(r hardware.Reading, want, share float64) bool {
	return r.Missing == "" && math.Abs(r.Value-want) <= max(3*r.Uncertainty, 1e-9*want) && r.Uncertainty <= share*want
}

// standIn builds the stand-in for NVML and returns the functions that set its values.
func standIn(t *testing.T, options ...string) (s struct {
	energy         func(uint64)
	power          func(uint32)
	clocks         func(sm, memory uint32)
	heat           func(celsius uint32, reasons uint64)
	status         func(init, energy, instant int32)
	open           func() int32
	publish        func(counted, watts float64)
	library, quiet string
}) {
	t.Helper()
	s.library = filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	build := exec.Command("gcc", append(options, "-shared", "-fPIC", "-Wall", "-Werror", "-o", s.library, "testdata/nvml.c")...)
	if out, err := build.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
		t.Skip("the stand-in for NVML needs gcc")
	} else if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	opened, err := library.Open(s.library)
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]any{
		"energy": &s.energy, "power": &s.power, "clocks": &s.clocks, "heat": &s.heat, "status": &s.status, "open": &s.open,
	} {
		if err := opened.Bind(to, "stand_in_"+name); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(LibraryVariable, s.library)
	s.publish = func(counted, watts float64) { s.energy(uint64(counted * 1e3)); s.power(uint32(watts * 1e3)) }
	return s
}

var nvidia = hardware.Device{Type: "gpu", Vendor: "NVIDIA Corporation", UUID: "01020304-0506-0708-090a-0b0c0d0e0f10", PCI: "0000:65:00.0"}
