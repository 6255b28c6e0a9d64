// Package footprint reads what a compiled kernel takes of a device: registers, spilled bytes, memory. It reads the logs of
// compilers. It measures nothing: a kernel that spills little can be faster than one that does not.
//
// A number that a compiler does not say is not there. It is never 0.
//
// # Reasons
//
// A footprint is read, not measured, in the process that builds, because a driver that takes a build from its cache may say nothing of
// it. Nothing is asked unless something wants to know it: the compiler's option changes the driver's cache, and a build from the cache
// must be repeated for its log.
package footprint

import (
	"maps"
	"slices"
)

// The quantities of a footprint.
const (
	Registers    = "registers"     // of 32 bits for a work-item; on Intel, the registers of a hardware thread
	SpillBytes   = "spill_bytes"   // for a work-item: registers that did not suffice and are kept in memory
	PrivateBytes = "private_bytes" // of memory for a work-item, spilled registers included
	LocalBytes   = "local_bytes"   // for a work-group
)

// Quantities returns these names in the order of results.
func Quantities() []string {
	return []string{Registers, SpillBytes, PrivateBytes, LocalBytes}
}

// A Footprint holds the quantities of a kernel that are known, by name.
type Footprint map[string]float64

// Add adds the quantities of another source that are not known yet.
func (f Footprint) Add(other Footprint) {
	for name, v := range other {
		if _, known := f[name]; !known {
			f[name] = v
		}
	}
}

// Of returns the footprint of kernels that one configuration launches: the largest of each quantity. It leaves out quantities that are not known of all.
func Of(kernels []Footprint) Footprint {
	if len(kernels) == 0 {
		return Footprint{}
	}
	all := maps.Clone(kernels[0])
	for _, k := range kernels[1:] {
		maps.DeleteFunc(all, func(name string, _ float64) bool { _, known := k[name]; return !known })
		for name := range all {
			all[name] = max(all[name], k[name])
		}
	}
	return all
}

// Is reports whether a name is that of a quantity of footprints.
func Is(name string) bool { return slices.Contains(Quantities(), name) }
