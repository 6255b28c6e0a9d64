// Package hardware describes devices: their identity, their limits and the peaks that were
// measured on them. It decides whether two devices are the same.
//
// Its types: [Device] with its [Peaks], and a [Reading] of an instrument.
//
// Whether two devices are the same depends on the question, so there are four answers, by one list of properties: [SameKind] (results
// can stand in one record), [SameModel] (they can share a search), [SameDevice] (their records can be combined) and [SameCard] (they
// must not measure at the same time). Peaks belong to a device: they go into records and to workers, and neither digests nor comparisons
// of devices use them.
package hardware

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ndtune/ndtune/internal/figure"
)

// A Device is the identity of a device and the limits that matter to tuning. Evaluators report it,
// records keep it, and expressions read it as device.*. Unknown numbers are 0, unknown texts empty.
type Device struct {
	Name     string `json:"name"`
	Vendor   string `json:"vendor"`
	Platform string `json:"platform"`
	Driver   string `json:"driver"`
	Version  string `json:"version"`        // of OpenCL, as the device reports it
	Type     string `json:"type"`           // cpu, gpu, accelerator or custom
	PCI      string `json:"pci,omitempty"`  // domain:bus:device.function
	UUID     string `json:"uuid,omitempty"` // 32 hexadecimal digits, with hyphens

	// Versions that programs for Python show, as the driver reports them.
	PlatformVersion string `json:"platform_version,omitempty"`
	CVersion        string `json:"opencl_c_version,omitempty"` // of OpenCL C

	// Architecture is the instruction set in the vendor's words: the compute capability of NVIDIA as
	// "sm_90", the gfx name of AMD as "gfx90a", the IP version of Intel as "12.60.7". It is "" on other
	// devices.
	Architecture string `json:"architecture,omitempty"`

	// Timer says where times come from: TimerEvent or TimerHost.
	Timer string `json:"timer"`

	ComputeUnits     int      `json:"compute_units"`
	ClockMHz         int      `json:"clock_mhz"`
	GlobalMemory     int64    `json:"global_memory"`  // bytes
	MaxAllocation    int64    `json:"max_allocation"` // bytes, of one buffer
	LocalMemory      int64    `json:"local_memory"`   // bytes a work-group
	MaxWorkGroupSize int      `json:"max_work_group_size"`
	MaxWorkItemSizes []int    `json:"max_work_item_sizes"` // by dimension
	UnifiedMemory    bool     `json:"unified_memory"`      // shares the host's memory
	Registers        int      `json:"registers,omitempty"` // 32-bit, a work-group (NVIDIA)
	Wavefront        int      `json:"wavefront,omitempty"` // warp (NVIDIA) or wavefront (AMD) width
	ComputeMajor     int      `json:"compute_capability_major,omitempty"`
	ComputeMinor     int      `json:"compute_capability_minor,omitempty"`
	Extensions       []string `json:"extensions"`

	// Peaks are the measured rates; nil: nothing was measured.
	Peaks *Peaks `json:"peaks,omitempty"`

	// Instruments are those of the quantities that a problem observes; nil: it observes none.
	Instruments []Instrument `json:"instruments,omitempty"`
}

// VendorName returns the name of a vendor that drivers write in several ways: «AMD» for «Advanced Micro Devices, Inc.». Another text
// stays, but for spaces around it.
func VendorName(vendor string) string {
	vendor = strings.TrimSpace(vendor)
	return cmp.Or(vendorNames[vendor], vendor)
}

var vendorNames = map[string]string{
	"Advanced Micro Devices, Inc.": "AMD", "AuthenticAMD": "AMD", "NVIDIA Corporation": "NVIDIA",
	"Intel(R) Corporation": "Intel", "Intel Corporation": "Intel", "GenuineIntel": "Intel",
}

// CUDA is the name of the platform of CUDA's devices, which compile CUDA C. Those of all other platforms compile OpenCL C.
const CUDA = "CUDA"

// IsCUDA reports whether d is a device of CUDA. The same card as a device of OpenCL is not.
func (d Device) IsCUDA() bool { return d.Platform == CUDA }

// The sources of time.
const (
	TimerEvent = "event" // profiling events of the device
	TimerHost  = "host"  // the host's clock around a launch, where events cannot be used
)

// ComputeCapability returns the architecture of an NVIDIA device, "" if major is 0.
func ComputeCapability(major, minor int) string {
	if major == 0 {
		return ""
	}
	return fmt.Sprintf("sm_%d%d", major, minor)
}

// sharedMemory is the greatest amount of shared memory of a block, in KiB, by compute capability (CUDA C++ Programming Guide,
// «Technical Specifications per Compute Capability»).
var sharedMemory = map[[2]int]int64{
	{7, 0}: 96, {7, 2}: 96, {7, 5}: 64, {8, 0}: 163, {8, 6}: 99, {8, 7}: 163, {8, 9}: 99,
	{9, 0}: 227, {10, 0}: 227, {10, 3}: 227, {11, 0}: 227, {12, 0}: 99, {12, 1}: 99,
}

// StaticLocalMemory returns the bytes a work-group that the arrays of local memory in a kernel may have, if no argument is local
// memory. It is LocalMemory but on NVIDIA, whose OpenCL says 48 KiB and whose assembler takes all that the hardware has, less
// 1 KiB that OpenCL keeps (seen on compute capability 9.0). CUDA says what the hardware has, and gives arrays of a kernel 48 KiB.
func (d Device) StaticLocalMemory() int64 {
	if d.IsCUDA() {
		return min(d.LocalMemory, 48<<10)
	}
	if kib, ok := sharedMemory[[2]int{d.ComputeMajor, d.ComputeMinor}]; ok {
		return max(d.LocalMemory, (kib-1)<<10)
	}
	return d.LocalMemory
}

// Environment returns device.* for expressions.
func (d Device) Environment() map[string]any {
	return map[string]any{
		"name": d.Name, "vendor": d.Vendor, "platform": d.Platform, "driver": d.Driver,
		"version": d.Version, "type": d.Type,
		"compute_units": d.ComputeUnits, "clock_mhz": d.ClockMHz,
		"global_memory": int(d.GlobalMemory), "max_allocation": int(d.MaxAllocation),
		"local_memory": int(d.LocalMemory), "static_local_memory": int(d.StaticLocalMemory()), "max_work_group_size": d.MaxWorkGroupSize,
		"max_work_item_sizes": d.MaxWorkItemSizes, "unified_memory": d.UnifiedMemory,
		"registers": d.Registers, "wavefront": d.Wavefront,
		"compute_capability": float64(d.ComputeMajor) + float64(d.ComputeMinor)/10,
		"extensions":         d.Extensions,
		"peak":               d.Peaks.environment(),
	}
}

// Details returns what a person may want to know of a device, by name.
func (d *Device) Details() (rows [][2]string) {
	row := func(name, value string) { rows = append(rows, [2]string{name, value}) }
	row("vendor", d.Vendor)
	row("architecture", d.Architecture)
	row("driver", d.Driver+", "+strings.TrimSpace(d.Version))
	units := fmt.Sprint(d.ComputeUnits)
	if d.ClockMHz > 0 {
		units += fmt.Sprintf(" at up to %d MHz", d.ClockMHz)
	}
	row("compute units", units)
	row("global memory", fmt.Sprintf("%s, at most %s in one buffer", figure.Bytes(d.GlobalMemory), figure.Bytes(d.MaxAllocation)))
	row("local memory", figure.Bytes(d.LocalMemory))
	row("work-group", fmt.Sprintf("at most %d work-items, %s in each dimension", d.MaxWorkGroupSize, figure.Sizes(d.MaxWorkItemSizes)))
	if d.ComputeMajor > 0 {
		row("compute cap.", fmt.Sprintf("%d.%d, %d registers a work-group", d.ComputeMajor, d.ComputeMinor, d.Registers))
	}
	if d.Wavefront > 0 {
		row("wavefront", fmt.Sprintf("%d work-items", d.Wavefront))
	}
	row("PCI", d.PCI)
	row("UUID", d.UUID)
	return rows
}
