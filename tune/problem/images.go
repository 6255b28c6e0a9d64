package problem

import (
	"bufio"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // formats of pictures
	_ "image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/expression"
)

// An Image says that an argument is an image. Its content is an array of pixels, x first. A pixel is a
// vector of channels, a normalized channel its integer.
type Image struct {
	Shape  string // 1d, 2d, 3d, 1d_array, 2d_array or 1d_buffer
	Format string // order and type of the channels: rgba/float32, r/unorm_int8
	Size   []Expr // in pixels by dimension, and for an array the number of images; default: of the picture
}

// A Sampler says that an argument is a sampler, in the words of OpenCL. Empty texts mean pixels, none
// and nearest.
type Sampler struct {
	Coordinates string // pixels or normalized
	Addressing  string // none, clamp, clamp_to_edge, repeat or mirrored_repeat
	Filter      string // nearest or linear
}

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
func (p *Problem) compileImage(errs *fieldErrors, field string, a *argument, scope expression.Scope) {
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
	a.element.Type = channel.Vector(len(channels))
	sizes := a.Image.Size
	if a.Data != nil {
		data, err := array.From(a.Data)
		if err == nil {
			a.data, err = a.element.View(data)
		}
		errs.add(field+".data", err)
	} else if isPicture(a.Fill.File) {
		data, size, err := readPicture(a.Fill.File, channels, a.element.Type)
		if err == nil && a.Image.Shape != "2d" {
			err = fmt.Errorf("a picture is the content of an image of the shape 2d, not %s", a.Image.Shape)
		}
		if err != nil {
			errs.add(field+".fill", err)
			return
		}
		if a.data = data; len(sizes) == 0 {
			given := *a.Image
			given.Size = []Expr{fmt.Sprint(size[0]), fmt.Sprint(size[1])}
			a.Image, sizes = &given, given.Size
		}
	}
	if known && len(sizes) != n {
		errs.addf(field+".size", "an image of the shape %s has %d sizes, not %d", a.Image.Shape, n, len(sizes))
	}
	for _, source := range sizes {
		a.sizes = append(a.sizes, p.compileSize(errs, field+".size", source, scope))
	}
	if !slices.Contains(a.sizes, nil) {
		p.compileContent(errs, field, a, scope)
	}
}

func isPicture(path string) bool {
	return slices.Contains([]string{".png", ".jpg", ".jpeg"}, strings.ToLower(filepath.Ext(path)))
}

// readPicture returns the pixels of a picture and its width and height. Integers take the whole range of
// the channel's type from 0, and floats are from 0 to 1. Colours are not multiplied by their opacity.
func readPicture(path, channels string, typ array.Type) (*array.Array, [2]int, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, [2]int{}, fmt.Errorf("read the picture: %w", err)
	}
	defer file.Close()
	picture, err := decodePicture(file)
	if err != nil {
		return nil, [2]int{}, fmt.Errorf("read %s: %w", path, err)
	}
	whole := 1.0 // the value of full intensity
	switch typ.Scalar() {
	case array.Float16, array.Float32:
	case array.Int8, array.Int16, array.Int32:
		whole = math.Ldexp(1, 8*typ.Scalar().Size()-1) - 1
	default:
		whole = math.Ldexp(1, 8*typ.Scalar().Size()) - 1
	}
	box := picture.Bounds()
	pixels := make([]byte, 0, box.Dx()*box.Dy()*typ.Size())
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			for _, intensity := range channelsOf(picture.At(x, y), channels) {
				v := whole * float64(intensity) / math.MaxUint16
				if whole > 1 {
					v = math.Round(v)
				}
				b, err := array.ScalarBytes(typ.Scalar(), v)
				if err != nil {
					return nil, [2]int{}, err
				}
				pixels = append(pixels, b...)
			}
		}
	}
	data, err := Element{Type: typ}.ofBytes(pixels)
	return data, [2]int{box.Dx(), box.Dy()}, err
}

// maxPixels is the most that a byte of a picture's file can stand for: deflate makes at most 1032 bytes of one, each of eight pixels. A JPEG
// file has fewer.
const maxPixels = 1032 * 8

// decodePicture decodes a picture. Decoders take the memory for all pixels before they find that most are missing, so a file that is too
// small for its pixels is refused first.
func decodePicture(file *os.File) (image.Image, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	header, _, err := image.DecodeConfig(bufio.NewReader(file))
	if err != nil {
		return nil, err
	}
	if float64(header.Width)*float64(header.Height) > maxPixels*float64(info.Size()) {
		return nil, fmt.Errorf("%d bytes cannot hold the %d × %d pixels of its header", info.Size(), header.Width, header.Height)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	picture, _, err := image.Decode(bufio.NewReader(file))
	return picture, err
}

// channelsOf returns the channels of a colour. A picture with one channel is gray.
func channelsOf(c color.Color, channels string) []uint16 {
	rgba := color.NRGBA64Model.Convert(c).(color.NRGBA64)
	if !strings.Contains(channels, "G") {
		gray := color.Gray16Model.Convert(color.NRGBA64{rgba.R, rgba.G, rgba.B, math.MaxUint16}).(color.Gray16)
		rgba.R, rgba.G, rgba.B = gray.Y, gray.Y, gray.Y
	}
	values := make([]uint16, len(channels))
	for i, name := range channels {
		switch name {
		case 'G':
			values[i] = rgba.G
		case 'B':
			values[i] = rgba.B
		case 'A':
			values[i] = rgba.A
		default:
			values[i] = rgba.R
		}
	}
	return values
}

// compileSampler checks the words of a sampler.
func compileSampler(errs *fieldErrors, field string, s *Sampler) {
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

// pixels returns the size of an image in each dimension.
func (a *argument) pixels(env map[string]any) ([]int, error) {
	var sizes []int
	for _, e := range a.sizes {
		n, err := positive("size", e, env)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}
