package observe

import (
	"context"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ndtune/ndtune/tune/hardware"
)

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
