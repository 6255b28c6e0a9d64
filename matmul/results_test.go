package matmul

import (
	"bytes"
	"encoding/csv"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/picture"
)

func cell(entrant string, n int, ms ...float64) Cell {
	c := Cell{Entrant: entrant, Shape: Square(n)}
	if len(ms) == 0 {
		c.Why = "left out"
		return c
	}
	c.Measurement = &Measurement{Shape: Square(n), Alone: ms[:1], RoundTrips: ms[1:]}
	return c
}

func TestCrossover(t *testing.T) {
	cells := []Cell{
		cell("cpu", 32, 1), cell("gpu", 32, 2, 4), cell("lib", 32),
		cell("cpu", 64, 3), cell("gpu", 64, 2, 4), cell("lib", 64, 5),
		cell("cpu", 128, 5), cell("gpu", 128, 2, 5), cell("lib", 128, 5),
		cell("cpu", 256, 6), cell("gpu", 256, 2, 5), cell("lib", 256, 1),
		cell("cpu", 512), cell("gpu", 512, 9, 9), cell("lib", 512),
	}
	for _, test := range []struct {
		entrant, over string
		transfers     bool
		want          Crossover
	}{
		{"gpu", "cpu", false, Crossover{64, 32, 256}},
		{"gpu", "cpu", true, Crossover{256, 32, 256}}, // a draw at 128 is no win
		{"cpu", "gpu", false, Crossover{0, 32, 256}},
		{"gpu", "lib", false, Crossover{0, 64, 256}}, // lost again at the largest
		{"lib", "gpu", false, Crossover{256, 64, 256}},
		{"gpu", "nobody", false, Crossover{}},
		{"gpu", "gpu", false, Crossover{0, 32, 512}},
	} {
		if got := CrossoverOf(cells, test.entrant, test.over, test.transfers); got != test.want {
			t.Errorf("%+v: %+v", test, got)
		}
	}
}

func TestCandidates(t *testing.T) {
	tuned := []Finalists{{Square(256), []string{"a", "b"}}, {Square(1024), []string{"b", "c"}}, {Square(4096), []string{"d"}}}
	for _, test := range []struct {
		s    Shape
		want string
	}{
		{Square(32), "ab cd"}, {Square(256), "ab cd"}, {Square(300), "abc d"}, {Square(1024), "bc ad"}, {Square(2048), "bcd a"},
		{Square(8192), "d bca"}, {Shape{1, 4096, 4096}, "ab cd"}, {Shape{1024, 256, 4096}, "bc ad"},
	} {
		if c := candidatesOf(tuned, test.s); joined(c) != test.want {
			t.Errorf("%v: %s, want %s", test.s, joined(c), test.want)
		}
	}
	odd := append(slices.Clone(tuned), Finalists{Shape{4095, 4097, 4099}, []string{"f"}})
	if got := joined(candidatesOf(odd, Square(8192))); got != "df bca" {
		t.Errorf("with an odd shape about as large as the nearest: %s", got)
	}
	unknown := append(slices.Clone(tuned), Finalists{Configurations: []string{"e", "a"}})
	if got := joined(candidatesOf(unknown, Square(4096))); got != "dea bc" {
		t.Errorf("with a record of an unknown size: %s", got)
	}
	if got := joined(candidatesOf(nil, Square(32))); got != " " {
		t.Errorf("of nothing: %q", got)
	}
}

func joined(c Candidates) string { return strings.Join(c.Near, "") + " " + strings.Join(c.Others, "") }

func TestRate(t *testing.T) {
	if got := Square(1000).Rate(2); got != 1000 {
		t.Errorf("2·1000³ operations in 2 ms are %v GFLOP/s, not 1000", got)
	}
	if got := (Shape{100, 1000, 10000}).Rate(0); got != 0 {
		t.Errorf("in no time: %v", got)
	}
}

func TestCSV(t *testing.T) {
	kernel := cell("fast, \"or so\"", 64, 0.5, 1.5)
	kernel.Measurement.Alone = []float64{3, 0.5, 1}
	kernel.Measurement.Configuration = "x=1, y=2"
	kernel.Measurement.HostTimer = true
	var out bytes.Buffer
	kernel.Precision, kernel.Measurement.Errors = Half, []Errors{{0.25, 0.5}, {1, 2}, {3, 4}}
	kernel.Shape = Shape{32, 64, 128}
	if err := EncodeCSV(&out, []Cell{cell("cpu", 1000, 4), kernel, cell("lib", 64)}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"entrant", "precision", "m", "n", "k", "time_ms", "time_min_ms", "runs", "gflops", "with_transfers_ms", "with_transfers_min_ms", "with_transfers_runs", "with_transfers_gflops", "configuration", "host_timer", "left_out", "normal_rms", "normal_max", "uniform_rms", "uniform_max", "scaled_rms", "scaled_max"},
		{"cpu", "", "1000", "1000", "1000", "4", "4", "1", "500", "", "", "", "", "", "", "", "", "", "", "", "", ""},
		{"fast, \"or so\"", "half", "32", "64", "128", "1", "0.5", "3", "0.524288", "1.5", "1.5", "1", "0.3495253333333333", "x=1, y=2", "true", "", "0.25", "0.5", "1", "2", "3", "4"},
		{"lib", "", "64", "64", "64", "", "", "", "", "", "", "", "", "", "", "left out", "", "", "", "", "", ""},
	}
	if !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("%q", rows)
	}
}

// cellsToPlot are of ten entrants, more than there are colours.
func cellsToPlot() []Cell {
	var cells []Cell
	for _, n := range doubling(32, 1024) {
		for e := range 10 {
			ms := float64(n) * float64(n) * float64(n) / 1e9 * float64(e+1)
			cells = append(cells, cell(strings.Repeat("e", e+1), n, ms, ms+0.01))
		}
	}
	return append(cells, cell("e", 2048))
}

// TestPlot: the picture has a panel in its left half and one in its right, each with lines of
// several colours.
func TestPlot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "matmul.png")
	if err := Plot(path, "A Device", cellsToPlot()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	b := decoded.Bounds()
	if b.Dx() < 1500 || b.Dy() < 600 {
		t.Fatalf("%d × %d pixels", b.Dx(), b.Dy())
	}
	for name, x := range map[string][2]int{"left": {0, b.Dx() * 2 / 5}, "right": {b.Dx() / 2, b.Dx() * 3 / 4}} {
		seen := coloursIn(decoded, image.Rect(x[0], 0, x[1], b.Dy()))
		for _, c := range picture.Palette {
			if !seen[c] {
				t.Errorf("the %s panel has no line of %v", name, c)
			}
		}
	}
}

func coloursIn(picture image.Image, area image.Rectangle) map[color.NRGBA]bool {
	seen := map[color.NRGBA]bool{}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			seen[color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)] = true
		}
	}
	return seen
}

func TestPlotWritesWhatTheExtensionSays(t *testing.T) {
	for extension, begins := range map[string]string{".PNG": "\x89PNG", ".svg": "<?xml", ".pdf": "%PDF"} {
		path := filepath.Join(t.TempDir(), "matmul"+extension)
		one := []Cell{cell("a", 64, 0.25, 1), cell("clock that stands still", 64, 0)}
		if err := Plot(path, "A Device", one); err != nil {
			t.Error(err)
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(data, []byte(begins)) {
			t.Errorf("%s begins with %q, %v", extension, data[:min(8, len(data))], err)
		}
	}
	if err := Plot(filepath.Join(t.TempDir(), "x.png"), "", []Cell{cell("a", 64)}); err == nil || !strings.Contains(err.Error(), "nothing was measured") {
		t.Errorf("%v", err)
	}
}
