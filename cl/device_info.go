package cl

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// DeviceInfo describes a device. Values that the driver does not report are zero; groups that it
// does not report are nil. Sizes are in bytes unless noted otherwise.
type DeviceInfo struct {
	Type          DeviceType `cl:"0x1000"`
	Name          string     `cl:"0x102B,required"`
	Vendor        string     `cl:"0x102C"`
	DriverVersion string     `cl:"0x102D"`
	Version       string     `cl:"0x102F"` // "OpenCL 3.0 …", "CUDA 13.0"
	CVersion      string     `cl:"0x103D"` // "OpenCL C 1.2 …"; OpenCL 1.1
	ILVersion     string     `cl:"0x105B"` // intermediate languages, such as "SPIR-V_1.2"; OpenCL 2.1
	Extensions    []string   `cl:"0x1030"`

	ComputeUnits     int   `cl:"0x1002"`
	MaxClockMHz      int   `cl:"0x100C"`
	TimerResolution  int   `cl:"0x1025"` // of profiling timestamps, in ns
	MaxWorkGroupSize int   `cl:"0x1004"` // work-items
	MaxWorkItemSizes []int `cl:"0x1005"` // work-items in each dimension of a work-group

	GlobalMemSize     int64 `cl:"0x101F"`
	MaxAllocSize      int64 `cl:"0x1010"`
	GlobalCacheSize   int64 `cl:"0x101E"`
	LocalMemSize      int64 `cl:"0x1023"`
	MaxConstantSize   int64 `cl:"0x1020"`
	BaseAddressAlign  int   `cl:"0x1019"` // of sub-buffers, in bits
	HostUnifiedMemory bool  `cl:"0x1035"`

	NativeVectorWidth VectorWidths
	SingleFP          FPConfig `cl:"0x101B"`
	DoubleFP          FPConfig `cl:"0x1032"` // 0: no double precision
	HalfFP            FPConfig `cl:"0x1033"` // 0: no half precision arithmetic

	Images *ImageLimits // nil: no images

	PCI    *PCIAddress
	UUID   *UUIDInfo
	NVIDIA *NVIDIAInfo
	AMD    *AMDInfo
	Intel  *IntelInfo
}

// HasExtension reports whether the device lists an extension, such as "cl_khr_fp64".
func (i *DeviceInfo) HasExtension(name string) bool { return slices.Contains(i.Extensions, name) }

// VectorWidths is the number of elements of a vector of each type, 0 if the device does not
// support the type.
type VectorWidths struct {
	Float  int `cl:"0x103A"`
	Double int `cl:"0x103B"`
	Half   int `cl:"0x103C"`
}

// ImageLimits are the limits of images on a device, in pixels unless noted otherwise.
type ImageLimits struct {
	MaxWidth2D      int `cl:"0x1011"`
	MaxHeight2D     int `cl:"0x1012"`
	MaxWidth3D      int `cl:"0x1013"`
	MaxHeight3D     int `cl:"0x1014"`
	MaxDepth3D      int `cl:"0x1015"`
	MaxBufferPixels int `cl:"0x1040"` // of 1D images made from a buffer
	MaxArraySize    int `cl:"0x1041"` // number of images in an array
}

// FPConfig is the set of capabilities of floating-point arithmetic in one precision.
type FPConfig uint64

func (d *Device) readInfo() (*DeviceInfo, error) {
	const imageSupport = 0x1016
	q := queryOf(&d.platform.api.clGetDeviceInfo, d.id)
	info := &DeviceInfo{}
	if err := q.read(info); err != nil {
		return nil, about(err, "name of a device of "+d.platform.String())
	}
	_ = q.read(&info.NativeVectorWidth)
	if q.uint(imageSupport) != 0 {
		info.Images = &ImageLimits{}
		_ = q.read(info.Images)
	}
	info.readVendor(q)
	return info, nil
}

// nameOf returns the name of a value of an enumeration whose values count from first.
func nameOf(value, first uint32, names ...string) string {
	if i := int(value) - int(first); i >= 0 && i < len(names) {
		return names[i]
	}
	return "unknown"
}

// PCIAddress is the address of a device on the PCI bus.
type PCIAddress struct {
	Domain, Bus, Device, Function uint32
}

// String returns the usual form, such as 0000:65:00.0.
func (a PCIAddress) String() string {
	return fmt.Sprintf("%04x:%02x:%02x.%x", a.Domain, a.Bus, a.Device, a.Function)
}

// UUIDInfo holds the identifier of cl_khr_device_uuid, which Vulkan reports as well.
type UUIDInfo struct {
	Device [16]byte `cl:"0x106A"` // identifies the physical device
}

// String returns the device's identifier in the usual form of five groups.
func (u UUIDInfo) String() string {
	d := u.Device
	return fmt.Sprintf("%x-%x-%x-%x-%x", d[:4], d[4:6], d[6:8], d[8:10], d[10:])
}

// NVIDIAInfo holds the attributes of cl_nv_device_attribute_query.
type NVIDIAInfo struct {
	ComputeCapabilityMajor int `cl:"0x4000"`
	ComputeCapabilityMinor int `cl:"0x4001"`
	RegistersPerBlock      int `cl:"0x4002"` // 32-bit registers of one work-group
	WarpSize               int `cl:"0x4003"` // work-items
}

// AMDInfo holds the attributes of cl_amd_device_attribute_query.
type AMDInfo struct {
	BoardName      string `cl:"0x4038"`
	WavefrontWidth int    `cl:"0x4043"` // work-items
	GFXIPMajor     int    `cl:"0x404A"` // as in gfx90a: 9
	GFXIPMinor     int    `cl:"0x404B"`
}

// IntelInfo holds the attributes of cl_intel_device_attribute_query.
type IntelInfo struct {
	IPVersion uint32 `cl:"0x4250"` // see Architecture
}

// Architecture returns the IP version as major, minor and revision, such as "12.60.7", or "" if it is
// not reported.
func (i *IntelInfo) Architecture() string {
	if i.IPVersion == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", i.IPVersion>>22, i.IPVersion>>14&0xff, i.IPVersion&0x3f)
}

// Architecture returns the gfx name of a device, "gfx90a" for example, from the name that the driver
// reports: "gfx90a:sramecc+:xnack-". For a name of another form it returns the version of the graphics
// IP, which devices with several gfx names share: "gfx8.0". It returns "" if neither is known.
func (i *AMDInfo) Architecture(name string) string {
	name, _, _ = strings.Cut(strings.TrimSpace(name), ":")
	switch {
	case gfxName.MatchString(name):
		return name
	case i.GFXIPMajor > 0:
		return fmt.Sprintf("gfx%d.%d", i.GFXIPMajor, i.GFXIPMinor)
	}
	return ""
}

var gfxName = regexp.MustCompile(`^gfx[0-9]+[0-9a-f]*$`)

// readVendor queries the extensions that the device lists, and no others: vendors use the same
// numbers for different queries.
func (i *DeviceInfo) readVendor(q query) {
	i.NVIDIA = attributes[NVIDIAInfo](i, q, "cl_nv_device_attribute_query")
	i.AMD = attributes[AMDInfo](i, q, "cl_amd_device_attribute_query")
	i.Intel = attributes[IntelInfo](i, q, "cl_intel_device_attribute_query")
	if uuid := attributes[UUIDInfo](i, q, "cl_khr_device_uuid"); uuid != nil && uuid.Device != [16]byte{} {
		i.UUID = uuid
	}
	i.PCI = i.pciAddress(q)
}

// attributes queries an extension; nil: the device does not list it.
func attributes[T any](i *DeviceInfo, q query, extension string) *T {
	if !i.HasExtension(extension) {
		return nil
	}
	info := new(T)
	_ = q.read(info)
	return info
}

// pciAddress prefers the extension for all vendors to those of one vendor.
func (i *DeviceInfo) pciAddress(q query) *PCIAddress {
	var a *PCIAddress
	if i.HasExtension("cl_khr_pci_bus_info") {
		a = pciOfKHR(q)
	}
	if a == nil && i.NVIDIA != nil {
		a = pciOfNVIDIA(q)
	}
	if a == nil && i.AMD != nil {
		a = pciOfAMD(q)
	}
	return a
}

func pciOfKHR(q query) *PCIAddress {
	const pciInfo = 0x410F // four numbers of 32 bits, in the order of PCIAddress
	data, err := q(pciInfo)
	if err != nil || len(data) < 16 {
		return nil
	}
	a := &PCIAddress{}
	_, _ = binary.Decode(data, binary.NativeEndian, a) // data is long enough
	return a
}

// pciOfNVIDIA returns the address without the function, which is not reported. The slot is the
// number of the device: 6 on an H200 at 00:06.0.
func pciOfNVIDIA(q query) *PCIAddress {
	const pciBus, pciSlot, pciDomain = 0x4008, 0x4009, 0x400A
	bus, err := q(pciBus)
	if err != nil || len(bus) == 0 {
		return nil
	}
	return &PCIAddress{Domain: uint32(q.uint(pciDomain)), Bus: uint32(decode(bus)), Device: uint32(q.uint(pciSlot))}
}

// pciOfAMD returns the address without the domain, which is not reported. The answer has four
// bytes for the type (PCIe), 17 unused bytes, then a byte each for bus, device and function.
func pciOfAMD(q query) *PCIAddress {
	const topology, pcie = 0x4037, 1
	data, err := q(topology)
	if err != nil || len(data) < 24 || binary.NativeEndian.Uint32(data) != pcie {
		return nil
	}
	return &PCIAddress{Bus: uint32(data[21]), Device: uint32(data[22]), Function: uint32(data[23])}
}
