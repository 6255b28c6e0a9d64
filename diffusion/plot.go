package diffusion

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/picture"
)

// A Phase is a row of a picture: the field at one time, computed by the device and by the CPU.
type Phase struct {
	Name   string // such as "after 1000 steps"
	Device *Field // may be nil
	CPU    *Field // may be nil
}

// Plot draws a row for each phase, the device beside the CPU, and writes the picture to path, a .png,
// .svg or .pdf. Device is the device's name for the titles.
//
// Each panel has its own colour scale, since temperatures soon fall from 1000 degrees to a few. The
// scale is logarithmic, in degrees above the coldest cell, if a few hot cells would leave all others
// dark on a linear scale. Fields with sides of more than 640 cells are shown as the maxima of square
// blocks of cells.
func Plot(path, device string, phases []Phase) error {
	if err := picture.Check(path); err != nil {
		return err
	}
	if err := plotPhases(path, device, phases); err != nil {
		return fmt.Errorf("plot the field to %s: %w", path, err)
	}
	return nil
}

func plotPhases(path, device string, phases []Phase) error {
	rows, err := panelRows(device, phases)
	if err != nil {
		return err
	}
	columns, cell := 0, vg.Point{} // cell: the size of a panel, with title, ticks and colour bar
	for _, row := range rows {
		columns = max(columns, len(row))
		for _, p := range row {
			cell.X = max(cell.X, leftTicks+p.width+barGap+barWide+barTicks, titleLeast)
			cell.Y = max(cell.Y, titleHigh+max(p.height, panelHigh)+lowerTicks)
		}
	}
	tiles := draw.Tiles{
		Rows: len(rows), Cols: columns, PadX: columnGap, PadY: rowGap,
		PadLeft: margin, PadRight: margin, PadTop: margin, PadBottom: margin,
	}
	size := vg.Point{
		X: 2*margin + vg.Length(columns)*(cell.X+columnGap) - columnGap,
		Y: 2*margin + vg.Length(len(rows))*(cell.Y+rowGap) - rowGap,
	}
	return picture.Save(path, size, func(c draw.Canvas) {
		for i, row := range rows {
			for j, p := range row {
				p.draw(tiles.At(c, j, i))
			}
		}
	})
}

// panelRows returns the panels of the phases, row by row.
func panelRows(device string, phases []Phase) ([][]panel, error) {
	var rows [][]panel
	for _, phase := range phases {
		var row []panel
		for _, side := range []struct {
			who   string
			field *Field
		}{{device, phase.Device}, {"CPU", phase.CPU}} {
			if side.field == nil {
				continue
			}
			if err := side.field.check(); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", side.who, phase.Name, err)
			}
			row = append(row, newPanel(side.who, phase.Name, side.field))
		}
		if len(row) > 0 {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil, errors.New("there is nothing to plot")
	}
	return rows, nil
}

// The measures of a picture.
const (
	margin    = 14 * vg.Length(1)
	columnGap = 12 * vg.Length(1)
	rowGap    = 16 * vg.Length(1)

	mapSide   = 288 * vg.Length(1) // of the longer side of a heat map
	mapLeast  = 2 * vg.Length(1)   // of the shorter side, however long the field
	panelHigh = 96 * vg.Length(1)  // at least, so that the colour bar can be read

	titleHigh  = 22 * vg.Length(1)
	leftTicks  = 34 * vg.Length(1)
	lowerTicks = 18 * vg.Length(1)
	barGap     = 10 * vg.Length(1)
	barWide    = 11 * vg.Length(1)
	barTicks   = 48 * vg.Length(1)
	cellApart  = 36 * vg.Length(1)  // numbers beside a heat map at least
	titleLeast = 260 * vg.Length(1) // of the width of a panel, for its title
)

// A panel is a heat map of a field with its title, ticks and colour bar.
type panel struct {
	who, when     string // such as "NVIDIA H200", "after 1000 steps"
	nx, ny        int    // of the field
	cells         grid   // that are shown
	scale         scale
	width, height vg.Length // of the heat map
}

func newPanel(who, when string, f *Field) panel {
	p := panel{who: who, when: when, nx: f.NX, ny: f.NY, cells: shrink(f, shownCells)}
	p.scale = scaleOf(p.cells.values)
	side := mapSide / vg.Length(max(f.NX, f.NY))
	p.width = max(vg.Length(f.NX)*side, mapLeast)
	p.height = max(vg.Length(f.NY)*side, mapLeast)
	return p
}

// draw draws the panel in the upper left corner of a canvas.
func (p panel) draw(c draw.Canvas) {
	field, below := p.field(), draw.Crop(c, 0, 0, 0, -titleHigh)
	inner := field.DataCanvas(below)
	p.drawTitle(c, inner.Min.X)
	field.Draw(draw.Crop(below, 0, p.width-inner.Size().X, inner.Size().Y-p.height, 0))
	left := leftTicks + p.width + barGap
	right, down := c.Size().X-left-barTicks-barWide, inner.Max.Y-c.Min.Y-max(p.height, panelHigh)
	p.bar().Draw(draw.Crop(c, left, -right, down, inner.Max.Y-c.Max.Y))
}

// drawTitle writes the title from a place on, and shortens a name that is too long.
func (p panel) drawTitle(c draw.Canvas, left vg.Length) {
	style := picture.TextStyle(10.5)
	who := []rune(p.who)
	title := p.title(string(who))
	for style.Width(title) > c.Max.X-left && len(who) > 1 {
		who = who[:len(who)-1]
		title = p.title(string(who) + "…")
	}
	c.FillText(style, vg.Point{X: left, Y: c.Max.Y}, title)
}

func (p panel) title(who string) string {
	if p.when == "" {
		return who
	}
	return who + ", " + p.when
}

// field returns the heat map, with the numbers of columns and rows; row 0 is the uppermost.
func (p panel) field() *plot.Plot {
	f := newPlot()
	f.X.Tick.Marker = cellTicks(p.nx, p.width, func(column float64) float64 { return column })
	f.Y.Tick.Marker = cellTicks(p.ny, p.height, func(row float64) float64 { return float64(p.ny) - row })
	f.Add(plotter.NewImage(p.cells.picture(p.scale), 0, 0, float64(p.nx), float64(p.ny)))
	return f
}

// bar returns the colour bar, with temperatures and their unit.
func (p panel) bar() *plot.Plot {
	b := newPlot()
	b.HideX()
	b.Y.Label.Text, b.Y.Label.TextStyle.Font.Size = p.scale.unit(), 8
	b.Y.Tick.Marker = p.scale.ticks()
	b.Add(&plotter.ColorBar{ColorMap: colours, Vertical: true})
	return b
}

func newPlot() *plot.Plot {
	p := picture.NewPlot()
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Padding, axis.Tick.Length, axis.Tick.Label.Font.Size = 0, 3, 8
	}
	return p
}

// cellTicks returns ticks at round numbers of columns or rows, for a side of a heat map.
func cellTicks(n int, side vg.Length, place func(float64) float64) (ticks plot.ConstantTicks) {
	step := max(1, int(picture.RoundStep(float64(n), max(1, int(side/cellApart)))))
	for t := 0; t <= n; t += step {
		ticks = append(ticks, plot.Tick{Value: place(float64(t)), Label: fmt.Sprint(t)})
	}
	return ticks
}

const (
	shownCells  = 640 // the most cells of a side: a PNG has no more pixels
	sharpPixels = 640 // the least pixels of a side, so that few cells do not blur
)

// A grid is the content of a heat map: ny rows of nx values, row-major.
type grid struct {
	nx, ny int
	values []float64
}

// shrink returns a grid of a field with sides of at most limit cells. Each cell is the maximum of a
// block, square if the size allows it; a mean would hide the hot points of a young field. A NaN makes
// its block NaN.
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

// picture returns the grid in colours. Few cells become blocks of pixels, since pictures are scaled
// smoothly.
func (g grid) picture(s scale) image.Image {
	block := max(1, sharpPixels/max(g.nx, g.ny))
	img := image.NewNRGBA(image.Rect(0, 0, g.nx*block, g.ny*block))
	for y := range g.ny {
		for x := range g.nx {
			c := s.color(g.values[y*g.nx+x])
			for i := range block * block {
				img.Set(x*block+i%block, y*block+i/block, c)
			}
		}
	}
	return img
}

// missing is the colour of NaNs.
var missing = color.NRGBA{R: 128, G: 128, B: 128, A: 255}

func (s scale) color(v float64) color.Color {
	c, err := colours.At(s.place(v))
	if err != nil { // NaN
		return missing
	}
	return c
}

const (
	fewCells   = 32  // a linear scale needs at least this many hot cells
	hotPart    = 0.1 // the part of the range above which a cell is hot
	decades    = 5   // of a logarithmic scale
	barNumbers = 6   // the most numbers beside a colour bar
)

// A scale maps temperatures to places from 0 to 1 on a colour bar.
type scale struct {
	low, high   float64 // degrees
	logarithmic bool    // in degrees above low, over some decades below high − low
}

// scaleOf returns the scale from the lowest to the highest finite value.
func scaleOf(values []float64) scale {
	s := scale{low: math.Inf(1), high: math.Inf(-1)}
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			s.low, s.high = min(s.low, v), max(s.high, v)
		}
	}
	switch {
	case s.low > s.high: // no value at all
		return scale{low: 0, high: 1}
	case s.high-s.low <= 1e-6*max(math.Abs(s.low), math.Abs(s.high)): // nothing but rounding
		middle := s.low/2 + s.high/2
		reach := max(math.Abs(middle)/2, 0.5)
		return scale{low: middle - reach, high: middle + reach}
	}
	hot := each.Count(values, func(v float64) bool { return v > s.low+hotPart*(s.high-s.low) })
	s.logarithmic = hot < min(fewCells, len(values)/fewCells)
	return s
}

// place returns the place of a temperature, or NaN for NaN.
func (s scale) place(v float64) float64 {
	at := (v - s.low) / (s.high - s.low)
	if s.logarithmic {
		at = 1 + math.Log10(max(at, math.Pow10(-decades)))/decades
	}
	return min(max(at, 0), 1)
}

// unit returns the unit of the numbers beside the colour bar.
func (s scale) unit() string {
	if s.logarithmic {
		return "° above " + strconv.FormatFloat(s.low, 'g', 4, 64)
	}
	return "degrees"
}

// ticks returns round numbers on the colour bar.
func (s scale) ticks() (ticks plot.ConstantTicks) {
	if s.logarithmic {
		highest := math.Log10(s.high - s.low)
		for exponent := math.Floor(highest); exponent >= highest-decades; exponent-- {
			label := strconv.FormatFloat(math.Pow10(int(exponent)), 'g', -1, 64)
			ticks = append(ticks, plot.Tick{Value: 1 + (exponent-highest)/decades, Label: label})
		}
		return ticks
	}
	step := picture.RoundStep(s.high-s.low, barNumbers)
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	for i := math.Ceil(s.low/step - 1e-6); i*step <= s.high+1e-6*step; i++ {
		ticks = append(ticks, plot.Tick{Value: s.place(i * step), Label: strconv.FormatFloat(i*step, 'f', decimals, 64)})
	}
	return ticks
}

// inferno holds ten colours of the colour map of that name by N. Smith and S. van der Walt, made for
// matplotlib and free of copyright (CC0). Its lightness grows evenly from black to light yellow, also
// for colour-blind readers.
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

// colours is the colour map of all panels, from 0, cold, to 1, hot, evenly in lightness.
var colours = func() palette.ColorMap {
	m, err := moreland.NewLuminance(inferno)
	if err != nil {
		panic(fmt.Sprintf("diffusion: %v", err))
	}
	m.SetMin(0)
	m.SetMax(1)
	return m
}()
