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
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
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

// NVIDIAOption makes NVIDIA's driver print what a kernel takes to the build log.
// See https://registry.khronos.org/OpenCL/extensions/nv/cl_nv_compiler_options.txt.
const NVIDIAOption = "-cl-nv-verbose"

var (
	ptxasEntry = regexp.MustCompile(`^ptxas .*\b(?:Compiling entry function|Function properties for) '?([A-Za-z_]\w*)'?`)
	ptxasStack = regexp.MustCompile(`\b(\d+) bytes stack frame, (\d+) bytes spill stores, \d+ bytes spill loads`)
	ptxasUsed  = regexp.MustCompile(`^ptxas .*\bUsed (\d+) registers`)
	ptxasLocal = regexp.MustCompile(`\b(\d+)(?:\+(\d+))? bytes smem`)
)

// NVIDIA reads the footprints of kernels, by name, from a build log of NVIDIA's driver with [NVIDIAOption]. The log of a
// build that the driver has taken from its cache, wholly or only the work of ptxas, and that of a binary do not have any.
//
// The lines are those of the assembler, ptxas --verbose; see «Resource Usage» in the documentation of nvcc. Spilled bytes are
// those that are stored.
func NVIDIA(log string) map[string]Footprint {
	all := map[string]Footprint{}
	entry, now := "", Footprint{} // of a function that is no kernel, Footprint is lost
	for line := range strings.Lines(log) {
		if m := ptxasEntry.FindStringSubmatch(line); m != nil {
			switch {
			case strings.Contains(line, "Compiling entry function"):
				entry, now = m[1], Footprint{}
				all[entry] = now
			case m[1] == entry:
				now = all[entry]
			default:
				now = Footprint{}
			}
		}
		if m := ptxasStack.FindStringSubmatch(line); m != nil {
			now[PrivateBytes], now[SpillBytes] = number(m[1]), number(m[2])
		}
		if m := ptxasUsed.FindStringSubmatch(line); m != nil {
			now = all[entry] // which has this line after those of the functions that it calls
			if now == nil {
				now = Footprint{}
			}
			now[Registers], now[LocalBytes] = number(m[1]), 0
			if m := ptxasLocal.FindStringSubmatch(line); m != nil {
				now[LocalBytes] = number(m[1]) + number(m[2])
			}
		}
	}
	return all
}

// Named returns what [NVIDIA] has read of a kernel by its name in the source. C++ has symbols for these, such as _Z1kPf for k and
// _Z3addIfLi8EEvPT_ for add<float, 8>; the instances of a template count as one kernel.
func Named(all map[string]Footprint, kernel string) Footprint {
	if f, known := all[kernel]; known {
		return f
	}
	base, _, _ := strings.Cut(kernel, "<")
	mangled := ""
	for part := range strings.SplitSeq(strings.TrimSpace(base), "::") {
		mangled += fmt.Sprintf("L?%d%s", len(part), part) // L: it is static
	}
	for _, of := range []string{"^_ZN?" + mangled, "[^0-9]" + mangled} { // the second is in a namespace
		symbol := regexp.MustCompile(of)
		var found []Footprint
		for name, f := range all {
			if symbol.MatchString(name) {
				found = append(found, f)
			}
		}
		if found != nil {
			return Of(found)
		}
	}
	return nil
}

// igcSpill is a line of Intel's graphics compiler for a kernel that spills. The numbers are registers, of 32 bytes, or 64 from
// Xe-HPC on, of a hardware thread: «warning: kernel k  compiled SIMD16 allocated 128 regs and spilled around 217». Newer
// versions write «in kernel 'k': compiled SIMD16 …».
var igcSpill = regexp.MustCompile(`\bkernel '?([^\s':]+)'?:?\s+compiled SIMD(\d+) allocated (\d+) regs and spilled around (\d+)`)

// Intel reads the registers of kernels that spill, by name, from a build log of Intel's driver. It says nothing of the other
// kernels, and «around» how many registers are spilled, which are no bytes: these are known from
// CL_KERNEL_SPILL_MEM_SIZE_INTEL.
func Intel(log string) map[string]Footprint {
	all := map[string]Footprint{}
	for _, m := range igcSpill.FindAllStringSubmatch(log, -1) {
		all[m[1]] = Footprint{Registers: number(m[3])}
	}
	return all
}

// number returns a number of digits, 0 for none.
func number(digits string) float64 {
	n, _ := strconv.ParseFloat(digits, 64) // the expressions match digits only
	return n
}
