package diffusion

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// phases are three moments of a small field.
func phases(t testing.TB, nx, ny int) []Phase {
	t.Helper()
	f := NewField(nx, ny, 1)
	var list []Phase
	for _, steps := range []int{0, 100, 200} {
		if _, err := Advance(context.Background(), f, steps, testDT, 0); err != nil {
			t.Fatal(err)
		}
		list = append(list, Phase{Name: fmt.Sprintf("after %d more steps", steps), Device: f.Clone(), CPU: f.Clone()})
	}
	return list
}

func decode(t testing.TB, path string) image.Image {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// colourCount is how many colours a picture has.
func colourCount(img image.Image) int {
	seen := map[[3]uint32]bool{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}] = true
		}
	}
	return len(seen)
}

func TestPlotDrawsEveryPhase(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing runs side by side")
	}
	path := filepath.Join(t.TempDir(), "diffusion.png")
	if err := Plot(path, "A Device", phases(t, 90, 60)); err != nil {
		t.Fatal(err)
	}
	three := decode(t, path)
	if b := three.Bounds(); b.Dx() < 1600 || b.Dx() > 2000 || b.Dy() < 1200 || b.Dy() > 2000 {
		t.Errorf("the picture has %d × %d pixels", b.Dx(), b.Dy())
	}
	if n := colourCount(three); n < 500 {
		t.Errorf("the picture has %d colours only", n)
	}

	one := phases(t, 90, 60)[1:2]
	one[0].CPU = nil
	if err := Plot(path, "A Device", one); err != nil {
		t.Fatal(err)
	}
	if b := decode(t, path).Bounds(); b.Dx() > three.Bounds().Dx()*2/3 || b.Dy() > three.Bounds().Dy()/2 {
		t.Errorf("one panel of six has %d × %d pixels", b.Dx(), b.Dy())
	}
}

// TestPlotTakesAnyField: sizes at the limits, flat fields, and those with what is no number.
func TestPlotTakesAnyField(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing runs side by side")
	}
	path := filepath.Join(t.TempDir(), "diffusion.png")
	flat := randomField(20, 20, 5, 5, 1)
	broken := randomField(20, 20, 0, 1, 1)
	broken.Values[7], broken.Values[8] = float32(math.NaN()), float32(math.Inf(-1))
	nothing := randomField(3, 3, 0, 1, 1)
	for i := range nothing.Values {
		nothing.Values[i] = float32(math.NaN())
	}
	for name, f := range map[string]*Field{
		"flat": flat, "broken": broken, "nothing": nothing,
		"zero": {NX: 2, NY: 2, Values: make([]float32, 4)},
		"1×1":  NewField(1, 1, 1), "1×5000": NewField(1, 5000, 1), "5000×2": NewField(5000, 2, 1),
		"3×1": randomField(3, 1, -1e30, 1e30, 1), "tiny": randomField(9, 9, 1e-30, 2e-30, 1), "new": NewField(700, 900, 1),
	} {
		if err := Plot(path, strings.Repeat("a long name ", 20), []Phase{{Name: name, Device: f, CPU: f}}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if b := decode(t, path).Bounds(); b.Dx() > 2500 || b.Dy() > 1200 {
			t.Errorf("%s: the picture has %d × %d pixels", name, b.Dx(), b.Dy())
		}
	}
}

func TestPlotWritesWhatTheExtensionSays(t *testing.T) {
	for extension, begins := range map[string]string{
		".png": "\x89PNG", ".PNG": "\x89PNG", ".svg": "<?xml", ".pdf": "%PDF",
	} {
		path := filepath.Join(t.TempDir(), "diffusion"+extension)
		if err := Plot(path, "A Device", phases(t, 30, 20)[1:2]); err != nil {
			t.Error(err)
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, []byte(begins)) {
			t.Errorf("%s begins with %q", extension, data[:min(8, len(data))])
		}
	}
}

func TestPlotRefuses(t *testing.T) {
	field := NewField(5, 5, 1)
	there := filepath.Join(t.TempDir(), "diffusion.png")
	for _, c := range []struct {
		path   string
		phases []Phase
		says   string
	}{
		{there, nil, "nothing to plot"},
		{there, []Phase{{Name: "empty"}}, "nothing to plot"},
		{there, []Phase{{Name: "broken", CPU: &Field{NX: 2, NY: 2}}}, "CPU, broken"},
		{there + ".jpg", []Phase{{CPU: field}}, ".png, .svg or .pdf"},
		{"diffusion", []Phase{{CPU: field}}, ".png, .svg or .pdf"},
		{filepath.Join(there, "in", "no", "folder.png"), []Phase{{CPU: field}}, "folder.png"},
	} {
		if err := Plot(c.path, "A Device", c.phases); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s, %v: %v", c.path, c.phases, err)
		}
	}
}

func TestShrinkKeepsHotPoints(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {640, 640}, {641, 3}, {1000, 1500}, {3, 9000}} {
		f := NewField(size[0], size[1], 3)
		g := shrink(f, shownCells)
		if g.nx > shownCells || g.ny > shownCells || len(g.values) != g.nx*g.ny {
			t.Errorf("%v: %d × %d cells, %d values", size, g.nx, g.ny, len(g.values))
		}
		if hottest := slices.Max(g.values); hottest != hotspot {
			t.Errorf("%v: the hottest is %v", size, hottest)
		}
	}
}

func TestScale(t *testing.T) {
	field := func(steps int) []float64 {
		f := NewField(512, 512, 6)
		if _, err := Advance(context.Background(), f, steps, testDT, 0); err != nil {
			t.Fatal(err)
		}
		return shrink(f, shownCells).values
	}
	for name, c := range map[string]struct {
		values      []float64
		logarithmic bool
	}{
		"new":       {field(0), true},
		"after 500": {field(500), false},
		"flat":      {make([]float64, 5000), false},
		"few":       {[]float64{1, 2, 3}, false},
	} {
		s := scaleOf(c.values)
		if s.logarithmic != c.logarithmic {
			t.Errorf("%s: %+v", name, s)
		}
		if at := s.place(s.high); at != 1 {
			t.Errorf("%s: the hottest is at %v", name, at)
		}
		if at := s.place(s.low); at != 0 {
			t.Errorf("%s: the coldest is at %v", name, at)
		}
		ticks := s.ticks()
		if len(ticks) < 2 || len(ticks) > barNumbers+1 {
			t.Errorf("%s: ticks %v", name, ticks)
		}
		for i, tick := range ticks {
			if tick.Value < 0 || tick.Value > 1 || (i > 0 && tick.Label == ticks[i-1].Label) {
				t.Errorf("%s: ticks %v", name, ticks)
			}
		}
	}
}
