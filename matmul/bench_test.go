package matmul

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/spec"
)

// TestBenchTunesKernels: a kernel with finalists is not tuned, the others share two fifths of the
// time limit, and one whose searches all fail does not take part.
func TestBenchTunesKernels(t *testing.T) {
	var tuned, notes []string
	b := Bench{
		Sizes: squares([]int{64, 304}), Kernels: []string{"naive", "local", "tiled"}, Devices: listed(hardware.Device{Type: "cpu"}),
		Began: time.Now(), TimeLimit: time.Hour,
		Note: func(text string) { notes = append(notes, text) },
		Tune: func(_ context.Context, kernel string, s *spec.Spec, shape Shape, limit time.Duration) ([]string, error) {
			tuned = append(tuned, fmt.Sprintf("%s %v %s", kernel, shape, limit.Round(time.Minute)))
			if kernel == "tiled" {
				return nil, errors.New("none is correct")
			}
			return []string{s.Problem.KernelName()}, nil
		},
	}
	b.addFinalists("naive", Finalists{Shape: Square(64), Configurations: []string{"a"}})
	if err := b.TuneKernels(t.Context()); err != nil {
		t.Fatal(err)
	}
	// No search takes any time: each later one has the share of those before it too.
	if want := []string{"local 128 6m0s", "local 304 8m0s", "tiled 128 12m0s", "tiled 304 24m0s"}; !slices.Equal(tuned, want) {
		t.Errorf("tuned %q, want %q", tuned, want)
	}
	if got := candidatesOf(b.finalists["local"], Square(200)).Near; len(got) != 1 {
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
		"tune tiled at N = 128: none is correct", "tune tiled at N = 304: none is correct",
		"tiled is left out: no configuration of it is known to be correct",
	}; !slices.Equal(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
}

func listed(all ...hardware.Device) (devices []device.Listed) {
	for i := range all {
		l := device.Listed{Name: all[i].Name, Type: all[i].Type, Identity: &all[i]}
		if all[i].IsCUDA() {
			l.Platform = device.CUDAPlatform
		}
		devices = append(devices, l)
	}
	return devices
}

// TestBenchChoosesLanguages: an entrant for each kernel and language that there is, on the device of the language.
func TestBenchChoosesLanguages(t *testing.T) {
	openCL, cuda := hardware.Device{Name: "in OpenCL"}, hardware.Device{Name: "in CUDA", Platform: hardware.CUDA}
	for _, test := range []struct {
		devices       []hardware.Device
		names         []string
		kernels, note string
		refused       bool
	}{
		{[]hardware.Device{openCL}, []string{"tiled", "fast"}, "tiled, fast", "", false},
		{[]hardware.Device{cuda}, []string{"tiled", "fast"}, "tiled, CUDA C", "fast is left out: the kernel matmul_kernel is written in OpenCL C, not in CUDA C", false},
		{[]hardware.Device{openCL, cuda}, []string{"tiled", "fast"}, "tiled, tiled, CUDA C, fast", "", false},
		{[]hardware.Device{cuda}, []string{"fast"}, "", "", true},
	} {
		var notes []string
		b := Bench{Devices: listed(test.devices...), Note: func(text string) { notes = append(notes, text) }}
		err := b.Choose(test.names)
		if (err != nil) != test.refused || strings.Join(b.Kernels, ", ") != test.kernels || strings.Join(notes, "\n") != test.note {
			t.Errorf("%v: %v, %q, %q", test, err, b.Kernels, notes)
		}
		for _, kernel := range b.Kernels {
			b.addFinalists(kernel, Finalists{Configurations: []string{"a"}})
		}
		for _, e := range b.entrants() {
			k, err := kernelNamed(e.Name)
			if err == nil && e.Device != b.DeviceFor(k.Language).Selector() {
				t.Errorf("%s on %s", e.Name, e.Device)
			}
		}
	}
}

// TestBenchReplacesKernels: on a CPU, kernels for tensor cores are replaced before they are tuned, and a kernel whose searches
// fail afterwards.
func TestBenchReplacesKernels(t *testing.T) {
	var tuned, notes []string
	b := Bench{
		Sizes: []Shape{{33, 65, 97}}, Kernels: []string{"hopper", "hopper-half", "double", "tf32"},
		Devices: listed(hardware.Device{Name: "Some CPU", Vendor: "Some", Type: "cpu"}),
		Began:   time.Now(), TimeLimit: time.Hour,
		Note: func(text string) { notes = append(notes, text) },
		Tune: func(_ context.Context, kernel string, _ *spec.Spec, shape Shape, _ time.Duration) ([]string, error) {
			tuned = append(tuned, fmt.Sprint(kernel, " ", shape))
			return []string{"a"}, nil
		},
	}
	if err := b.TuneKernels(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"fast 33×65×97", "fast-half 33×65×97", "fast-double 33×65×97"}; !slices.Equal(tuned, want) {
		t.Errorf("tuned %q, want %q", tuned, want)
	}
	if want := []string{
		"hopper: no configuration is for Some CPU; the kernel fast takes its place",
		"hopper-half: no configuration is for Some CPU; the kernel half takes its place",
		"half: no configuration is for Some CPU; the kernel fast-half takes its place",
		"double: no configuration is for Some CPU; the kernel fast-double takes its place",
		"tf32: no configuration is for Some CPU; the kernel fast takes its place",
	}; !slices.Equal(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
	var names []string
	for _, e := range b.entrants() {
		names = append(names, e.Name)
	}
	want := []string{"CPU loop", "OpenBLAS", "fast", "fast-half", "fast-double", "cuBLAS", "cuBLAS tf32", "cuBLAS half", "cuBLAS double"}
	if !slices.Equal(names, want) {
		t.Errorf("entrants %q, want %q", names, want)
	}

	b.Devices = listed(hardware.Device{Name: "Some card", Vendor: "NVIDIA", ComputeMajor: 8})
	b.Kernels, b.finalists, notes = []string{"tf32"}, nil, nil
	b.Tune = func(_ context.Context, kernel string, _ *spec.Spec, _ Shape, _ time.Duration) ([]string, error) {
		if kernel == "tf32" {
			return nil, errors.New("none is correct")
		}
		return []string{"a"}, nil
	}
	if err := b.TuneKernels(t.Context()); err != nil || !slices.Equal(b.Kernels, []string{"fast"}) || len(notes) != 2 ||
		notes[1] != "tf32: no configuration of it is known to be correct; the kernel fast takes its place" {
		t.Errorf("%v, %q, %q", err, b.Kernels, notes)
	}
}

func TestBenchIsInterruptedWhileItTunes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	searches := 0
	b := Bench{Sizes: squares([]int{64}), Kernels: KernelNames(), Devices: listed(hardware.Device{}), Began: time.Now(), TimeLimit: time.Hour}
	b.Tune = func(context.Context, string, *spec.Spec, Shape, time.Duration) ([]string, error) {
		searches++
		cancel()
		return nil, context.Canceled
	}
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
	want := "[N CPU loop naive] [[32 1.000ms 4.000ms] [64 – 2.000ms] [128 9.000ms 4.000ms]]"
	if got := fmt.Sprint(tables[2].Head, tables[2].Rows); len(tables) != 4 || got != want {
		t.Errorf("%d tables; with copies %s", len(tables), got)
	}
	if got := RatioTables(cells); len(got) != 0 {
		t.Errorf("without cuBLAS and errors there are %v", got)
	}
	with := []Cell{cell("CPU loop", 64, 4), cell("fast-half", 64, 2), cell("cuBLAS", 64, 1), cell("cuBLAS half", 64, 3)}
	for i, p := range []Precision{Float, Half, Float, Half} {
		with[i].Precision = p
	}
	with[1].Measurement.Errors = []Errors{{0.001, 0.002}}
	if got := fmt.Sprint(RatioTables(with)); got != "[{ multiplication alone, rate over cuBLAS in the same precision "+
		"[N CPU loop fast-half] [true true true] [[64 0.2500 1.500]] []} "+
		"{ errors over Σ|a·b|: root of the mean square / maximum "+
		"[N data CPU loop fast-half cuBLAS cuBLAS half] [true true true true true true] [[64 normal – 1.0e-03 / 2.0e-03 – –]] []}]" {
		t.Errorf("%s", got)
	}
	if got := fmt.Sprint(Wins(cells).Rows); got != "[[naive CPU loop 128 128 32 to 128]]" {
		t.Errorf("wins %s", got)
	}
	if got := fmt.Sprint(Configurations(cells), LeftOut(cells)); got != "[{naive x=1 [32 128]}] [{CPU loop left out [64]}]" {
		t.Errorf("remarks %s", got)
	}
}
