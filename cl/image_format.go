package cl

import (
	"fmt"
	"unsafe"
)

// ImageFormat is the format of a pixel.
type ImageFormat struct {
	Order ChannelOrder
	Type  ChannelType
}

// String returns the format in the form "RGBA UNORM_INT8".
func (f ImageFormat) String() string { return fmt.Sprintf("%s %s", f.Order, f.Type) }

// size returns the size of a pixel in bytes, or false for a format that this package does not
// know.
func (f ImageFormat) size() (int, bool) {
	switch f.Type {
	case UNormShort565, UNormShort555:
		return 2, true
	case UNormInt101010:
		return 4, true
	}
	channels := map[ChannelOrder]int{
		ChannelR: 1, ChannelA: 1, ChannelIntensity: 1, ChannelLuminance: 1, ChannelDepth: 1, ChannelRx: 1,
		ChannelRG: 2, ChannelRA: 2, ChannelRGx: 2,
		ChannelRGB: 3, ChannelSRGB: 3, ChannelRGBx: 4, ChannelSRGBx: 4,
		ChannelRGBA: 4, ChannelBGRA: 4, ChannelARGB: 4, ChannelABGR: 4, ChannelSRGBA: 4, ChannelSBGRA: 4,
	}[f.Order]
	width := map[ChannelType]int{
		SNormInt8: 1, UNormInt8: 1, SignedInt8: 1, UnsignedInt8: 1,
		SNormInt16: 2, UNormInt16: 2, SignedInt16: 2, UnsignedInt16: 2, HalfFloat: 2,
		SignedInt32: 4, UnsignedInt32: 4, SingleFloat: 4,
	}[f.Type]
	return channels * width, channels*width > 0
}

// ChannelOrder is the order of the channels of a pixel.
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

// SupportedImageFormats returns the formats that the context supports for images of a shape,
// used according to flags.
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
