package cl

import (
	"fmt"
	"unsafe"
)

// ImageFormat is what a pixel holds.
type ImageFormat struct {
	Order ChannelOrder
	Type  ChannelType
}

// String returns the form "RGBA UNORM_INT8".
func (f ImageFormat) String() string { return fmt.Sprintf("%s %s", f.Order, f.Type) }

// ChannelOrder names the channels of a pixel.
type ChannelOrder uint32

// The orders of channels.
const (
	ChannelR ChannelOrder = 0x10B0 + iota
	ChannelA
	ChannelRG
	ChannelRA
	ChannelRGB
	ChannelRGBA
	ChannelBGRA
	ChannelARGB
	ChannelIntensity
	ChannelLuminance
	ChannelRx
	ChannelRGx
	ChannelRGBx
	ChannelDepth
	ChannelDepthStencil
	ChannelSRGB
	ChannelSRGBx
	ChannelSRGBA
	ChannelSBGRA
	ChannelABGR
)

// String returns the name without its prefix CL_.
func (o ChannelOrder) String() string {
	return nameOf(uint32(o), uint32(ChannelR), "R", "A", "RG", "RA", "RGB", "RGBA", "BGRA", "ARGB", "INTENSITY",
		"LUMINANCE", "Rx", "RGx", "RGBx", "DEPTH", "DEPTH_STENCIL", "sRGB", "sRGBx", "sRGBA", "sBGRA", "ABGR")
}

// ChannelType is the type of each channel.
type ChannelType uint32

// The types of channels.
const (
	SNormInt8 ChannelType = 0x10D0 + iota
	SNormInt16
	UNormInt8
	UNormInt16
	UNormShort565
	UNormShort555
	UNormInt101010
	SignedInt8
	SignedInt16
	SignedInt32
	UnsignedInt8
	UnsignedInt16
	UnsignedInt32
	HalfFloat
	SingleFloat // CL_FLOAT
)

// String returns the name without its prefix CL_.
func (t ChannelType) String() string {
	return nameOf(uint32(t), uint32(SNormInt8), "SNORM_INT8", "SNORM_INT16", "UNORM_INT8", "UNORM_INT16",
		"UNORM_SHORT_565", "UNORM_SHORT_555", "UNORM_INT_101010", "SIGNED_INT8", "SIGNED_INT16", "SIGNED_INT32",
		"UNSIGNED_INT8", "UNSIGNED_INT16", "UNSIGNED_INT32", "HALF_FLOAT", "FLOAT")
}

// ImageType is the shape of an image.
type ImageType uint32

// The shapes of images.
const (
	Image2D      ImageType = 0x10F1
	Image3D      ImageType = 0x10F2
	Image2DArray ImageType = 0x10F3
	Image1D      ImageType = 0x10F4
	Image1DArray ImageType = 0x10F5
)

// SupportedImageFormats returns the formats that images of a shape may have when they are
// used as flags say.
func (c *Context) SupportedImageFormats(flags MemFlags, t ImageType) ([]ImageFormat, error) {
	f := clGetSupportedImageFormats
	if err := c.use(f); err != nil {
		return nil, err
	}
	defer c.leave()
	var count uint32
	if err := f.run(c.id, uintptr(flags), uintptr(t), 0, 0, uintptr(unsafe.Pointer(&count))); err != nil || count == 0 {
		return nil, err
	}
	formats := make([]ImageFormat, count)
	err := f.run(c.id, uintptr(flags), uintptr(t), uintptr(count), uintptr(unsafe.Pointer(&formats[0])), 0)
	if err != nil {
		return nil, err
	}
	return formats, nil
}
