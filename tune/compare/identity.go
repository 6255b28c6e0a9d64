package compare

import (
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/tune"
)

// SameDevice reports whether two identities are of one device with one driver, whose measurements can
// be combined. It compares name, vendor, platform, driver, type and compute units; the memory of a
// device that has its own (of the host's memory, drivers report the free part); and the PCI address,
// the UUID and the timer if both identities have them. A device without a name, as in a CSV table,
// is the same as no other.
func SameDevice(a, b tune.Device) bool {
	if strings.TrimSpace(a.Name) == "" {
		return false
	}
	for _, f := range [][2]string{
		{a.Name, b.Name}, {a.Vendor, b.Vendor}, {a.Platform, b.Platform}, {a.Driver, b.Driver}, {a.Type, b.Type},
		{fmt.Sprint(a.ComputeUnits), fmt.Sprint(b.ComputeUnits)}, {ownMemory(a), ownMemory(b)},
	} {
		if strings.TrimSpace(f[0]) != strings.TrimSpace(f[1]) {
			return false
		}
	}
	for _, f := range [][2]string{{a.PCI, b.PCI}, {a.UUID, b.UUID}, {a.Timer, b.Timer}} {
		if f[0] != "" && f[1] != "" && f[0] != f[1] {
			return false
		}
	}
	return true
}

// ownMemory returns the size of a device's memory, or "" if it is the host's.
func ownMemory(d tune.Device) string {
	if d.UnifiedMemory || d.Type == "cpu" {
		return ""
	}
	return fmt.Sprint(d.GlobalMemory)
}

// Labels returns a different name for each device, for people: the name of the device and, if
// several have the same name, a property in which they differ or else a number.
func Labels(devices []tune.Device) []string {
	labels := make([]string, len(devices))
	groups := map[string][]int{}
	for i, d := range devices {
		if labels[i] = strings.Join(strings.Fields(d.Name), " "); labels[i] == "" {
			labels[i] = "unknown device"
		}
		groups[labels[i]] = append(groups[labels[i]], i)
	}
	for name, group := range groups {
		if len(group) == 1 {
			continue
		}
		mark := distinction(devices, group)
		for n, i := range group {
			labels[i] = fmt.Sprintf("%s (%s)", name, mark(n, devices[i]))
		}
	}
	return labels
}

// distinction returns a function for the text that tells devices of one name apart.
func distinction(devices []tune.Device, group []int) func(int, tune.Device) string {
	for _, mark := range []func(tune.Device) string{
		func(d tune.Device) string { return d.PCI },
		func(d tune.Device) string { return strings.TrimSpace(d.Platform) },
		func(d tune.Device) string { return prefixed("driver ", strings.TrimSpace(d.Driver)) },
		func(d tune.Device) string { return prefixed("timer: ", d.Timer) },
		func(d tune.Device) string { return d.UUID },
	} {
		seen := map[string]bool{"": true}
		distinct := true
		for _, i := range group {
			text := mark(devices[i])
			distinct = distinct && !seen[text]
			seen[text] = true
		}
		if distinct {
			return func(_ int, d tune.Device) string { return mark(d) }
		}
	}
	return func(n int, _ tune.Device) string { return fmt.Sprintf("number %d", n+1) }
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// letters returns the name of device i in tables: A, B, …, Z, AA, AB, ….
func letters(i int) string {
	text := ""
	for i++; i > 0; i = (i - 1) / 26 {
		text = string(rune('A'+(i-1)%26)) + text
	}
	return text
}
