package diffusion

import (
	"image"
	"image/color"
	"math"
)

const (
	shownCells  = 640 // a side of a heat map at most: as many as a PNG has pixels for
	sharpPixels = 640 // a side at least, so that few cells do not blur into each other
)

// A grid is what a heat map shows: ny rows of nx values, row-major.
type grid struct {
	nx, ny int
	values []float64
}

// shrink makes a grid of at most limit cells a side out of a field, each the maximum of a
// block: a mean would hide the hot points of a young field, and of a smooth field both are the
// same. Blocks are squares as far as the size allows. A NaN makes its block NaN.
func shrink(f *Field, limit int) grid {
	side := (max(f.NX, f.NY)-1)/limit + 1
	g := grid{nx: (f.NX-1)/side + 1, ny: (f.NY-1)/side + 1}
	g.values = make([]float64, g.nx*g.ny)
	for y := range g.ny {
		top, bottom := share(f.NY, g.ny, y)
		for x := range g.nx {
			left, right := share(f.NX, g.nx, x)
			most := f.Values[top*f.NX+left]
			for row := top; row < bottom; row++ {
				for _, v := range f.Values[row*f.NX+left : row*f.NX+right] {
					most = max(most, v)
				}
			}
			g.values[y*g.nx+x] = float64(most)
		}
	}
	return g
}

// picture is the grid in colours. Few cells become blocks of pixels: pictures are scaled
// smoothly.
func (g grid) picture(s scale) image.Image {
	block := max(1, sharpPixels/max(g.nx, g.ny))
	img := image.NewNRGBA(image.Rect(0, 0, g.nx*block, g.ny*block))
	for y := range g.ny {
		for x := range g.nx {
			c := s.color(g.values[y*g.nx+x])
			for i := range block * block {
				img.SetNRGBA(x*block+i%block, y*block+i/block, c)
			}
		}
	}
	return img
}

// barPicture is the colour bar from the lowest colour at the bottom to the highest at the top.
func barPicture() image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, 1, len(colours)))
	for i, c := range colours {
		img.SetNRGBA(0, len(colours)-1-i, c)
	}
	return img
}

// missing is the colour of what is no number.
var missing = color.NRGBA{R: 128, G: 128, B: 128, A: 255}

func (s scale) color(v float64) color.NRGBA {
	at := s.place(v)
	if math.IsNaN(at) {
		return missing
	}
	return colours[min(int(at*float64(len(colours))), len(colours)-1)]
}
