package device

import (
	"slices"
	"strings"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/figure"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/problem"
)

var imageTypes = map[string]cl.ImageType{
	"1d": cl.Image1D, "2d": cl.Image2D, "3d": cl.Image3D,
	"1d_array": cl.Image1DArray, "2d_array": cl.Image2DArray, "1d_buffer": cl.Image1DBuffer,
}

var channelOrders = map[string]cl.ChannelOrder{
	"r": cl.ChannelR, "a": cl.ChannelA, "rg": cl.ChannelRG, "ra": cl.ChannelRA, "rgba": cl.ChannelRGBA, "bgra": cl.ChannelBGRA,
	"argb": cl.ChannelARGB, "abgr": cl.ChannelABGR, "luminance": cl.ChannelLuminance, "intensity": cl.ChannelIntensity,
	"depth": cl.ChannelDepth,
}

var channelTypes = map[string]cl.ChannelType{
	"snorm_int8": cl.SNormInt8, "snorm_int16": cl.SNormInt16, "unorm_int8": cl.UNormInt8, "unorm_int16": cl.UNormInt16,
	"int8": cl.SignedInt8, "int16": cl.SignedInt16, "int32": cl.SignedInt32,
	"uint8": cl.UnsignedInt8, "uint16": cl.UnsignedInt16, "uint32": cl.UnsignedInt32,
	"float16": cl.HalfFloat, "float32": cl.SingleFloat,
}

var addressingModes = map[string]cl.AddressingMode{
	"": cl.AddressUndefined, "none": cl.AddressUndefined, "clamp": cl.AddressClampToBorder, "clamp_to_edge": cl.AddressClampToEdge,
	"repeat": cl.AddressRepeat, "mirrored_repeat": cl.AddressMirroredRepeat,
}

// FormatOf returns the format of an image in the words of specifications, "" if they have none for it.
func FormatOf(format cl.ImageFormat) string {
	for order, o := range channelOrders {
		for channel, c := range channelTypes {
			if format == (cl.ImageFormat{Order: o, Type: c}) {
				return order + "/" + channel
			}
		}
	}
	return ""
}

func imageFormat(i *definition.Image) cl.ImageFormat {
	order, channel, _ := strings.Cut(i.Format, "/")
	return cl.ImageFormat{Order: channelOrders[order], Type: channelTypes[channel]}
}

// imageTypeName returns the type of an image in OpenCL C.
func imageTypeName(i *definition.Image) string { return "image" + i.Shape + "_t" }

// checkImage refuses an image whose format or size the device does not support.
func (s *session) checkImage(info problem.Argument, pixels []int) error {
	limits := s.Info.Images
	if limits == nil {
		return fail(tune.Constraints, "image %s: the device has no images", info.Name)
	}
	most := map[string][]int{
		"1d": {limits.MaxWidth2D}, "1d_buffer": {limits.MaxBufferPixels}, "1d_array": {limits.MaxWidth2D, limits.MaxArraySize},
		"2d": {limits.MaxWidth2D, limits.MaxHeight2D}, "2d_array": {limits.MaxWidth2D, limits.MaxHeight2D, limits.MaxArraySize},
		"3d": {limits.MaxWidth3D, limits.MaxHeight3D, limits.MaxDepth3D},
	}[info.Image.Shape]
	for i, n := range pixels {
		if most[i] > 0 && n > most[i] {
			return fail(tune.Constraints, "image %s of %s pixels > device limit %s", info.Name, figure.Sizes(pixels), figure.Sizes(most))
		}
	}
	formats, err := s.Context.SupportedImageFormats(cl.ReadWrite, imageTypes[info.Image.Shape])
	if err != nil {
		return fail(tune.Runtime, "image %s: ask for the formats: %v", info.Name, err)
	}
	if format := imageFormat(info.Image); !slices.Contains(formats, format) {
		return fail(tune.Constraints, "image %s: the device does not support the format %s for images of the shape %s",
			info.Name, info.Image.Format, info.Image.Shape)
	}
	return nil
}

// newImage makes the image of a buffer. It lies in the buffer if its shape is 1d_buffer, and apart otherwise.
func (s *session) newImage(i *definition.Image, pixels []int, b *buffer) error {
	desc := cl.ImageDesc{Type: imageTypes[i.Shape], Width: pixels[0]}
	b.region = [3]int{1, 1, 1}
	copy(b.region[:], pixels)
	switch i.Shape {
	case "1d_buffer":
		desc.Buffer = b.working
	case "1d_array":
		desc.ArraySize = pixels[1]
	case "2d":
		desc.Height = pixels[1]
	case "2d_array":
		desc.Height, desc.ArraySize = pixels[1], pixels[2]
	case "3d":
		desc.Height, desc.Depth = pixels[1], pixels[2]
	}
	var err error
	b.image, err = s.Context.NewImage(cl.ReadWrite, imageFormat(i), desc)
	return err
}

// newSampler makes the sampler of an argument.
func (s *session) newSampler(given *definition.Sampler) (*cl.Sampler, error) {
	filter := cl.FilterNearest
	if given.Filter == "linear" {
		filter = cl.FilterLinear
	}
	return s.Context.NewSampler(given.Coordinates == "normalized", addressingModes[given.Addressing], filter)
}
