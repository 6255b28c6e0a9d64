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

	"github.com/ndtune/ndtune/internal/each"
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

// matching returns the names that match a pattern, in order.
func (f files) matching(pattern string) []string {
	names, _ := fs.Glob(f.root, pattern) // the patterns are right
	return names
}

// A reader is files of a quantity.
type reader struct {
	quantity, pattern string
	unit              float64  // so many of the file are one
	labels            []string // of the files, if they are to be told apart; "": none
}

// gpuReaders are the files of GPUs of AMD and Intel, in the folder of the device: those of hwmon have the units of
// https://docs.kernel.org/hwmon/sysfs-interface.html.
var gpuReaders = []reader{
	{hardware.Energy, "hwmon/hwmon*/energy*_input", 1e6, []string{"", "card"}}, // Intel's driver xe counts the package, too, a part of the card
	{hardware.Power, "hwmon/hwmon*/power1_average", 1e6, nil},
	{hardware.Power, "hwmon/hwmon*/power1_input", 1e6, nil},
	{hardware.Clock, "hwmon/hwmon*/freq*_input", 1e6, []string{"", "sclk", "gfx"}},
	{hardware.MemoryClock, "hwmon/hwmon*/freq*_input", 1e6, []string{"mclk", "mem"}},
	{hardware.Temperature, "hwmon/hwmon*/temp*_input", 1e3, nil}, // the first one: others are of memory and hot spots
	{hardware.Clock, "tile0/gt0/freq0/act_freq", 1, nil},         // of Intel's driver xe
	{hardware.Clock, "drm/card*/gt_act_freq_mhz", 1, nil},        // of i915
}

// openGPU returns the gauges of a GPU of AMD or Intel.
func (f files) openGPU(d hardware.Device) (gauges, error) {
	if d.PCI == "" {
		return gauges{}, fmt.Errorf("the device reports no PCI address by which its files in %s could be found", f.folder)
	}
	device := "bus/pci/devices/" + d.PCI
	if _, err := fs.Stat(f.root, device); err != nil {
		return gauges{}, fmt.Errorf("%s does not exist", f.path(device))
	}
	g := gauges{where: f.path(device)}
	if len(f.matching(device+"/hwmon/hwmon*")) == 0 {
		g.lack = map[string]string{"": f.path(device) + " has no hwmon folder"}
	}
	for _, r := range gpuReaders {
		for _, file := range f.matching(device + "/" + r.pattern) {
			label, _ := f.text(strings.TrimSuffix(file, "_input") + "_label") // most have none
			if r.labels != nil && !slices.Contains(r.labels, label) {
				continue
			}
			lag := time.Duration(0)
			if r.quantity == hardware.Power {
				lag = f.interval(file + "_interval")
			}
			g.add(r.quantity, f.path(file), lag, f.number(file, r.unit))
		}
	}
	return g, nil
}

// interval returns the time over which a power is averaged, of a file in milliseconds.
func (f files) interval(name string) time.Duration {
	ms, err := f.number(name, 1)()
	if err != nil || ms <= 0 {
		return averageLag
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// openCPU returns the gauges of the CPUs of the machine: the energy counters of their packages, which Linux
// calls intel-rapl for AMD's too, their clocks and their temperature.
func (f files) openCPU() (gauges, error) {
	const clocks = "devices/system/cpu/cpu*/cpufreq/scaling_cur_freq"
	g := gauges{where: "a CPU", lack: map[string]string{
		hardware.Clock:       f.path("devices/system/cpu") + " has no cpu*/cpufreq/scaling_cur_freq; virtual machines often lack it",
		hardware.Temperature: f.path("class/hwmon") + " has no coretemp, k10temp or zenpower; virtual machines often lack them",
	}}
	var packages []string
	var counters []func() (float64, error)
	for _, zone := range f.matching("class/powercap/intel-rapl:*") {
		if name, err := f.text(zone + "/name"); err == nil && strings.HasPrefix(name, "package") {
			w := &wrapping{read: f.number(zone+"/energy_uj", 1e6), last: -1}
			w.most, _ = f.number(zone+"/max_energy_range_uj", 1e6)() // unknown: a counter that goes back is an error
			packages, counters = append(packages, zone), append(counters, w.total)
		}
	}
	if len(packages) > 0 {
		g.add(hardware.Energy, "RAPL of "+f.path(strings.Join(packages, ", ")), 0, func() (float64, error) {
			joules, err := sum(counters)
			if err != nil {
				return 0, fmt.Errorf("RAPL: %w%s", err, raplHint(err))
			}
			return joules, nil
		})
	} else {
		why := "has no package intel-rapl:N"
		if runtime.GOOS != "linux" {
			why = "exists on Linux only"
		}
		why = f.path("class/powercap") + " " + why + "; virtual machines and containers often lack it"
		g.lack[hardware.Energy], g.lack[hardware.Power] = why, why
	}
	all := each.Of(f.matching(clocks), func(file string) func() (float64, error) { return f.number(file, 1e3) })
	if len(all) > 0 {
		g.add(hardware.Clock, f.path(clocks), 0, func() (float64, error) {
			mhz, err := sum(all)
			return mhz / float64(len(all)), err
		})
	}
	for _, file := range f.matching("class/hwmon/hwmon*/temp1_input") {
		name, _ := f.text(path.Dir(file) + "/name") // "" if it cannot be read
		if slices.Contains([]string{"coretemp", "k10temp", "zenpower"}, name) {
			g.add(hardware.Temperature, f.path(file), 0, f.number(file, 1e3))
			break
		}
	}
	return g, nil
}

// sum returns the sum of readings, or the first error.
func sum(readings []func() (float64, error)) (total float64, err error) {
	for _, read := range readings {
		v, err := read()
		if err != nil {
			return 0, err
		}
		total += v
	}
	return total, nil
}

// raplHint says how a user gets permission to read the counters.
func raplHint(err error) string {
	if strings.Contains(err.Error(), "cannot be read by this user") {
		return ": since a side channel was found in 2020, only root may read the counters; root can allow it with chmod a+r"
	}
	return ""
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
