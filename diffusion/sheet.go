package diffusion

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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
)

// A sheet is the panels of a picture in rows and columns, all of one size.
type sheet struct {
	rows    [][]panel
	columns int
	cell    vg.Point // of one panel with its title, ticks and colour bar
}

func newSheet(rows [][]panel) sheet {
	s := sheet{rows: rows}
	for _, row := range rows {
		s.columns = max(s.columns, len(row))
		for _, p := range row {
			s.cell.X = max(s.cell.X, leftTicks+p.width+barGap+barWide+barTicks, titleLeast)
			s.cell.Y = max(s.cell.Y, titleHigh+max(p.height, panelHigh)+lowerTicks)
		}
	}
	return s
}

// size is the size of the picture.
func (s sheet) size() vg.Point {
	columns, rows := vg.Length(s.columns), vg.Length(len(s.rows))
	return vg.Point{
		X: 2*margin + columns*s.cell.X + (columns-1)*columnGap,
		Y: 2*margin + rows*s.cell.Y + (rows-1)*rowGap,
	}
}

func (s sheet) draw(c draw.Canvas) {
	for i, row := range s.rows {
		for j, p := range row {
			left := c.Min.X + margin + vg.Length(j)*(s.cell.X+columnGap)
			top := c.Max.Y - margin - vg.Length(i)*(s.cell.Y+rowGap)
			p.draw(c, vg.Rectangle{
				Min: vg.Point{X: left, Y: top - s.cell.Y},
				Max: vg.Point{X: left + s.cell.X, Y: top},
			})
		}
	}
}
