package picture

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func TestSave(t *testing.T) {
	for name, begins := range map[string]string{"a.png": "\x89PNG", "b.SVG": "<?xml", "c.Pdf": "%PDF"} {
		path := filepath.Join(t.TempDir(), name)
		if err := Save(path, vg.Point{X: vg.Centimeter, Y: vg.Centimeter}, func(draw.Canvas) {}); err != nil {
			t.Error(err)
			continue
		}
		if data, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(data), begins) {
			t.Errorf("%s begins with %.8q, %v", name, data, err)
		}
	}
	for _, path := range []string{"", "png", "a.png/b", "a.jpeg"} {
		if err := Save(path, vg.Point{}, func(draw.Canvas) { t.Errorf("%q: drawn", path) }); err == nil {
			t.Errorf("%q is taken for a picture", path)
		}
	}
}

func labels(ticks []plot.Tick) (texts []string) {
	for _, t := range ticks {
		texts = append(texts, t.Label)
	}
	return texts
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		ticks    func(low, top float64) []plot.Tick
		low, top float64
		want     string
	}{
		{LogTicks, 1e-4, 10, "0.0001 0.001 0.01 0.1 1 10"},
		{LogTicks, 200, 3000, "200 300 500 1000 2000 3000"},
		{LogTicks, 2, 9, "2 3 4 5 6 8"},
		{DoublingTicks, 32, 8192, "32 64 128 256 512 1024 2048 4096 8192"},
	} {
		if got := strings.Join(labels(c.ticks(c.low, c.top)), " "); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.low, c.top, got, c.want)
		}
	}
}

func TestRoundStep(t *testing.T) {
	for _, c := range []struct {
		span float64
		most int
		want float64
	}{
		{10, 10, 1}, {10, 9, 2}, {1, 5, 0.2}, {0.35, 6, 0.1}, {1024, 8, 200}, {6e-7, 3, 2e-7}, {1e30, 3, 5e29},
	} {
		if got := RoundStep(c.span, c.most); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%v in at most %d: %v, want %v", c.span, c.most, got, c.want)
		}
	}
}
