package observe

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/hardware"
)

// A knob is a setting of an open device.
type knob struct {
	name    string
	check   func(value float64, all []hardware.Setting) error
	set     func(value float64) error
	restore func() error
}

// knobs returns the settings of a device that are to be changed or restored.
func (n *nvml) knobs(device uintptr, k keptSettings) ([]knob, error) {
	var all []knob
	for _, name := range hardware.SettingNames() {
		if !slices.Contains(k.Settings, name) {
			continue
		}
		made := knob{name: name}
		var missing bool
		switch name {
		case hardware.Clock:
			missing = n.lockClock == nil || n.resetClock == nil
			made.set = n.locker(device, "nvmlDeviceSetGpuLockedClocks", n.lockClock)
			made.restore = func() error { return n.permitted("nvmlDeviceResetGpuLockedClocks", n.resetClock(device)) }
			made.check = func(v float64, all []hardware.Setting) error { return n.checkClock(device, v, all) }
		case hardware.MemoryClock:
			missing = n.lockMemory == nil || n.resetMemory == nil
			made.set = n.locker(device, "nvmlDeviceSetMemoryLockedClocks", n.lockMemory)
			made.restore = func() error { return n.permitted("nvmlDeviceResetMemoryLockedClocks", n.resetMemory(device)) }
			made.check = func(v float64, _ []hardware.Setting) error { return n.checkMemoryClock(device, v) }
		case hardware.PowerLimit:
			missing = n.setPowerLimit == nil
			made.set = func(watts float64) error { return n.limitPower(device, uint32(math.Round(watts*1e3))) }
			made.restore = func() error { return n.limitPower(device, k.PowerLimit) }
			made.check = func(watts float64, _ []hardware.Setting) error { return n.checkPowerLimit(device, watts) }
		}
		if missing {
			return nil, fmt.Errorf("%s cannot change %s: the driver is too old", n.name, name)
		}
		all = append(all, made)
	}
	return all, nil
}

// locker returns a function that locks a clock at a frequency in MHz.
func (n *nvml) locker(device uintptr, function string, lock func(device uintptr, least, most uint32) int32) func(float64) error {
	return func(mhz float64) error { return n.permitted(function, lock(device, uint32(mhz), uint32(mhz))) }
}

func (n *nvml) limitPower(device uintptr, milliwatts uint32) error {
	return n.permitted("nvmlDeviceSetPowerManagementLimit", n.setPowerLimit(device, milliwatts))
}

// permitted is check for functions that need rights.
func (n *nvml) permitted(function string, status int32) error {
	switch status {
	case nvmlNoPermission:
		return fmt.Errorf("%s: the driver lets only an administrator change this setting (run ndtune as root, or leave the setting out)", function)
	case nvmlNotSupported:
		return fmt.Errorf("%s: the device does not support this setting (leave it out)", function)
	}
	return n.check(function, status)
}

func (n *nvml) powerLimitOf(device uintptr) (milliwatts uint32, err error) {
	if n.powerLimit == nil {
		return 0, fmt.Errorf("%s has no function nvmlDeviceGetPowerManagementLimit", n.name)
	}
	status := n.powerLimit(device, &milliwatts)
	return milliwatts, n.permitted("nvmlDeviceGetPowerManagementLimit", status)
}

func (n *nvml) checkPowerLimit(device uintptr, watts float64) error {
	var least, most uint32
	if n.powerLimits == nil {
		return fmt.Errorf("%s has no function nvmlDeviceGetPowerManagementLimitConstraints", n.name)
	}
	if err := n.permitted("nvmlDeviceGetPowerManagementLimitConstraints", n.powerLimits(device, &least, &most)); err != nil {
		return err
	}
	if mw := math.Round(watts * 1e3); !(mw >= float64(least) && mw <= float64(most)) {
		return fmt.Errorf("the device permits %g to %g W", float64(least)/1e3, float64(most)/1e3)
	}
	return nil
}

func (n *nvml) checkMemoryClock(device uintptr, mhz float64) error {
	all, err := n.memoryClocks(device)
	if err != nil {
		return err
	}
	return oneOf(mhz, all, "")
}

// checkClock checks a clock of the compute units beside the memory clock among all settings, or else the highest one.
func (n *nvml) checkClock(device uintptr, mhz float64, all []hardware.Setting) error {
	memory, err := n.memoryClocks(device)
	if err != nil {
		return err
	}
	at := slices.Max(memory)
	for _, s := range all {
		if s.Name == hardware.MemoryClock && s.Value > 0 {
			at = uint32(s.Value)
		}
	}
	clocks, err := n.listClocks("nvmlDeviceGetSupportedGraphicsClocks", n.supportedClocks != nil, func(count, clocks *uint32) int32 {
		return n.supportedClocks(device, at, count, clocks)
	})
	if err != nil {
		return err
	}
	return oneOf(mhz, clocks, fmt.Sprintf(" at a memory clock of %d MHz", at))
}

func (n *nvml) memoryClocks(device uintptr) ([]uint32, error) {
	return n.listClocks("nvmlDeviceGetSupportedMemoryClocks", n.supportedMemory != nil, func(count, clocks *uint32) int32 {
		return n.supportedMemory(device, count, clocks)
	})
}

// listClocks returns what a function lists.
func (n *nvml) listClocks(function string, has bool, list func(count, clocks *uint32) int32) ([]uint32, error) {
	if !has {
		return nil, fmt.Errorf("%s has no function %s", n.name, function)
	}
	clocks := make([]uint32, maxClocks)
	count := uint32(len(clocks))
	if err := n.permitted(function, list(&count, &clocks[0])); err != nil {
		return nil, err
	}
	if clocks = clocks[:min(count, maxClocks)]; len(clocks) == 0 {
		return nil, fmt.Errorf("%s lists no clocks: the device permits none", function)
	}
	return clocks, nil
}

// maxClocks is more clocks than any device lists.
const maxClocks = 4096

// oneOf returns an error unless a clock is listed.
func oneOf(mhz float64, clocks []uint32, where string) error {
	var below, above uint32
	for _, c := range clocks {
		switch v := float64(c); {
		case v == mhz:
			return nil
		case v < mhz:
			below = max(below, c)
		case above == 0 || c < above:
			above = c
		}
	}
	var near []string
	for _, c := range []uint32{below, above} {
		if c > 0 {
			near = append(near, fmt.Sprint(c))
		}
	}
	return fmt.Errorf("the device permits %d clocks from %d to %d MHz%s; next to this value %s", len(clocks), slices.Min(clocks), slices.Max(clocks), where, strings.Join(near, " and "))
}
