package hardware

import (
	"cmp"
	"fmt"
	"strings"
)

// A property is one line of a device's identity.
type property struct {
	name string
	of   func(Device) string // "" if unknown
}

// The properties by which devices are told apart.
var (
	kind = []property{
		{"device", func(d Device) string { return d.Name }},
		{"vendor", func(d Device) string { return d.Vendor }},
		{"platform", func(d Device) string { return d.Platform }},
		{"driver", func(d Device) string { return d.Driver }},
		{"compute units", func(d Device) string { return fmt.Sprint(d.ComputeUnits) }},
	}
	timer   = property{"timer", func(d Device) string { return d.Timer }}
	typ     = property{"type", func(d Device) string { return d.Type }}
	version = property{"version", func(d Device) string { return d.Version }}
	memory  = property{"memory", Device.ownMemory}
	pci     = property{"PCI address", func(d Device) string { return d.PCI }}
	uuid    = property{"UUID", func(d Device) string { return d.UUID }}
)

// difference returns an error that names the first of the properties in which a and b differ.
func difference(a, b Device, properties ...property) error {
	for _, p := range properties {
		if v, w := strings.TrimSpace(p.of(a)), strings.TrimSpace(p.of(b)); v != w {
			return fmt.Errorf("%s %q, not %q", p.name, v, w)
		}
	}
	return nil
}

// SameKind reports whether the results of two devices can stand in one record: the devices are of
// one model, with one driver, and measured by the same clock. If not, the error names the difference.
func SameKind(a, b Device) error {
	return difference(a, b, append(kind[:len(kind):len(kind)], timer)...)
}

// SameModel reports whether two devices can share a search: they are of the same kind and type, and
// compile the same OpenCL. If not, the error names the difference.
func SameModel(a, b Device) error {
	if err := SameKind(a, b); err != nil {
		return err
	}
	return difference(a, b, typ, version)
}

// SameDevice reports whether two identities are of one device with one driver, so that their
// measurements can be combined. Besides the kind and the type, the memory of a device that has its
// own must be the same (of the host's memory, drivers report the free part), and the PCI address, the
// UUID and the timer if both identities have them. A device without a name, as in a CSV table, is the
// same as no other.
func SameDevice(a, b Device) bool {
	if strings.TrimSpace(a.Name) == "" || difference(a, b, append(kind[:len(kind):len(kind)], typ, memory)...) != nil {
		return false
	}
	for _, p := range []property{pci, uuid, timer} {
		if v, w := p.of(a), p.of(b); v != "" && w != "" && v != w {
			return false
		}
	}
	return true
}

// SameCard reports whether two devices are known to be one card, by the PCI address or by the UUID.
// Devices that report neither may be two.
func SameCard(a, b Device) bool {
	same := func(a, b string) bool { return a == b && FilledIn(a) != "" }
	return same(a.PCI, b.PCI) || same(a.UUID, b.UUID)
}

// PeaksKey returns a text that is the same for two devices if their peaks are: two cards of one model
// have two keys if they report which card they are.
func (d Device) PeaksKey() string {
	return fmt.Sprintf("%q", []any{d.Platform, d.Vendor, d.Name, d.Driver, d.Version, d.ComputeUnits, cmp.Or(d.UUID, d.PCI)})
}

// ownMemory returns the size of the device's memory, or "" if it is the host's.
func (d Device) ownMemory() string {
	if d.UnifiedMemory || d.Type == "cpu" {
		return ""
	}
	return fmt.Sprint(d.GlobalMemory)
}

// FilledIn returns a PCI address or a UUID, or "" if it has nothing but zeros: some drivers report
// such an address for a device without one.
func FilledIn(id string) string {
	if strings.Trim(id, "0:.-") == "" {
		return ""
	}
	return id
}
