package cl

import "slices"

// DeviceInfo describes a device. Values that the driver does not report are zero; groups that it
// does not report are nil. Sizes are in bytes unless noted otherwise.
type DeviceInfo struct {
	Type          DeviceType
	Name          string
	Vendor        string
	VendorID      uint32 // usually the PCI vendor: 0x10de NVIDIA, 0x1002 AMD, 0x8086 Intel
	DriverVersion string
	Version       string // "OpenCL 3.0 …"
	CVersion      string // "OpenCL C 1.2 …": the newest version that the compiler accepts by default
	Profile       string // FULL_PROFILE or EMBEDDED_PROFILE
	ILVersion     string // intermediate languages, such as "SPIR-V_1.2"; OpenCL 2.1
	Extensions    []string

	Available              bool
	CompilerAvailable      bool
	LinkerAvailable        bool
	BuiltInKernels         []string
	ExecutesNativeKernels  bool
	LittleEndian           bool
	AddressBits            int
	QueueProperties        QueueProperties // of queues on the host
	ProfilingResolution    uint64          // nanoseconds
	PrintfBufferSize       int64
	MaxSubDevices          int
	NonUniformWorkGroups   bool // OpenCL 3.0; always supported in 2.x
	MaxSubGroups           int  // sub-groups in a work-group; OpenCL 2.1
	SubGroupSizes          []int
	PreferredGroupMultiple int // of the work-group size; OpenCL 3.0, see Kernel.WorkGroupInfo

	ComputeUnits     int
	MaxClockMHz      int
	MaxWorkGroupSize int   // work-items
	MaxWorkItemSizes []int // work-items in each dimension of a work-group
	MaxParameterSize int64 // of all arguments of a kernel

	GlobalMemSize       int64
	MaxAllocSize        int64
	GlobalCacheType     CacheType
	GlobalCacheSize     int64
	GlobalCacheLineSize int
	LocalMemSize        int64
	LocalMemType        LocalMemType
	MaxConstantSize     int64
	MaxConstantArgs     int
	MaxGlobalVariable   int64 // of one program-scope variable; OpenCL 2.0
	BaseAddressAlign    int   // of sub-buffers, in bits
	HostUnifiedMemory   bool
	ErrorCorrection     bool
	SVM                 SVMCapabilities

	PreferredVectorWidth VectorWidths
	NativeVectorWidth    VectorWidths
	SingleFP             FPConfig
	DoubleFP             FPConfig // 0: no double precision
	HalfFP               FPConfig // 0: no half precision arithmetic

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
	Char, Short, Int, Long, Half, Float, Double int
}

// ImageLimits are the limits of images on a device, in pixels unless noted otherwise.
type ImageLimits struct {
	MaxWidth2D, MaxHeight2D             int
	MaxWidth3D, MaxHeight3D, MaxDepth3D int
	MaxBufferPixels                     int // of 1D images made from a buffer
	MaxArraySize                        int // number of images in an array
	MaxReadArgs                         int // of one kernel
	MaxWriteArgs                        int
	MaxReadWriteArgs                    int // OpenCL 2.0
	MaxSamplers                         int
	PitchAlignment                      int // OpenCL 2.0
}

// CacheType is the type of the cache of global memory.
type CacheType uint32

// The types of caches.
const (
	CacheNone      CacheType = 0
	CacheReadOnly  CacheType = 1
	CacheReadWrite CacheType = 2
)

// String returns "none", "read-only" or "read-write".
func (t CacheType) String() string { return nameOf(uint32(t), 0, "none", "read-only", "read-write") }

// LocalMemType is the place of local memory.
type LocalMemType uint32

// The places of local memory.
const (
	LocalMemNone      LocalMemType = 0
	LocalMemDedicated LocalMemType = 1 // separate memory, as on GPUs
	LocalMemGlobal    LocalMemType = 2 // a part of global memory: using it gains no speed by itself
)

// String returns "none", "dedicated" or "global".
func (t LocalMemType) String() string { return nameOf(uint32(t), 0, "none", "dedicated", "global") }

// FPConfig is the set of capabilities of floating-point arithmetic in one precision.
type FPConfig uint64

// The capabilities of floating-point arithmetic.
const (
	FPDenorm FPConfig = 1 << iota
	FPInfNaN
	FPRoundToNearest
	FPRoundToZero
	FPRoundToInf
	FPFMA
	FPSoftFloat
	FPCorrectlyRoundedDivideSqrt
)

// String returns names joined with "|".
func (c FPConfig) String() string {
	return joinBits(uint64(c), "denorm", "inf-nan", "round-to-nearest", "round-to-zero", "round-to-inf",
		"fma", "soft-float", "correctly-rounded-divide-sqrt")
}

// SVMCapabilities is the set of supported kinds of shared virtual memory (OpenCL 2.0). This
// package does not allocate shared virtual memory.
type SVMCapabilities uint64

// String returns names joined with "|".
func (c SVMCapabilities) String() string {
	return joinBits(uint64(c), "coarse-grain-buffer", "fine-grain-buffer", "fine-grain-system", "atomics")
}

const (
	deviceType                   = 0x1000
	deviceVendorID               = 0x1001
	deviceMaxComputeUnits        = 0x1002
	deviceMaxWorkGroupSize       = 0x1004
	deviceMaxWorkItemSizes       = 0x1005
	devicePreferredWidthChar     = 0x1006 // short, int, long, float, double follow
	deviceMaxClockFrequency      = 0x100C
	deviceAddressBits            = 0x100D
	deviceMaxReadImageArgs       = 0x100E
	deviceMaxWriteImageArgs      = 0x100F
	deviceMaxMemAllocSize        = 0x1010
	deviceImage2DMaxWidth        = 0x1011
	deviceImage2DMaxHeight       = 0x1012
	deviceImage3DMaxWidth        = 0x1013
	deviceImage3DMaxHeight       = 0x1014
	deviceImage3DMaxDepth        = 0x1015
	deviceImageSupport           = 0x1016
	deviceMaxParameterSize       = 0x1017
	deviceMaxSamplers            = 0x1018
	deviceMemBaseAddrAlign       = 0x1019
	deviceSingleFPConfig         = 0x101B
	deviceGlobalMemCacheType     = 0x101C
	deviceGlobalMemCachelineSize = 0x101D
	deviceGlobalMemCacheSize     = 0x101E
	deviceGlobalMemSize          = 0x101F
	deviceMaxConstantBufferSize  = 0x1020
	deviceMaxConstantArgs        = 0x1021
	deviceLocalMemType           = 0x1022
	deviceLocalMemSize           = 0x1023
	deviceErrorCorrectionSupport = 0x1024
	deviceProfilingResolution    = 0x1025
	deviceEndianLittle           = 0x1026
	deviceAvailable              = 0x1027
	deviceCompilerAvailable      = 0x1028
	deviceExecutionCapabilities  = 0x1029
	deviceQueueProperties        = 0x102A
	deviceName                   = 0x102B
	deviceVendor                 = 0x102C
	driverVersion                = 0x102D
	deviceProfile                = 0x102E
	deviceVersion                = 0x102F
	deviceExtensions             = 0x1030
	deviceDoubleFPConfig         = 0x1032
	deviceHalfFPConfig           = 0x1033
	devicePreferredWidthHalf     = 0x1034
	deviceHostUnifiedMemory      = 0x1035
	deviceNativeWidthChar        = 0x1036 // short, int, long, float, double, half follow
	deviceNativeWidthHalf        = 0x103C
	deviceOpenCLCVersion         = 0x103D
	deviceLinkerAvailable        = 0x103E
	deviceBuiltInKernels         = 0x103F
	deviceImageMaxBufferSize     = 0x1040
	deviceImageMaxArraySize      = 0x1041
	devicePartitionMaxSubDevices = 0x1043
	devicePrintfBufferSize       = 0x1049
	deviceImagePitchAlignment    = 0x104A
	deviceMaxReadWriteImageArgs  = 0x104C
	deviceMaxGlobalVariableSize  = 0x104D
	deviceSVMCapabilities        = 0x1053
	deviceILVersion              = 0x105B
	deviceMaxNumSubGroups        = 0x105C
	deviceNonUniformWorkGroups   = 0x1065
	devicePreferredGroupMultiple = 0x1067
	deviceSubGroupSizesIntel     = 0x4108
	executionCapabilityNative    = 1 << 1
)

func (d *Device) readInfo() (*DeviceInfo, error) {
	q := queryOf(clGetDeviceInfo, d.id)
	name, err := q(deviceName)
	if err != nil {
		return nil, about(err, "name of a device of "+d.platform.String())
	}
	info := &DeviceInfo{
		Type:          DeviceType(q.uint(deviceType)),
		Name:          trimText(name),
		Vendor:        q.text(deviceVendor),
		VendorID:      uint32(q.uint(deviceVendorID)),
		DriverVersion: q.text(driverVersion),
		Version:       q.text(deviceVersion),
		CVersion:      q.text(deviceOpenCLCVersion),
		Profile:       q.text(deviceProfile),
		ILVersion:     q.text(deviceILVersion),
		Extensions:    q.list(deviceExtensions, " "),

		Available:              q.bool(deviceAvailable),
		CompilerAvailable:      q.bool(deviceCompilerAvailable),
		LinkerAvailable:        q.bool(deviceLinkerAvailable),
		BuiltInKernels:         q.list(deviceBuiltInKernels, ";"),
		ExecutesNativeKernels:  q.uint(deviceExecutionCapabilities)&executionCapabilityNative != 0,
		LittleEndian:           q.bool(deviceEndianLittle),
		AddressBits:            q.int(deviceAddressBits),
		QueueProperties:        QueueProperties(q.uint(deviceQueueProperties)),
		ProfilingResolution:    q.uint(deviceProfilingResolution),
		PrintfBufferSize:       q.int64(devicePrintfBufferSize),
		MaxSubDevices:          q.int(devicePartitionMaxSubDevices),
		NonUniformWorkGroups:   q.bool(deviceNonUniformWorkGroups),
		MaxSubGroups:           q.int(deviceMaxNumSubGroups),
		PreferredGroupMultiple: q.int(devicePreferredGroupMultiple),

		ComputeUnits:     q.int(deviceMaxComputeUnits),
		MaxClockMHz:      q.int(deviceMaxClockFrequency),
		MaxWorkGroupSize: q.int(deviceMaxWorkGroupSize),
		MaxWorkItemSizes: q.ints(deviceMaxWorkItemSizes),
		MaxParameterSize: q.int64(deviceMaxParameterSize),

		GlobalMemSize:       q.int64(deviceGlobalMemSize),
		MaxAllocSize:        q.int64(deviceMaxMemAllocSize),
		GlobalCacheType:     CacheType(q.uint(deviceGlobalMemCacheType)),
		GlobalCacheSize:     q.int64(deviceGlobalMemCacheSize),
		GlobalCacheLineSize: q.int(deviceGlobalMemCachelineSize),
		LocalMemSize:        q.int64(deviceLocalMemSize),
		LocalMemType:        LocalMemType(q.uint(deviceLocalMemType)),
		MaxConstantSize:     q.int64(deviceMaxConstantBufferSize),
		MaxConstantArgs:     q.int(deviceMaxConstantArgs),
		MaxGlobalVariable:   q.int64(deviceMaxGlobalVariableSize),
		BaseAddressAlign:    q.int(deviceMemBaseAddrAlign),
		HostUnifiedMemory:   q.bool(deviceHostUnifiedMemory),
		ErrorCorrection:     q.bool(deviceErrorCorrectionSupport),
		SVM:                 SVMCapabilities(q.uint(deviceSVMCapabilities)),

		PreferredVectorWidth: vectorWidths(q, devicePreferredWidthChar, devicePreferredWidthHalf),
		NativeVectorWidth:    vectorWidths(q, deviceNativeWidthChar, deviceNativeWidthHalf),
		SingleFP:             FPConfig(q.uint(deviceSingleFPConfig)),
		DoubleFP:             FPConfig(q.uint(deviceDoubleFPConfig)),
		HalfFP:               FPConfig(q.uint(deviceHalfFPConfig)),
	}
	if q.bool(deviceImageSupport) {
		info.Images = imageLimits(q)
	}
	info.readVendor(q)
	return info, nil
}

func vectorWidths(q query, char, half uint32) VectorWidths {
	return VectorWidths{
		Char:   q.int(char),
		Short:  q.int(char + 1),
		Int:    q.int(char + 2),
		Long:   q.int(char + 3),
		Float:  q.int(char + 4),
		Double: q.int(char + 5),
		Half:   q.int(half),
	}
}

func imageLimits(q query) *ImageLimits {
	return &ImageLimits{
		MaxWidth2D:       q.int(deviceImage2DMaxWidth),
		MaxHeight2D:      q.int(deviceImage2DMaxHeight),
		MaxWidth3D:       q.int(deviceImage3DMaxWidth),
		MaxHeight3D:      q.int(deviceImage3DMaxHeight),
		MaxDepth3D:       q.int(deviceImage3DMaxDepth),
		MaxBufferPixels:  q.int(deviceImageMaxBufferSize),
		MaxArraySize:     q.int(deviceImageMaxArraySize),
		MaxReadArgs:      q.int(deviceMaxReadImageArgs),
		MaxWriteArgs:     q.int(deviceMaxWriteImageArgs),
		MaxReadWriteArgs: q.int(deviceMaxReadWriteImageArgs),
		MaxSamplers:      q.int(deviceMaxSamplers),
		PitchAlignment:   q.int(deviceImagePitchAlignment),
	}
}

// nameOf returns the name of a value of an enumeration whose values count from first.
func nameOf(value, first uint32, names ...string) string {
	if i := int(value) - int(first); i >= 0 && i < len(names) {
		return names[i]
	}
	return "unknown"
}
