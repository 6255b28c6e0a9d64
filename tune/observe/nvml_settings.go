package observe

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/ndtune/ndtune/internal/library"
	"github.com/ndtune/ndtune/tune/hardware"
)

// A knob is a setting of an open device.
type knob struct {
	name      string
	functions []string // of the library, that it needs
	command   string   // that restores it
	check     func(value float64, all []hardware.Setting) error
	set       func(value float64) error
	restore   func() error
}

// knobs returns the settings of a device that are to be changed, in the order in which they are applied.
func (n *nvml) knobs(device uintptr, id string, names []string) ([]knob, error) {
	before, unknown := n.powerLimit(device)
	clock := func(name, option, lock, reset string, check func(float64, []hardware.Setting) error) knob {
		return knob{name, []string{lock, reset}, option, check,
			func(mhz float64) error { return permitted(n.Call(lock, device, uintptr(mhz), uintptr(mhz))) },
			func() error { return permitted(n.Call(reset, device)) }}
	}
	const setLimit = "nvmlDeviceSetPowerManagementLimit"
	limit := func(milliwatts float64) error { return permitted(n.Call(setLimit, device, uintptr(milliwatts))) }
	all := []knob{
		clock(hardware.MemoryClock, "--reset-memory-clocks", "nvmlDeviceSetMemoryLockedClocks", "nvmlDeviceResetMemoryLockedClocks",
			func(mhz float64, _ []hardware.Setting) error { return n.checkMemoryClock(device, mhz) }),
		clock(hardware.Clock, "--reset-gpu-clocks", "nvmlDeviceSetGpuLockedClocks", "nvmlDeviceResetGpuLockedClocks",
			func(mhz float64, all []hardware.Setting) error { return n.checkClock(device, mhz, all) }),
		{hardware.PowerLimit, []string{setLimit}, fmt.Sprintf("--power-limit=%g", float64(before)/1e3),
			func(watts float64, _ []hardware.Setting) error { return n.checkPowerLimit(device, watts) },
			func(watts float64) error { return limit(math.Round(watts * 1e3)) },
			func() error { return limit(float64(before)) }},
	}
	all = slices.DeleteFunc(all, func(k knob) bool { return !slices.Contains(names, k.name) })
	for i := range all {
		k := &all[i]
		if !n.has(k.functions...) {
			return nil, fmt.Errorf("%s cannot change %s: the driver is too old", n.Path, k.name)
		}
		if k.name == hardware.PowerLimit && unknown != nil {
			return nil, unknown
		}
		k.command = "nvidia-smi -i " + id + " " + k.command
	}
	return all, nil
}

// permitted explains the error of a function that needs rights.
func permitted(err error) error {
	if failed, is := errors.AsType[*library.StatusError](err); is {
		switch failed.Status {
		case nvmlNoPermission:
			return fmt.Errorf("%s: the driver lets only an administrator change this setting (run ndtune as root, or leave the setting out)",
				failed.Function)
		case nvmlNotSupported:
			return fmt.Errorf("%s: the device does not support this setting (leave it out)", failed.Function)
		}
	}
	return err
}

func (n *nvml) powerLimit(device uintptr) (milliwatts uint32, err error) {
	err = n.Call("nvmlDeviceGetPowerManagementLimit", device, uintptr(unsafe.Pointer(&milliwatts)))
	return milliwatts, permitted(err)
}

func (n *nvml) checkPowerLimit(device uintptr, watts float64) error {
	var least, most uint32
	err := n.Call("nvmlDeviceGetPowerManagementLimitConstraints", device, uintptr(unsafe.Pointer(&least)), uintptr(unsafe.Pointer(&most)))
	if err != nil {
		return permitted(err)
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
	clocks, err := listClocks("nvmlDeviceGetSupportedGraphicsClocks", func(function string, count, clocks *uint32) error {
		return n.Call(function, device, uintptr(at), uintptr(unsafe.Pointer(count)), uintptr(unsafe.Pointer(clocks)))
	})
	if err != nil {
		return err
	}
	return oneOf(mhz, clocks, fmt.Sprintf(" at a memory clock of %d MHz", at))
}

func (n *nvml) memoryClocks(device uintptr) ([]uint32, error) {
	return listClocks("nvmlDeviceGetSupportedMemoryClocks", func(function string, count, clocks *uint32) error {
		return n.Call(function, device, uintptr(unsafe.Pointer(count)), uintptr(unsafe.Pointer(clocks)))
	})
}

// listClocks returns the clocks that a function lists.
func listClocks(function string, list func(function string, count, clocks *uint32) error) ([]uint32, error) {
	clocks := make([]uint32, maxClocks)
	count := uint32(len(clocks))
	if err := permitted(list(function, &count, &clocks[0])); err != nil {
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
	return fmt.Errorf("the device permits %d clocks from %d to %d MHz%s; next to this value %s",
		len(clocks), slices.Min(clocks), slices.Max(clocks), where, strings.Join(near, " and "))
}
