package observe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	disk "github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/hardware"
)

// SysVariable is the environment variable for another folder than /sys, as in a container that has the host's
// somewhere else.
const SysVariable = "NDTUNE_SYSFS"

// sysFolder returns the folder of the operating system's files about devices.
func sysFolder() (fs.FS, string) {
	folder := "/sys"
	if given := os.Getenv(SysVariable); given != "" {
		folder = given
	}
	return os.DirFS(folder), folder
}

// files are the operating system's files about devices.
type files struct {
	root   fs.FS
	folder string // for messages
}

func (f files) path(name string) string { return f.folder + "/" + name }

// text returns the content of a file without the white space around it.
func (f files) text(name string) (string, error) {
	data, err := fs.ReadFile(f.root, name)
	if errors.Is(err, fs.ErrPermission) {
		return "", fmt.Errorf("%s cannot be read by this user", f.path(name))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", f.path(name), disk.WithoutPath(err))
	}
	return strings.TrimSpace(string(data)), nil
}

// number returns a function that reads the number in a file, in the unit of which it has so many in one.
func (f files) number(name string, unit float64) func() (float64, error) {
	return func() (float64, error) {
		text, err := f.text(name)
		if err != nil {
			return 0, err
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %q is no number", f.path(name), text)
		}
		return n / unit, nil
	}
}

// has reports whether a file exists.
func (f files) has(name string) bool {
	_, err := fs.Stat(f.root, name)
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// under returns the names in a folder that begin with a prefix, in order.
func (f files) under(folder, prefix string) []string {
	entries, _ := fs.ReadDir(f.root, folder) // a missing folder has none
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			names = append(names, path.Join(folder, e.Name()))
		}
	}
	return names
}

// openGPU returns the gauges of a GPU of AMD or Intel: the files of its hwmon folder, which have the units of
// https://docs.kernel.org/hwmon/sysfs-interface.html, and those of its clocks.
func (f files) openGPU(d hardware.Device) (gauges, error) {
	if d.PCI == "" {
		return gauges{}, fmt.Errorf("the device reports no PCI address by which its files in %s could be found", f.folder)
	}
	device := "bus/pci/devices/" + d.PCI
	if !f.has(device) {
		return gauges{}, fmt.Errorf("%s does not exist", f.path(device))
	}
	g := gauges{where: f.path(device)}
	monitors := f.under(device+"/hwmon", "hwmon")
	if len(monitors) == 0 {
		g.lack = map[string]string{"": f.path(device) + " has no hwmon folder"}
	}
	for _, m := range monitors {
		f.addMonitor(&g, m)
	}
	f.addIntelClocks(&g, device)
	return g, nil
}

// addMonitor adds the files of a hwmon folder.
func (f files) addMonitor(g *gauges, folder string) {
	label := func(file string) string {
		text, _ := f.text(path.Join(folder, file)) // most have none
		return text
	}
	add := func(quantity, name string, unit float64, lag time.Duration) {
		if file := path.Join(folder, name); f.has(file) {
			g.add(quantity, f.path(file), lag, f.number(file, unit))
		}
	}
	for _, n := range f.under(folder, "energy") {
		// Intel's driver xe counts the card and the package; the package is a part of the card.
		if l := label(strings.TrimSuffix(path.Base(n), "_input") + "_label"); strings.HasSuffix(n, "_input") && l != "pkg" {
			add(hardware.Energy, path.Base(n), 1e6, 0)
		}
	}
	add(hardware.Power, "power1_average", 1e6, f.interval(path.Join(folder, "power1_average_interval")))
	add(hardware.Power, "power1_input", 1e6, averageLag)
	clocks := map[string]string{
		"": hardware.Clock, "sclk": hardware.Clock, "gfx": hardware.Clock, "mclk": hardware.MemoryClock, "mem": hardware.MemoryClock,
	}
	for _, n := range f.under(folder, "freq") {
		if input, ok := strings.CutSuffix(path.Base(n), "_input"); ok {
			if quantity := clocks[label(input+"_label")]; quantity != "" {
				add(quantity, path.Base(n), 1e6, 0)
			}
		}
	}
	for _, n := range f.under(folder, "temp") {
		if strings.HasSuffix(n, "_input") {
			add(hardware.Temperature, path.Base(n), 1e3, 0)
			break // the others are of memory and hot spots
		}
	}
}

// interval returns the time over which a power is averaged, of a file in milliseconds.
func (f files) interval(name string) time.Duration {
	ms, err := f.number(name, 1)()
	if err != nil || ms <= 0 {
		return averageLag
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// addIntelClocks adds the clock of Intel's drivers: that of i915 is beside the card, that of xe below its
// tiles.
func (f files) addIntelClocks(g *gauges, device string) {
	names := []string{device + "/tile0/gt0/freq0/act_freq"}
	for _, card := range f.under(device+"/drm", "card") {
		names = append(names, card+"/gt_act_freq_mhz")
	}
	for _, name := range names {
		if f.has(name) {
			g.add(hardware.Clock, f.path(name), 0, f.number(name, 1))
		}
	}
}

// openCPU returns the gauges of the CPUs of the machine: the energy counters of their packages, which Linux
// calls intel-rapl for AMD's too, their clocks and their temperature.
func (f files) openCPU() (gauges, error) {
	g := gauges{where: "a CPU", lack: map[string]string{
		hardware.Clock:       f.path("devices/system/cpu") + " has no cpu*/cpufreq/scaling_cur_freq; virtual machines often lack it",
		hardware.Temperature: f.path("class/hwmon") + " has no coretemp, k10temp or zenpower; virtual machines often lack them",
	}}
	var packages []string
	for _, zone := range f.under("class/powercap", "intel-rapl:") {
		if name, err := f.text(zone + "/name"); err == nil && strings.HasPrefix(name, "package") {
			packages = append(packages, zone)
		}
	}
	if len(packages) > 0 {
		counters := make([]wrapping, len(packages))
		for i, zone := range packages {
			counters[i] = wrapping{read: f.number(zone+"/energy_uj", 1), last: -1}
			counters[i].most, _ = f.number(zone+"/max_energy_range_uj", 1)() // unknown: a counter that goes back is an error
		}
		g.add(hardware.Energy, "RAPL of "+f.path(strings.Join(packages, ", ")), 0, func() (float64, error) {
			sum := 0.0
			for i := range counters {
				microjoules, err := counters[i].total()
				if err != nil {
					return 0, fmt.Errorf("RAPL: %w%s", err, raplHint(err))
				}
				sum += microjoules
			}
			return sum / 1e6, nil
		})
	} else {
		why := "has no package intel-rapl:N"
		if runtime.GOOS != "linux" {
			why = "exists on Linux only"
		}
		why = f.path("class/powercap") + " " + why + "; virtual machines and containers often lack it"
		g.lack[hardware.Energy], g.lack[hardware.Power] = why, why
	}
	f.addCPUClock(&g)
	for _, m := range f.under("class/hwmon", "hwmon") {
		name, _ := f.text(m + "/name") // "" if it cannot be read
		if slices.Contains([]string{"coretemp", "k10temp", "zenpower"}, name) && f.has(m+"/temp1_input") {
			g.add(hardware.Temperature, f.path(m+"/temp1_input"), 0, f.number(m+"/temp1_input", 1e3))
			break
		}
	}
	return g, nil
}

// raplHint says how a user gets permission to read the counters.
func raplHint(err error) string {
	if strings.Contains(err.Error(), "cannot be read by this user") {
		return ": since a side channel was found in 2020, only root may read the counters; root can allow it with chmod a+r"
	}
	return ""
}

// addCPUClock adds the mean clock of all processors.
func (f files) addCPUClock(g *gauges) {
	var clocks []func() (float64, error)
	for _, cpu := range f.under("devices/system/cpu", "cpu") {
		if name := cpu + "/cpufreq/scaling_cur_freq"; f.has(name) {
			clocks = append(clocks, f.number(name, 1e3))
		}
	}
	if len(clocks) == 0 {
		return
	}
	g.add(hardware.Clock, f.path("devices/system/cpu/cpu*/cpufreq/scaling_cur_freq"), 0, func() (float64, error) {
		sum := 0.0
		for _, clock := range clocks {
			mhz, err := clock()
			if err != nil {
				return 0, err
			}
			sum += mhz
		}
		return sum / float64(len(clocks)), nil
	})
}

// A wrapping counter begins again at 0 after its largest value.
type wrapping struct {
	read        func() (float64, error)
	most        float64 // the largest value; 0: unknown
	last, turns float64 // last is negative before the first reading
}

// total returns the count without the wraps.
func (w *wrapping) total() (float64, error) {
	n, err := w.read()
	if err != nil {
		return 0, err
	}
	if n < w.last {
		if w.most == 0 {
			return 0, errors.New("the counter went back, and its range is not known")
		}
		w.turns += w.most
	}
	w.last = n
	return w.turns + n, nil
}
