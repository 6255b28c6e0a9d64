package observe

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ebitengine/purego"
	"github.com/rogpeppe/go-internal/txtar"

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
	readings, err := m.Observe(context.Background(), launch, b.launches(launch))
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
	handle, err := openLibrary(s.library)
	if err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]any{
		"energy": &s.energy, "power": &s.power, "clocks": &s.clocks, "heat": &s.heat, "status": &s.status, "open": &s.open,
	} {
		purego.RegisterFunc(to, lookup(handle, "stand_in_"+name))
	}
	t.Setenv(LibraryVariable, s.library)
	s.publish = func(counted, watts float64) { s.energy(uint64(counted * 1e3)); s.power(uint32(watts * 1e3)) }
	return s
}

var nvidia = hardware.Device{Type: "gpu", Vendor: "NVIDIA Corporation", UUID: "01020304-0506-0708-090a-0b0c0d0e0f10", PCI: "0000:65:00.0"}

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
// of the power, which settle first.
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
		{missing(hardware.Device{Type: "cpu"}, unreadable, "energy"), "/sys/class/powercap/intel-rapl:0/energy_uj cannot be read by this user: since a side channel was found in 2020, only root"},
		{missing(hardware.Device{Type: "cpu"}, unreadable, "memory_clock"), "a CPU has no memory clock"},
		{missing(hardware.Device{Type: "cpu"}, none, "clock"), "/sys/devices/system/cpu has no cpu*/cpufreq/scaling_cur_freq"},
		{missing(hardware.Device{Type: "cpu"}, none, "temperature"), "/sys/class/hwmon has no coretemp, k10temp or zenpower"},
		{missing(gpu, none, "mean_power"), "/sys/bus/pci/devices/0000:09:00.0 does not exist"},
		{missing(hardware.Device{Type: "gpu", Vendor: "Intel"}, none, "clock"), "the device reports no PCI address"},
		{missing(hardware.Device{Type: "gpu", Vendor: "NVIDIA Corporation"}, none, "clock"), "reports neither a UUID nor a PCI address"},
		{missing(hardware.Device{Type: "gpu", Vendor: "NVIDIA Corporation", UUID: "x", PCI: "0000:01:00.0"}, none, "clock"), "nvmlDeviceGetHandleByUUID(GPU-x)"},
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
	m := open(hardware.Device{Type: "cpu"}, nil, files{fstest.MapFS{}, "/sys"}, nil)
	bad := errors.New("refused")
	waited := 0
	for enqueued := range 3 {
		n := 0
		_, err := m.Observe(context.Background(), time.Second, func(int) (func() error, error) {
			if n++; n > enqueued {
				return nil, bad
			}
			return func() error { waited++; return nil }, nil
		})
		if !errors.Is(err, bad) {
			t.Errorf("after %d batches: %v", enqueued, err)
		}
	}
	if waited != 0+1+2 {
		t.Errorf("of 3 batches, %d were waited for", waited)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := m.Observe(ctx, time.Second, func(int) (func() error, error) { return func() error { return nil }, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled observation returned %v", err)
	}
}

// recorded returns the files of an archive in testdata.
func recorded(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := fstest.MapFS{}
	for _, f := range archive.Files {
		all[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return all
}

// forbidden is a folder in which the counters of energy are for root only.
type forbidden struct{ fs.FS }

func (f forbidden) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, "energy_uj") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.FS.Open(name)
}

// TestFilesOfTheOperatingSystem reads recorded folders.
func TestFilesOfTheOperatingSystem(t *testing.T) {
	amd := hardware.Device{Type: "gpu", Vendor: "Advanced Micro Devices, Inc.", PCI: "0000:03:00.0"}
	i915 := hardware.Device{Type: "gpu", Vendor: "Intel(R) Corporation", PCI: "0000:03:00.0"}
	xe := hardware.Device{Type: "gpu", Vendor: "Intel(R) Corporation", PCI: "0000:04:00.0"}
	cpu := hardware.Device{Type: "cpu", Vendor: "GenuineIntel"}
	for _, c := range []struct {
		archive, quantity, gauge string
		device                   hardware.Device
		want                     float64
	}{
		{"amd", hardware.Power, hardware.Power, amd, 211},
		{"amd", hardware.Energy, hardware.Power, amd, 211},
		{"amd", hardware.Clock, hardware.Clock, amd, 2105},
		{"amd", hardware.MemoryClock, hardware.MemoryClock, amd, 1000},
		{"amd", hardware.Temperature, hardware.Temperature, amd, 58},
		{"intel", hardware.Energy, hardware.Energy, i915, 5211},
		{"intel", hardware.Power, hardware.Energy, i915, 5211},
		{"intel", hardware.Clock, hardware.Clock, i915, 2400},
		{"intel", hardware.Energy, hardware.Energy, xe, 8100},
		{"intel", hardware.Clock, hardware.Clock, xe, 2850},
		{"intel", hardware.Temperature, hardware.Temperature, xe, 52},
		{"rapl", hardware.Energy, hardware.Energy, cpu, 262144},
		{"rapl", hardware.Clock, hardware.Clock, cpu, 2800},
		{"rapl", hardware.Temperature, hardware.Temperature, cpu, 61},
	} {
		m := open(c.device, []string{c.quantity}, files{recorded(t, c.archive), "/sys"}, nil)
		g, ok := m.found[c.gauge]
		if !ok {
			t.Errorf("%s of %s is missing: %s", c.quantity, c.archive, m.Instruments()[0].Missing)
			continue
		}
		if v, err := g.read(); err != nil || v != c.want {
			t.Errorf("%s of %s is %v (%v), want %v", c.quantity, c.archive, v, err, c.want)
		}
	}
}

// TestRAPLWraps observes a kernel while the counter of the first package begins again at 0.
func TestRAPLWraps(t *testing.T) {
	root := recorded(t, "rapl")
	set := func(name string, n float64) {
		root[name] = &fstest.MapFile{Data: []byte(strconv.FormatFloat(n, 'f', 0, 64) + "\n")}
	}
	const most, start = 262143328850.0, 262143000000.0
	b := &bench{load: 65, idle: 12, tick: time.Millisecond, publish: func(counted, _ float64) {
		set("class/powercap/intel-rapl:0/energy_uj", math.Mod(start+counted*1e6, most))
	}}
	m := open(hardware.Device{Type: "cpu"}, []string{hardware.Energy, hardware.Power}, files{root, "/sys"}, nil)
	b.drive(m)
	m.limits.idle = 10 * time.Millisecond // 0.12 J: the counter wraps at 0.33 J
	if err := m.Calibrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	r := b.observe(t, m, 100*time.Microsecond)
	if b.spent < 0.4 || !near(r[hardware.Power], 65, 0.01) || !near(r[hardware.Energy], 65*100e-6, 0.01) {
		t.Errorf("%+v after %v J", r, b.spent)
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
