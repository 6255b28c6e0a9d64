package simulate

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A style tells a curve from the others: by its colour, and by its dashes where there are
// more curves than colours.
type style struct {
	color  color.NRGBA
	dashes []vg.Length
}

// palette is that of Okabe and Ito (Color Universal Design, 2008), which can be told apart
// also by those who do not tell all colours apart; without its yellow, too light on white.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermillion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x00, 0x00, 0x00, 0xff}, // black
}

var styles = func() []style {
	var all []style
	for _, dashes := range [][]vg.Length{nil, {6, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}} {
		for _, c := range palette {
			all = append(all, style{c, dashes})
		}
	}
	return all
}()

func (s style) line() draw.LineStyle {
	return draw.LineStyle{Color: s.color, Width: 1.4, Dashes: s.dashes}
}

// shade is the colour of the band.
func (s style) shade() color.Color {
	c := s.color
	c.A = 0x26
	return c
}
