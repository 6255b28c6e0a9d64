package diffusion

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

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
