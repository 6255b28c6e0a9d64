package cl

import "slices"

// DeviceInfo describes a device. Values that the driver does not report are zero; groups that it
// does not report are nil. Sizes are in bytes unless noted otherwise.
type DeviceInfo struct {
	Type          DeviceType `cl:"0x1000"`
	Name          string     `cl:"0x102B,required"`
	Vendor        string     `cl:"0x102C"`
	VendorID      uint32     `cl:"0x1001"` // usually the PCI vendor: 0x10de NVIDIA, 0x1002 AMD, 0x8086 Intel
	DriverVersion string     `cl:"0x102D"`
	Version       string     `cl:"0x102F"` // "OpenCL 3.0 …"
	CVersion      string     `cl:"0x103D"` // "OpenCL C 1.2 …": the newest version that the compiler accepts by default
	Profile       string     `cl:"0x102E"` // FULL_PROFILE or EMBEDDED_PROFILE
	ILVersion     string     `cl:"0x105B"` // intermediate languages, such as "SPIR-V_1.2"; OpenCL 2.1
	Extensions    []string   `cl:"0x1030"`

	Available              bool     `cl:"0x1027"`
	CompilerAvailable      bool     `cl:"0x1028"`
	LinkerAvailable        bool     `cl:"0x103E"`
	BuiltInKernels         []string `cl:"0x103F"`
	ExecutesNativeKernels  bool
	LittleEndian           bool            `cl:"0x1026"`
	AddressBits            int             `cl:"0x100D"`
	QueueProperties        QueueProperties `cl:"0x102A"` // of queues on the host
	ProfilingResolution    uint64          `cl:"0x1025"` // nanoseconds
	PrintfBufferSize       int64           `cl:"0x1049"`
	MaxSubDevices          int             `cl:"0x1043"`
	NonUniformWorkGroups   bool            `cl:"0x1065"` // OpenCL 3.0; always supported in 2.x
	MaxSubGroups           int             `cl:"0x105C"` // sub-groups in a work-group; OpenCL 2.1
	SubGroupSizes          []int           `intel:"0x4108"`
	PreferredGroupMultiple int             `cl:"0x1067"` // of the work-group size; OpenCL 3.0, see Kernel.WorkGroupInfo

	ComputeUnits     int   `cl:"0x1002"`
	MaxClockMHz      int   `cl:"0x100C"`
	MaxWorkGroupSize int   `cl:"0x1004"` // work-items
	MaxWorkItemSizes []int `cl:"0x1005"` // work-items in each dimension of a work-group
	MaxParameterSize int64 `cl:"0x1017"` // of all arguments of a kernel

	GlobalMemSize       int64           `cl:"0x101F"`
	MaxAllocSize        int64           `cl:"0x1010"`
	GlobalCacheType     CacheType       `cl:"0x101C"`
	GlobalCacheSize     int64           `cl:"0x101E"`
	GlobalCacheLineSize int             `cl:"0x101D"`
	LocalMemSize        int64           `cl:"0x1023"`
	LocalMemType        LocalMemType    `cl:"0x1022"`
	MaxConstantSize     int64           `cl:"0x1020"`
	MaxConstantArgs     int             `cl:"0x1021"`
	MaxGlobalVariable   int64           `cl:"0x104D"` // of one program-scope variable; OpenCL 2.0
	BaseAddressAlign    int             `cl:"0x1019"` // of sub-buffers, in bits
	HostUnifiedMemory   bool            `cl:"0x1035"`
	ErrorCorrection     bool            `cl:"0x1024"`
	SVM                 SVMCapabilities `cl:"0x1053"`

	PreferredVectorWidth VectorWidths
	NativeVectorWidth    VectorWidths
	SingleFP             FPConfig `cl:"0x101B"`
	DoubleFP             FPConfig `cl:"0x1032"` // 0: no double precision
	HalfFP               FPConfig `cl:"0x1033"` // 0: no half precision arithmetic

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
	Char   int `preferred:"0x1006" native:"0x1036"`
	Short  int `preferred:"0x1007" native:"0x1037"`
	Int    int `preferred:"0x1008" native:"0x1038"`
	Long   int `preferred:"0x1009" native:"0x1039"`
	Float  int `preferred:"0x100A" native:"0x103A"`
	Double int `preferred:"0x100B" native:"0x103B"`
	Half   int `preferred:"0x1034" native:"0x103C"`
}

// ImageLimits are the limits of images on a device, in pixels unless noted otherwise.
type ImageLimits struct {
	MaxWidth2D       int `cl:"0x1011"`
	MaxHeight2D      int `cl:"0x1012"`
	MaxWidth3D       int `cl:"0x1013"`
	MaxHeight3D      int `cl:"0x1014"`
	MaxDepth3D       int `cl:"0x1015"`
	MaxBufferPixels  int `cl:"0x1040"` // of 1D images made from a buffer
	MaxArraySize     int `cl:"0x1041"` // number of images in an array
	MaxReadArgs      int `cl:"0x100E"` // of one kernel
	MaxWriteArgs     int `cl:"0x100F"`
	MaxReadWriteArgs int `cl:"0x104C"` // OpenCL 2.0
	MaxSamplers      int `cl:"0x1018"`
	PitchAlignment   int `cl:"0x104A"` // OpenCL 2.0
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

func (d *Device) readInfo() (*DeviceInfo, error) {
	const executionCapabilities, nativeKernels, imageSupport = 0x1029, 1 << 1, 0x1016
	q := queryOf(&api.clGetDeviceInfo, d.id)
	info := &DeviceInfo{}
	if err := q.read("cl", info); err != nil {
		return nil, about(err, "name of a device of "+d.platform.String())
	}
	_ = q.read("preferred", &info.PreferredVectorWidth)
	_ = q.read("native", &info.NativeVectorWidth)
	info.ExecutesNativeKernels = q.uint(executionCapabilities)&nativeKernels != 0
	if q.uint(imageSupport) != 0 {
		info.Images = &ImageLimits{}
		_ = q.read("cl", info.Images)
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
