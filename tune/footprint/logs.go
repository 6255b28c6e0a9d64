package footprint

import (
	"regexp"
	"strconv"
	"strings"
)

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
