package cl

import (
	"encoding/binary"
	"fmt"
)

// PCIAddress is the address of a device on the PCI bus.
type PCIAddress struct {
	Domain, Bus, Device, Function uint32
}

// String returns the usual form, such as 0000:65:00.0.
func (a PCIAddress) String() string {
	return fmt.Sprintf("%04x:%02x:%02x.%x", a.Domain, a.Bus, a.Device, a.Function)
}

// UUIDInfo holds the identifiers of cl_khr_device_uuid, which Vulkan reports as well.
type UUIDInfo struct {
	Device [16]byte // identifies the physical device
	Driver [16]byte // identifies the version of the driver
}

// String returns the device's identifier in the usual form of five groups.
func (u UUIDInfo) String() string {
	d := u.Device
	return fmt.Sprintf("%x-%x-%x-%x-%x", d[:4], d[4:6], d[6:8], d[8:10], d[10:])
}

// NVIDIAInfo holds the attributes of cl_nv_device_attribute_query.
type NVIDIAInfo struct {
	ComputeCapabilityMajor int
	ComputeCapabilityMinor int
	RegistersPerBlock      int // 32-bit registers of one work-group
	WarpSize               int // work-items
	GPUOverlap             bool
	KernelExecTimeout      bool // a watchdog ends kernels that run too long
	IntegratedMemory       bool // the device shares the host's memory
	AsyncEngineCount       int
}

// AMDInfo holds the attributes of cl_amd_device_attribute_query.
type AMDInfo struct {
	BoardName            string
	WavefrontWidth       int // work-items
	SIMDPerComputeUnit   int
	SIMDWidth            int // lanes
	SIMDInstructionWidth int
	GlobalFreeMemory     []int // KiB: total free memory, largest free block; at the first call of Info
	GlobalMemChannels    int
	GlobalMemBanks       int // of each channel
	GlobalMemBankWidth   int // bytes
	LocalMemPerUnit      int64
	LocalMemBanks        int
	GFXIPMajor           int // as in gfx90a: 9
	GFXIPMinor           int
	AsyncQueues          int
	PreferredGroupSize   int // work-items
	MaxGroupSize         int // work-items
	ProfilingTimerOffset uint64
	PCIeID               uint32 // the PCI device number
}

// IntelInfo holds the attributes of cl_intel_device_attribute_query.
type IntelInfo struct {
	IPVersion         uint32
	DeviceID          uint32
	Slices            int
	SubSlicesPerSlice int
	EUsPerSubSlice    int
	ThreadsPerEU      int
}

// Query numbers of extensions.
const (
	deviceUUID    = 0x106A
	driverUUID    = 0x106B
	devicePCIInfo = 0x410F

	nvComputeCapabilityMajor = 0x4000
	nvComputeCapabilityMinor = 0x4001
	nvRegistersPerBlock      = 0x4002
	nvWarpSize               = 0x4003
	nvGPUOverlap             = 0x4004
	nvKernelExecTimeout      = 0x4005
	nvIntegratedMemory       = 0x4006
	nvAsyncEngineCount       = 0x4007
	nvPCIBusID               = 0x4008
	nvPCISlotID              = 0x4009
	nvPCIDomainID            = 0x400A

	amdPreferredWorkGroupSize = 0x4030
	amdMaxWorkGroupSize       = 0x4031
	amdPCIeID                 = 0x4034
	amdProfilingTimerOffset   = 0x4036
	amdTopology               = 0x4037
	amdBoardName              = 0x4038
	amdGlobalFreeMemory       = 0x4039
	amdSIMDPerComputeUnit     = 0x4040
	amdSIMDWidth              = 0x4041
	amdSIMDInstructionWidth   = 0x4042
	amdWavefrontWidth         = 0x4043
	amdGlobalMemChannels      = 0x4044
	amdGlobalMemBanks         = 0x4045
	amdGlobalMemBankWidth     = 0x4046
	amdLocalMemPerUnit        = 0x4047
	amdLocalMemBanks          = 0x4048
	amdGFXIPMajor             = 0x404A
	amdGFXIPMinor             = 0x404B
	amdAsyncQueues            = 0x404C

	intelIPVersion         = 0x4250
	intelDeviceID          = 0x4251
	intelSlices            = 0x4252
	intelSubSlicesPerSlice = 0x4253
	intelEUsPerSubSlice    = 0x4254
	intelThreadsPerEU      = 0x4255
)

// readVendor queries the extensions that the device lists, and no others: vendors use the same
// numbers for different queries.
func (i *DeviceInfo) readVendor(q query) {
	if i.HasExtension("cl_nv_device_attribute_query") {
		i.NVIDIA = nvidiaInfo(q)
	}
	if i.HasExtension("cl_amd_device_attribute_query") {
		i.AMD = amdInfo(q)
	}
	if i.HasExtension("cl_intel_device_attribute_query") {
		i.Intel = intelInfo(q)
	}
	if i.HasExtension("cl_intel_required_subgroup_size") {
		i.SubGroupSizes = q.ints(deviceSubGroupSizesIntel)
	}
	if i.HasExtension("cl_khr_device_uuid") {
		i.UUID = uuidInfo(q)
	}
	i.PCI = i.pciAddress(q)
}

// pciAddress prefers the extension for all vendors to those of one vendor.
func (i *DeviceInfo) pciAddress(q query) *PCIAddress {
	if i.HasExtension("cl_khr_pci_bus_info") {
		if a := pciOfKHR(q); a != nil {
			return a
		}
	}
	if i.NVIDIA != nil {
		if a := pciOfNVIDIA(q); a != nil {
			return a
		}
	}
	if i.AMD != nil {
		return pciOfAMD(q)
	}
	return nil
}

func pciOfKHR(q query) *PCIAddress {
	data, err := q(devicePCIInfo)
	if err != nil || len(data) < 16 {
		return nil
	}
	return &PCIAddress{
		Domain:   binary.NativeEndian.Uint32(data),
		Bus:      binary.NativeEndian.Uint32(data[4:]),
		Device:   binary.NativeEndian.Uint32(data[8:]),
		Function: binary.NativeEndian.Uint32(data[12:]),
	}
}

// pciOfNVIDIA returns the address without the function, which is not reported. The slot is the
// number of the device: 6 on an H200 at 00:06.0.
func pciOfNVIDIA(q query) *PCIAddress {
	bus, ok := q.known(nvPCIBusID)
	if !ok {
		return nil
	}
	return &PCIAddress{Domain: uint32(q.uint(nvPCIDomainID)), Bus: uint32(bus), Device: uint32(q.uint(nvPCISlotID))}
}

// pciOfAMD returns the address without the domain, which is not reported. The answer has four
// bytes for the type (PCIe), 17 unused bytes, then a byte each for bus, device and function.
func pciOfAMD(q query) *PCIAddress {
	const pcie = 1
	data, err := q(amdTopology)
	if err != nil || len(data) < 24 || binary.NativeEndian.Uint32(data) != pcie {
		return nil
	}
	return &PCIAddress{Bus: uint32(data[21]), Device: uint32(data[22]), Function: uint32(data[23])}
}

func uuidInfo(q query) *UUIDInfo {
	device, err := q(deviceUUID)
	if err != nil || len(device) != 16 {
		return nil
	}
	info := &UUIDInfo{Device: [16]byte(device)}
	if driver, err := q(driverUUID); err == nil && len(driver) == 16 {
		info.Driver = [16]byte(driver)
	}
	return info
}

func nvidiaInfo(q query) *NVIDIAInfo {
	return &NVIDIAInfo{
		ComputeCapabilityMajor: q.int(nvComputeCapabilityMajor),
		ComputeCapabilityMinor: q.int(nvComputeCapabilityMinor),
		RegistersPerBlock:      q.int(nvRegistersPerBlock),
		WarpSize:               q.int(nvWarpSize),
		GPUOverlap:             q.bool(nvGPUOverlap),
		KernelExecTimeout:      q.bool(nvKernelExecTimeout),
		IntegratedMemory:       q.bool(nvIntegratedMemory),
		AsyncEngineCount:       q.int(nvAsyncEngineCount),
	}
}

func amdInfo(q query) *AMDInfo {
	return &AMDInfo{
		BoardName:            q.text(amdBoardName),
		WavefrontWidth:       q.int(amdWavefrontWidth),
		SIMDPerComputeUnit:   q.int(amdSIMDPerComputeUnit),
		SIMDWidth:            q.int(amdSIMDWidth),
		SIMDInstructionWidth: q.int(amdSIMDInstructionWidth),
		GlobalFreeMemory:     q.ints(amdGlobalFreeMemory),
		GlobalMemChannels:    q.int(amdGlobalMemChannels),
		GlobalMemBanks:       q.int(amdGlobalMemBanks),
		GlobalMemBankWidth:   q.int(amdGlobalMemBankWidth),
		LocalMemPerUnit:      q.int64(amdLocalMemPerUnit),
		LocalMemBanks:        q.int(amdLocalMemBanks),
		GFXIPMajor:           q.int(amdGFXIPMajor),
		GFXIPMinor:           q.int(amdGFXIPMinor),
		AsyncQueues:          q.int(amdAsyncQueues),
		PreferredGroupSize:   q.int(amdPreferredWorkGroupSize),
		MaxGroupSize:         q.int(amdMaxWorkGroupSize),
		ProfilingTimerOffset: q.uint(amdProfilingTimerOffset),
		PCIeID:               uint32(q.uint(amdPCIeID)),
	}
}

func intelInfo(q query) *IntelInfo {
	return &IntelInfo{
		IPVersion:         uint32(q.uint(intelIPVersion)),
		DeviceID:          uint32(q.uint(intelDeviceID)),
		Slices:            q.int(intelSlices),
		SubSlicesPerSlice: q.int(intelSubSlicesPerSlice),
		EUsPerSubSlice:    q.int(intelEUsPerSubSlice),
		ThreadsPerEU:      q.int(intelThreadsPerEU),
	}
}

// runsInCaller reports whether the platform runs commands in the thread that waits for them,
// without locks, as Oclgrind does: it crashes if two threads wait. So no goroutine may wait in
// the background, and transfers that would need one are blocking.
func (p *Platform) runsInCaller() bool { return p.String() == "Oclgrind" }

// binaryDevices returns those of the program's devices that n binaries belong to. PoCL 3.1 leaves
// out the devices for which the program was not built; by the standard, these have an empty
// binary.
func (p *Program) binaryDevices(all []uintptr, n int) []uintptr {
	if built := p.built.Load(); n != len(all) && built != nil && n == len(*built) {
		return *built
	}
	return all
}
