package cl

import "slices"

// DeviceInfo describes a device. Values that the driver does not report are zero; groups that it
// does not report are nil. Sizes are in bytes unless noted otherwise.
type DeviceInfo struct {
	Type          DeviceType `cl:"0x1000"`
	Name          string     `cl:"0x102B,required"`
	Vendor        string     `cl:"0x102C"`
	DriverVersion string     `cl:"0x102D"`
	Version       string     `cl:"0x102F"` // "OpenCL 3.0 …"
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
	q := queryOf(&api.clGetDeviceInfo, d.id)
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
