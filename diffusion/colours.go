package diffusion

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/palette/moreland"
)

// inferno are ten colours of the map of that name by N. Smith and S. van der Walt, made for
// matplotlib and free of copyright (CC0): its lightness grows evenly from black to light
// yellow, also for those who do not tell colours apart.
var inferno = []color.Color{
	color.NRGBA{0x00, 0x00, 0x04, 0xff},
	color.NRGBA{0x1b, 0x0c, 0x42, 0xff},
	color.NRGBA{0x4b, 0x0c, 0x6b, 0xff},
	color.NRGBA{0x78, 0x1c, 0x6d, 0xff},
	color.NRGBA{0xa5, 0x2c, 0x60, 0xff},
	color.NRGBA{0xcf, 0x44, 0x46, 0xff},
	color.NRGBA{0xed, 0x69, 0x25, 0xff},
	color.NRGBA{0xfb, 0x9a, 0x06, 0xff},
	color.NRGBA{0xf7, 0xd0, 0x3c, 0xff},
	color.NRGBA{0xfc, 0xff, 0xa4, 0xff},
}

// colours are those of the colour bar, from cold to hot.
var colours = between(inferno, 1024)

// between is n colours from the first to the last control, evenly in lightness.
func between(controls []color.Color, n int) []color.NRGBA {
	m, err := moreland.NewLuminance(controls)
	if err != nil {
		panic(fmt.Sprintf("diffusion: %v", err))
	}
	m.SetMin(0)
	m.SetMax(1)
	c := make([]color.NRGBA, n)
	for i := range c {
		at, err := m.At(float64(i) / float64(n-1))
		if err != nil {
			panic(fmt.Sprintf("diffusion: colour %d of %d: %v", i, n, err))
		}
		c[i] = color.NRGBAModel.Convert(at).(color.NRGBA)
	}
	return c
}
