package diffusion

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ndtune/ndtune/internal/picture"
)

// A Phase is one row of a picture: the field at a moment, as the device and as the CPU
// computed it.
type Phase struct {
	Name   string // «after 1000 steps»
	Device *Field // nil: left out
	CPU    *Field // nil: left out
}

// Plot draws the phases, one a row, the device beside the CPU, and writes the picture to path:
// a PNG, or by its extension an .svg or a .pdf. Device is the device's name for the titles.
//
// Each panel has a colour scale of its own, over the temperatures that it shows: of the first
// 1000 degrees soon only a few are left. The scale is logarithmic, in degrees above the coldest
// cell, where a few hot cells would leave all else in the dark on a linear one. Fields of more
// than 640 cells a side are shown by the maxima of square blocks of cells.
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
	sheet := newSheet(rows)
	return picture.Save(path, sheet.size(), sheet.draw)
}

// panelRows are the panels of the phases, row by row.
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
