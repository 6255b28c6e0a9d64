package cl

import (
	"image"
	"image/draw"
)

// NewImageFrom makes a 2D image that holds a copy of a Go image: UNORM_INT8 with the channel
// R for an *image.Gray, and with RGBA for any other, which is converted where need be. An
// *image.NRGBA stays as it is, its colors not multiplied by alpha.
func (c *Context) NewImageFrom(flags MemFlags, img image.Image) (*Image, error) {
	order, pixels, pitch := pixelsOf(img)
	desc := ImageDesc{Type: Image2D, Width: img.Bounds().Dx(), Height: img.Bounds().Dy(), RowPitch: pitch}
	return c.NewImage(flags, ImageFormat{order, UNormInt8}, desc, pixels)
}

func pixelsOf(img image.Image) (order ChannelOrder, pixels []byte, rowPitch int) {
	switch img := img.(type) {
	case *image.Gray:
		return ChannelR, img.Pix, img.Stride
	case *image.RGBA:
		return ChannelRGBA, img.Pix, img.Stride
	case *image.NRGBA:
		return ChannelRGBA, img.Pix, img.Stride
	}
	rgba := image.NewRGBA(img.Bounds())
	draw.Draw(rgba, rgba.Rect, img, img.Bounds().Min, draw.Src)
	return ChannelRGBA, rgba.Pix, rgba.Stride
}
