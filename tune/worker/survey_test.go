package worker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/device/peak"
	"github.com/ndtune/ndtune/tune/hardware"
)

// testSurvey measures the test device with a function that is told of each part.
func testSurvey(t *testing.T, o PeakOptions, faults ...string) *survey {
	t.Helper()
	d := testDevice(t)
	r := NewReserve(nil)
	t.Cleanup(r.Close)
	s := newSurvey(r, d.Selector(), testIdentity(t), o)
	// Long launches are few: what the figures are does not matter here.
	s.reserve.host.Environment = []string{standin.FaultsVariable + "=" + strings.Join(append(faults, "peak_arithmetic takes 20000000"), ";")}
	return s
}

// peaksOf are the figures of the parts of these names.
func peaksOf(t *testing.T, parts ...string) []string {
	t.Helper()
	var figures []string
	for _, p := range peak.Parts() {
		if slices.Contains(parts, p.Name) {
			figures = append(figures, p.Figures...)
		}
	}
	if len(figures) == 0 {
		t.Fatalf("no part is named %s", parts)
	}
	return figures
}

func TestAWorkerMeasuresPeaks(t *testing.T) {
	s := testSurvey(t, PeakOptions{})
	var begun []string
	s.options.Begin = func(part string, number int) {
		if begun = append(begun, part); number != len(begun) {
			t.Errorf("%s is part %d", part, number)
		}
	}
	p, err := s.run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if s.reserve.host.Started != 1 || len(begun) != len(peak.Parts()) {
		t.Errorf("%d workers began %v", s.reserve.host.Started, begun)
	}
	for _, f := range hardware.PeakFigures() {
		figure, known := p.Figures[f.Name]
		if !known || (figure.Value > 0) == (figure.Missing != "") || figure.Unit != f.Unit {
			t.Errorf("%s: %+v", f.Name, figure)
		}
	}
	if p.Value(hardware.PeakFloat32) == 0 || p.Value(hardware.PeakMemoryCopy) == 0 || p.Method != peak.Method || p.Timer == "" || len(p.Copy) == 0 || len(p.Read) == 0 {
		t.Errorf("%+v", p)
	}
}

// A worker that dies costs the part that it was at; another goes on.
func TestADeadWorkerCostsAPart(t *testing.T) {
	const part = "copying"
	s := testSurvey(t, PeakOptions{}, "peak_copy crashes")
	p, err := s.run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if s.reserve.host.Started != 2 {
		t.Errorf("%d workers, want 2", s.reserve.host.Started)
	}
	for _, name := range peaksOf(t, part) {
		if why := p.Figures[name].Missing; !strings.HasPrefix(why, "the process ended ") || p.Value(name) != 0 {
			t.Errorf("%s: %+v", name, p.Figures[name])
		}
	}
	for _, name := range peaksOf(t, "arithmetic in float32", "reading") {
		if p.Value(name) == 0 {
			t.Errorf("%s: %+v", name, p.Figures[name])
		}
	}
}

// Where no other worker can be had for one that died, what was measured stands.
func TestWhatWasMeasuredStands(t *testing.T) {
	s := testSurvey(t, PeakOptions{}, "peak_copy crashes")
	s.options.Begin = func(part string, _ int) {
		if part == "copying" {
			s.hello.Device.Name = "another" // the next worker does not find it
		}
	}
	p, err := s.run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if p.Value(hardware.PeakFloat32) == 0 || len(p.Figures) != len(hardware.PeakFigures()) {
		t.Errorf("%+v", p)
	}
	for _, name := range peaksOf(t, "reading") {
		if why := p.Figures[name].Missing; !strings.HasPrefix(why, "not tried: ") || !strings.Contains(why, "another in the program") {
			t.Errorf("%s: %+v", name, p.Figures[name])
		}
	}
}

func TestWorkersThatTakeTooLong(t *testing.T) {
	s := testSurvey(t, PeakOptions{})
	s.timeout = time.Millisecond
	s.reserve.host.Environment = []string{standin.FaultsVariable + "=peak_arithmetic hangs; peak_fill hangs"}
	p, err := s.run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "it took longer than 1ms") || !strings.Contains(err.Error(), "not tried") {
		t.Errorf("%v, %+v", err, p)
	}
}

func TestMeasuringPeaksCanBeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := testSurvey(t, PeakOptions{Begin: func(string, int) { cancel() }})
	if p, err := s.run(ctx); !errors.Is(err, context.Canceled) || p != nil {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestADeviceThatIsNotThere(t *testing.T) {
	d := testIdentity(t)
	d.Name = "another"
	r := NewReserve(nil)
	defer r.Close()
	p, err := newSurvey(r, testDevice(t).Selector(), d, PeakOptions{}).run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "another in the program") {
		t.Errorf("%+v, %v", p, err)
	}
}

// Named figures are measured, and what comes with them.
func TestSomePeaks(t *testing.T) {
	s := testSurvey(t, PeakOptions{Figures: []string{hardware.PeakMemoryCopy}})
	p, err := s.run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if p.Value(hardware.PeakMemoryCopy) == 0 || p.Value(hardware.PeakFloat32) != 0 || len(p.Copy) == 0 || len(p.Read) > 0 || p.Timer == "" {
		t.Errorf("%+v", p)
	}
}
