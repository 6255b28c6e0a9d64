package problem

import (
	"slices"
	"strings"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/launch"
	"github.com/ndtune/ndtune/tune/task"
)

// imageDimensions are the numbers of sizes that images have, by shape.
var imageDimensions = map[string]int{"1d": 1, "1d_buffer": 1, "2d": 2, "1d_array": 2, "3d": 3, "2d_array": 3}

// channelOrders are the channels of a pixel, by the order's name. A is opacity, and L and I are gray.
var channelOrders = map[string]string{
	"r": "R", "a": "A", "rg": "RG", "ra": "RA", "rgba": "RGBA", "bgra": "BGRA", "argb": "ARGB", "abgr": "ABGR",
	"luminance": "L", "intensity": "I", "depth": "D",
}

// channelTypes are the types of channels in memory, by name.
var channelTypes = map[string]array.Type{
	"snorm_int8": array.Int8, "snorm_int16": array.Int16, "unorm_int8": array.Uint8, "unorm_int16": array.Uint16,
	"int8": array.Int8, "int16": array.Int16, "int32": array.Int32, "uint8": array.Uint8, "uint16": array.Uint16, "uint32": array.Uint32,
	"float16": array.Float16, "float32": array.Float32,
}

// compileImage finds the pixels and the size of an image.
func (p *Problem) compileImage(errs *fieldErrors, field string, a *launch.Argument, scope expression.Scope) {
	n, known := imageDimensions[a.Image.Shape]
	if !known {
		errs.addf(field+".image", "no image is called %q; there are 1d, 2d, 3d, 1d_array, 2d_array and 1d_buffer", a.Image.Shape)
	}
	order, typ, _ := strings.Cut(a.Image.Format, "/")
	channels, channel := channelOrders[order], channelTypes[typ]
	if channels == "" || channel == 0 {
		errs.addf(field+".format", "%q is no order and type of channels, such as rgba/float32 or r/unorm_int8", a.Image.Format)
		return
	}
	a.Element.Type = channel.Vector(len(channels))
	if a.Data != nil {
		data, err := array.From(a.Data)
		if err == nil {
			a.Content, err = a.Element.View(data)
		}
		errs.add(field+".data", err)
	}
	if known && len(a.Image.Size) != n {
		errs.addf(field+".size", "an image of the shape %s has %d sizes, not %d", a.Image.Shape, n, len(a.Image.Size))
	}
	for _, source := range a.Image.Size {
		a.Pixels = append(a.Pixels, p.compileSize(errs, field+".size", source, scope))
	}
	if !slices.Contains(a.Pixels, nil) {
		p.compileContent(errs, field, a, scope)
	}
}

// compileSampler checks the words of a sampler.
func compileSampler(errs *fieldErrors, field string, s *task.Sampler) {
	for _, word := range []struct {
		field, given string
		known        []string
	}{
		{"coordinates", s.Coordinates, []string{"pixels", "normalized"}},
		{"addressing", s.Addressing, []string{"none", "clamp", "clamp_to_edge", "repeat", "mirrored_repeat"}},
		{"filter", s.Filter, []string{"nearest", "linear"}},
	} {
		if word.given != "" && !slices.Contains(word.known, word.given) {
			errs.addf(field+".sampler."+word.field, "%q is none of %s", word.given, strings.Join(word.known, ", "))
		}
	}
	if strings.HasSuffix(s.Addressing, "repeat") && s.Coordinates != "normalized" {
		errs.addf(field+".sampler.addressing", "%s needs normalized coordinates", s.Addressing)
	}
}
