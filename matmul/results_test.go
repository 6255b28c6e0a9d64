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
	c := Cell{Entrant: entrant, N: n}
	if len(ms) == 0 {
		c.Why = "left out"
		return c
	}
	c.Measurement = &Measurement{N: n, Alone: ms[:1], RoundTrips: ms[1:]}
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
	tuned := []Finalists{{256, []string{"a", "b"}}, {1024, []string{"b", "c"}}, {4096, []string{"d"}}}
	for _, test := range []struct {
		n    int
		want string
	}{
		{32, "ab"}, {256, "ab"}, {300, "abc"}, {1024, "bc"}, {2048, "bcd"}, {4096, "d"}, {8192, "d"},
	} {
		if got := strings.Join(Candidates(tuned, test.n), ""); got != test.want {
			t.Errorf("N = %d: %s, want %s", test.n, got, test.want)
		}
	}
	unknown := append(slices.Clone(tuned), Finalists{0, []string{"e", "a"}})
	if got := strings.Join(Candidates(unknown, 4096), ""); got != "dea" {
		t.Errorf("with a record of an unknown size: %s", got)
	}
	if got := Candidates(nil, 32); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestRate(t *testing.T) {
	if got := Rate(1000, 2); got != 1000 {
		t.Errorf("2·1000³ operations in 2 ms are %v GFLOP/s, not 1000", got)
	}
	if got := Rate(1000, 0); got != 0 {
		t.Errorf("in no time: %v", got)
	}
}

func TestCSV(t *testing.T) {
	kernel := cell("fast, \"or so\"", 64, 0.5, 1.5)
	kernel.Measurement.Alone = []float64{3, 0.5, 1}
	kernel.Measurement.Configuration = "x=1, y=2"
	kernel.Measurement.HostTimer = true
	var out bytes.Buffer
	if err := EncodeCSV(&out, []Cell{cell("cpu", 1000, 4), kernel, cell("lib", 64)}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"entrant", "n", "time_ms", "time_min_ms", "runs", "gflops", "with_transfers_ms", "with_transfers_min_ms", "with_transfers_runs", "with_transfers_gflops", "configuration", "host_timer", "left_out"},
		{"cpu", "1000", "4", "4", "1", "500", "", "", "", "", "", "", ""},
		{"fast, \"or so\"", "64", "1", "0.5", "3", "0.524288", "1.5", "1.5", "1", "0.3495253333333333", "x=1, y=2", "true", ""},
		{"lib", "64", "", "", "", "", "", "", "", "", "", "", "left out"},
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
