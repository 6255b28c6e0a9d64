// Package picture holds the parts that all pictures of ndtune share: sheets that are written as
// .png, .svg or .pdf by the extension of a file, one palette, and axes with round numbers.
package picture

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/ndtune/ndtune/internal/files"
)

// dpi is the resolution of a PNG, in pixels per inch.
const dpi = 160

// Margin is the white border around a picture.
const Margin = vg.Length(10)

var canvases = map[string]func(vg.Point) vg.CanvasWriterTo{
	".png": func(size vg.Point) vg.CanvasWriterTo {
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(size.X, size.Y), vgimg.UseDPI(dpi))}
	},
	".svg": func(size vg.Point) vg.CanvasWriterTo { return vgsvg.New(size.X, size.Y) },
	".pdf": func(size vg.Point) vg.CanvasWriterTo { return vgpdf.New(size.X, size.Y) },
}

func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// Is reports whether path has the extension of a picture, in upper or lower case.
func Is(path string) bool { return canvases[extension(path)] != nil }

// Check returns an error that lists the extensions of pictures unless [Is] holds for path.
func Check(path string) error {
	if !Is(path) {
		return fmt.Errorf("%s: a picture is a .png, .svg or .pdf", path)
	}
	return nil
}

// Save draws a picture and writes it in the format that the extension of path names. An existing file is replaced only once the
// picture is complete.
func Save(path string, size vg.Point, paint func(draw.Canvas)) error {
	if err := Check(path); err != nil {
		return err
	}
	return files.Write(path, func(w io.Writer) error {
		canvas := canvases[extension(path)](size)
		paint(draw.New(canvas))
		_, err := canvas.WriteTo(w)
		return err
	})
}

// Inside is a canvas without its [Margin].
func Inside(c draw.Canvas) draw.Canvas { return draw.Crop(c, Margin, -Margin, Margin, -Margin) }
