package matmul

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/spec"
)

// TestBenchTunesKernels: a kernel with finalists is not tuned, the others share two fifths of the
// time limit, and one whose searches all fail does not take part.
func TestBenchTunesKernels(t *testing.T) {
	var tuned, notes []string
	b := Bench{
		Sizes: []int{64, 300}, Kernels: []string{"naive", "local", "tiled"}, Device: device.Listed{Type: "cpu"},
		Began: time.Now(), TimeLimit: time.Hour,
		Note: func(text string) { notes = append(notes, text) },
		Tune: func(_ context.Context, kernel string, s *spec.Spec, n int, limit time.Duration) ([]string, error) {
			tuned = append(tuned, fmt.Sprintf("%s %d %s", kernel, n, limit.Round(time.Minute)))
			if kernel == "tiled" {
				return nil, errors.New("none is correct")
			}
			return []string{s.Problem.KernelName()}, nil
		},
	}
	b.addFinalists("naive", Finalists{N: 64, Configurations: []string{"a"}})
	if err := b.TuneKernels(t.Context()); err != nil {
		t.Fatal(err)
	}
	// No search takes any time: each later one has the share of those before it too.
	if want := []string{"local 128 6m0s", "local 300 8m0s", "tiled 128 12m0s", "tiled 300 24m0s"}; !slices.Equal(tuned, want) {
		t.Errorf("tuned %q, want %q", tuned, want)
	}
	if got := Candidates(b.finalists["local"], 200); len(got) != 1 {
		t.Errorf("finalists of local: %q", got)
	}
	var names []string
	for _, e := range b.entrants() {
		names = append(names, e.Name)
	}
	if want := []string{"CPU loop", "OpenBLAS", "naive", "local", "cuBLAS", "cuBLAS tf32"}; !slices.Equal(names, want) {
		t.Errorf("entrants %q, want %q", names, want)
	}
	if want := []string{
		"tune tiled at N = 128: none is correct", "tune tiled at N = 300: none is correct",
		"tiled is left out: no configuration of it is known to be correct",
	}; !slices.Equal(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
}

func TestBenchIsInterruptedWhileItTunes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	searches := 0
	b := Bench{Sizes: []int{64}, Kernels: Kernels, Began: time.Now(), TimeLimit: time.Hour, Tune: func(context.Context, string, *spec.Spec, int, time.Duration) ([]string, error) {
		searches++
		cancel()
		return nil, context.Canceled
	}}
	if err := b.TuneKernels(ctx); !errors.Is(err, context.Canceled) || searches != 1 {
		t.Errorf("%v after %d searches", err, searches)
	}
}

func TestTables(t *testing.T) {
	cells := []Cell{
		cell(loopName, 32, 1), cell("naive", 32, 2, 4),
		cell(loopName, 64), cell("naive", 64, 0.5, 2),
		cell(loopName, 128, 9), cell("naive", 128, 2, 4),
	}
	cells[1].Measurement.Configuration, cells[5].Measurement.Configuration = "x=1", "x=1"
	tables := Tables(cells)
	if got := fmt.Sprint(tables[2].Head, tables[2].Rows); len(tables) != 4 || got != "[N CPU loop naive] [[32 1.000ms 4.000ms] [64 – 2.000ms] [128 9.000ms 4.000ms]]" {
		t.Errorf("%d tables; with copies %s", len(tables), got)
	}
	if got := fmt.Sprint(Wins(cells).Rows); got != "[[naive CPU loop 128 128 32 to 128]]" {
		t.Errorf("wins %s", got)
	}
	if got := fmt.Sprint(Configurations(cells), LeftOut(cells)); got != "[{naive x=1 [32 128]}] [{CPU loop left out [64]}]" {
		t.Errorf("remarks %s", got)
	}
}
