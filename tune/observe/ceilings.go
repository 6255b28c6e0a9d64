package observe

import (
	"fmt"
	"path"
	"strings"
	"unsafe"

	"github.com/ndtune/ndtune/tune/hardware"
)

// Ceilings returns the power limit and the set clocks of a device, as a text that changes with them: peaks that were
// measured under other ceilings are other peaks. It holds what the driver tells: NVML has no function for locked clocks, only
// for application clocks. "" if nothing is known.
func Ceilings(d hardware.Device) string {
	root, folder := sysFolder()
	f := files{root, folder}
	switch {
	case d.Type == "cpu":
		return f.ceilings("devices/system/cpu/cpu0/cpufreq/scaling_max_freq")
	case strings.Contains(strings.ToLower(d.Vendor), "nvidia"):
		return nvmlCeilings(d)
	case d.PCI == "":
		return ""
	}
	device := "bus/pci/devices/" + d.PCI
	names := []string{device + "/power_dpm_force_performance_level", device + "/tile0/gt0/freq0/max_freq"}
	for _, monitor := range f.under(device+"/hwmon", "hwmon") {
		names = append(names, path.Join(monitor, "power1_cap"), path.Join(monitor, "power1_max"))
	}
	for _, card := range f.under(device+"/drm", "card") {
		names = append(names, card+"/gt_max_freq_mhz")
	}
	return f.ceilings(names...)
}

// ceilings returns the contents of those files that exist.
func (f files) ceilings(names ...string) string {
	var all []string
	for _, name := range names {
		if text, err := f.text(name); err == nil {
			all = append(all, path.Base(name)+" "+text)
		}
	}
	return strings.Join(all, ", ")
}

func nvmlCeilings(d hardware.Device) string {
	n, err := loadNVML()
	if err != nil {
		return ""
	}
	defer n.shutdown()
	device, _, err := n.device(d)
	if err != nil {
		return ""
	}
	var all []string
	if milliwatts, err := n.powerLimitOf(device); err == nil {
		all = append(all, fmt.Sprintf("%d mW", milliwatts))
	}
	for _, kind := range []uintptr{nvmlClockSM, nvmlClockMemory} {
		var mhz uint32
		if n.Call("nvmlDeviceGetApplicationsClock", device, kind, uintptr(unsafe.Pointer(&mhz))) == nil {
			all = append(all, fmt.Sprintf("%d MHz", mhz))
		}
	}
	return strings.Join(all, ", ")
}
