package observe

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
)

// TestNVMLReadsEveryQuantity observes a kernel of 5 µs at 400 W on a device whose counter advances every 100 ms.
func TestNVMLReadsEveryQuantity(t *testing.T) {
	s := standIn(t)
	b := &bench{load: 400, idle: 75, tick: 100 * time.Millisecond, publish: s.publish}
	s.clocks(1980, 3201)
	s.heat(66, 0x04|0x01)
	m := Open(nvidia, hardware.Quantities())
	b.drive(m)
	if err := m.Calibrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	energy := m.Instruments()[0]
	if energy.Source != "total energy counter" || math.Abs(energy.TickMS-100) > 1 || math.Abs(energy.Idle-75) > 1 {
		t.Errorf("the instrument of energy is %+v", energy)
	}
	before := b.now
	r := b.observe(t, m, 5*time.Microsecond)
	if !near(r[hardware.Energy], 400*5e-6, 0.01) {
		t.Errorf("energy: %+v", r[hardware.Energy])
	}
	if !near(r[hardware.Power], 400, 0.01) {
		t.Errorf("power: %+v", r[hardware.Power])
	}
	if took := b.now - before; took > 1200*time.Millisecond {
		t.Errorf("it took %s", took)
	}
	if i := r[hardware.IdlePower]; math.Abs(i.Value-75) > 1 {
		t.Errorf("idle power: %+v", i)
	}
	if c, m, d := r[hardware.Clock].Value, r[hardware.MemoryClock].Value, r[hardware.Temperature].Value; c != 1980 || m != 3201 || d != 66 {
		t.Errorf("clock %v, memory clock %v, temperature %v", c, m, d)
	}
	if x := r[hardware.Throttled]; x.Value != 1 || x.Note != "power cap" {
		t.Errorf("throttled: %+v", x)
	}

	// Another process that times takes over what was found.
	known := nvidia
	known.Instruments = m.Instruments()
	m.Close()
	m = Open(known, []string{hardware.Energy})
	b.drive(m)
	if r := b.observe(t, m, 5*time.Millisecond); !near(r[hardware.Energy], 400*5e-3, 0.01) {
		t.Errorf("energy in another process: %+v", r[hardware.Energy])
	}
	if m.Close(); s.open() != 0 {
		t.Errorf("the library is initialized %d times more than it is shut down", s.open())
	}
}

// TestMissingQuantitiesHaveAReason opens devices without the instruments, or with ones that fail.
func TestMissingQuantitiesHaveAReason(t *testing.T) {
	none := files{fstest.MapFS{}, "/sys"}
	unreadable := files{forbidden{recorded(t, "rapl")}, "/sys"}
	gpu := hardware.Device{Type: "gpu", Vendor: "Advanced Micro Devices, Inc.", PCI: "0000:09:00.0"}
	missing := func(d hardware.Device, f files, quantity string) string {
		m := open(d, []string{quantity}, f, nil)
		defer m.Close()
		i := m.Instruments()[0]
		b := &bench{load: 1, idle: 1, tick: time.Second, publish: func(float64, float64) {}}
		b.drive(m)
		if r := b.observe(t, m, time.Millisecond)[quantity]; !math.IsNaN(r.Value) || r.Missing != i.Missing {
			t.Errorf("the reading is %+v, the instrument %+v", r, i)
		}
		return i.Missing
	}
	s := standIn(t)
	for _, c := range []struct{ got, want string }{
		{missing(hardware.Device{Type: "cpu"}, none, "energy"), "/sys/class/powercap has no package intel-rapl:N"},
		{
			missing(hardware.Device{Type: "cpu"}, unreadable, "energy"),
			"/sys/class/powercap/intel-rapl:0/energy_uj cannot be read by this user: since a side channel was found in 2020, only root",
		},
		{missing(hardware.Device{Type: "cpu"}, unreadable, "memory_clock"), "a CPU has no memory clock"},
		{missing(hardware.Device{Type: "cpu"}, none, "clock"), "/sys/devices/system/cpu has no cpu*/cpufreq/scaling_cur_freq"},
		{missing(hardware.Device{Type: "cpu"}, none, "temperature"), "/sys/class/hwmon has no coretemp, k10temp or zenpower"},
		{missing(gpu, none, "mean_power"), "/sys/bus/pci/devices/0000:09:00.0 does not exist"},
		{missing(hardware.Device{Type: "gpu", Vendor: "Intel"}, none, "clock"), "the device reports no PCI address"},
		{missing(hardware.Device{Type: "gpu", Vendor: "NVIDIA Corporation"}, none, "clock"), "reports neither a UUID nor a PCI address"},
		{
			missing(hardware.Device{Type: "gpu", Vendor: "NVIDIA Corporation", UUID: "x", PCI: "0000:01:00.0"}, none, "clock"),
			"look for the device GPU-x: nvmlDeviceGetHandleByUUID",
		},
		{func() string {
			s.status(9, 0, 0)
			defer s.status(0, 0, 0)
			return missing(nvidia, none, "clock")
		}(), "nvmlInit_v2 of " + s.library + ": Driver Not Loaded (9)"},
		{func() string {
			t.Setenv(LibraryVariable, "/nowhere/libnvidia-ml.so.1")
			return missing(nvidia, none, "clock")
		}(), "NVIDIA's management library /nowhere/libnvidia-ml.so.1, which belongs to the driver, cannot be loaded"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%q\nlacks %q", c.got, c.want)
		}
	}
	if s.open() != 0 {
		t.Errorf("the library is initialized %d times more than it is shut down", s.open())
	}
}

// TestQuantitiesAreInOrder keeps the order of Open.
func TestQuantitiesAreInOrder(t *testing.T) {
	wanted := []string{hardware.Temperature, "litres", hardware.Clock}
	m := open(hardware.Device{Type: "cpu"}, wanted, files{recorded(t, "rapl"), "/sys"}, nil)
	var got []string
	for _, i := range m.Instruments() {
		got = append(got, i.Quantity)
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("the instruments are of %v", got)
	}
	if why := m.Instruments()[1].Missing; why != "a CPU has no litres" {
		t.Errorf("an unknown quantity is missing because %q", why)
	}
}
