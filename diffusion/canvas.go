package diffusion

import (
	"fmt"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// plotDPI gives a heat map of a PNG 640 pixels a side.
const plotDPI = 160

// canvases make a white sheet, by the extension of the file.
var canvases = map[string]func(vg.Point) vg.CanvasWriterTo{
	".png": func(size vg.Point) vg.CanvasWriterTo {
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(size.X, size.Y), vgimg.UseDPI(plotDPI))}
	},
	".svg": func(size vg.Point) vg.CanvasWriterTo { return vgsvg.New(size.X, size.Y) },
	".pdf": func(size vg.Point) vg.CanvasWriterTo { return vgpdf.New(size.X, size.Y) },
}

// CheckPlotPath says whether [Plot] knows the extension of path, so that a bad one is found
// before anything is computed.
func CheckPlotPath(path string) error {
	if canvases[extension(path)] == nil {
		return fmt.Errorf("%s: a picture is a .png, .svg or .pdf", path)
	}
	return nil
}

// newCanvas is a white sheet for a path that was checked.
func newCanvas(size vg.Point, path string) vg.CanvasWriterTo { return canvases[extension(path)](size) }

func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }
