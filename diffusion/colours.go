package diffusion

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/palette/moreland"
)

// colours are those of a hot black body, extended by blue and purple, whose luminance grows
// evenly from black to white. See K. Moreland, https://www.kennethmoreland.com/color-advice/.
var colours = blackBody(1024)

func blackBody(n int) []color.NRGBA {
	m := moreland.ExtendedBlackBody()
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
