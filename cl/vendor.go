package cl

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
)

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
