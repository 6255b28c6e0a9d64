package compare

import (
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/tune/hardware"
)

// Labels returns a different name for each device, for people: the name of the device and, if
// several have the same name, a property in which they differ or else a number.
func Labels(devices []hardware.Device) []string {
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
func distinction(devices []hardware.Device, group []int) func(int, hardware.Device) string {
	for _, mark := range []func(hardware.Device) string{
		func(d hardware.Device) string { return d.PCI },
		func(d hardware.Device) string { return strings.TrimSpace(d.Platform) },
		func(d hardware.Device) string { return prefixed("driver ", strings.TrimSpace(d.Driver)) },
		func(d hardware.Device) string { return prefixed("timer: ", d.Timer) },
		func(d hardware.Device) string { return d.UUID },
	} {
		seen := map[string]bool{"": true}
		distinct := true
		for _, i := range group {
			text := mark(devices[i])
			distinct = distinct && !seen[text]
			seen[text] = true
		}
		if distinct {
			return func(_ int, d hardware.Device) string { return mark(d) }
		}
	}
	return func(n int, _ hardware.Device) string { return fmt.Sprintf("number %d", n+1) }
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
