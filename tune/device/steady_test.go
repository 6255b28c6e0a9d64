package device

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
)

// A stand is a device with a watch whose figures, reasons and clock a test sets.
type stand struct {
	watch
	at      time.Duration
	figure  float64             // in the measurement that runs
	during  func(n int) float64 // figure of the load while the watch waits
	loads   int
	reasons []string
	busy    int
}

func newStand(steady ...float64) *stand {
	s := &stand{figure: 1}
	s.signs = []*sign{{cause: "its clock", least: 0.1, end: func() (float64, error) { return s.figure, nil }, steady: steady}}
	s.slowed = func() []string { return s.reasons }
	s.now = func() time.Time { return time.Unix(0, 0).Add(s.at) }
	s.pause = func(d time.Duration) { s.at += d }
	s.load = func(d time.Duration) error {
		s.at += d
		if s.loads++; s.during != nil {
			s.figure = s.during(s.loads)
		}
		return nil
	}
	return s
}

// measure measures with one figure after the other, of which the last one stays. The times are the figures.
func (s *stand) measure(figures ...float64) (best float64, readings []hardware.Reading, measured int) {
	best, readings, _ = steadily(context.Background(), &s.watch, func() { s.busy++ }, func() (float64, error) {
		s.figure = figures[min(measured, len(figures)-1)]
		measured++
		return s.figure, nil
	})
	return best, readings, measured
}

var level = []float64{1, 1.01, 0.99, 1.02, 0.98}

// TestSteadily repeats what was disturbed, at most three times, and takes what disturbed it least.
func TestSteadily(t *testing.T) {
	for _, c := range []struct {
		name     string
		level    []float64
		figures  []float64
		reasons  []string
		best     float64
		measured int
		readings string
	}{
		{"steady", level, []float64{1.05}, nil, 1.05, 1, ""},
		{"faster", level, []float64{0.5, 1.02}, nil, 1.02, 2, "repeats 1 (its clock), disturbance 0.02000"},
		{"stays faster", level, []float64{0.5}, nil, 0.5, 4, "repeats 3 (its clock), disturbance -0.5000 (its clock)"},
		{"within the scatter", []float64{1, 1.1, 0.9, 1.2, 0.8}, []float64{1.55}, nil, 1.55, 1, ""},
		{"unknown", level, []float64{math.NaN()}, nil, math.NaN(), 1, ""},
		{"no level yet", level[:4], []float64{3}, nil, 3, 1, ""},
		{"recovers", level, []float64{2, 1}, nil, 1, 2, "repeats 1 (its clock), disturbance 0"},
		{"recovers later", level, []float64{2, 3, 1.5, 1.01}, nil, 1.01, 4, "repeats 3 (its clock), disturbance 0.01000"},
		{"stays", level, []float64{2, 1.5, 3}, nil, 1.5, 4, "repeats 3 (its clock), disturbance 0.5000 (its clock)"},
		{"throttled", level, []float64{1}, []string{"power cap"}, 1, 4, "repeats 3 (power cap), disturbance 0 (power cap)"},
	} {
		s := newStand(slices.Clone(c.level)...)
		s.reasons = c.reasons
		best, readings, measured := s.measure(c.figures...)
		var texts []string
		for _, r := range readings {
			texts = append(texts, fmt.Sprintf("%s %s", r.Quantity, r))
		}
		if got := strings.Join(texts, ", "); best != c.best && !math.IsNaN(c.best) || measured != c.measured || got != c.readings {
			t.Errorf("%s: %v after %d measurements, %q; want %v after %d, %q", c.name, best, measured, got, c.best, c.measured, c.readings)
		}
		if waits := s.at; waits > 1500*time.Millisecond {
			t.Errorf("%s: it waited %s", c.name, waits)
		}
	}
}

// TestSteadilyWaitsForTheDevice repeats as soon as the load shows that the device has recovered.
func TestSteadilyWaitsForTheDevice(t *testing.T) {
	s := newStand(level...)
	s.during = func(n int) float64 { return map[bool]float64{true: 2, false: 1}[n < 3] }
	if _, _, measured := s.measure(2, 1); measured != 2 || s.loads != 3 || s.at != 3*(restTime+loadTime) || s.busy != 3 {
		t.Errorf("%d measurements, %d loads in %s, %d times told", measured, s.loads, s.at, s.busy)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.pause = func(time.Duration) { cancel() }
	s.during = nil
	if _, _, err := steadily(ctx, &s.watch, func() {}, func() (int, error) { s.figure = 2; return 0, nil }); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	if _, _, err := steadily(ctx, &s.watch, func() {}, func() (int, error) { return 0, errors.New("lost") }); err == nil || err.Error() != "lost" {
		t.Errorf("a failed launch: %v", err)
	}
}

// TestALastingChangeIsTheSteadyState slows a device down for good: four configurations are repeated, and no others.
func TestALastingChangeIsTheSteadyState(t *testing.T) {
	s := newStand(level...)
	s.reasons = []string{"power cap"}
	for i := range 4 {
		_, readings, measured := s.measure(1.5, 1.52, 1.49, 1.51)
		if said := strings.HasSuffix(readings[1].Note, "this is the steady state from now on"); measured != 4 || said != (i == 3) {
			t.Errorf("configuration %d: %d measurements, %v", i, measured, readings)
		}
	}
	if _, readings, measured := s.measure(1.5); measured != 1 || readings != nil {
		t.Errorf("after the change: %d measurements, %v", measured, readings)
	}
	if _, readings, _ := s.measure(2, 1.5); len(readings) == 0 {
		t.Error("no disturbance of the new state is noticed")
	}
	s.reasons = []string{"power cap", "temperature, by hardware"}
	if _, readings, _ := s.measure(1.5); len(readings) == 0 || readings[0].Note != "temperature, by hardware" {
		t.Errorf("another reason: %v", readings)
	}
	// Two configurations that stay disturbed, and one between them that does not, change nothing.
	s = newStand(level...)
	for range 10 {
		s.measure(2)
		s.measure(2)
		s.measure(2)
		s.measure(1)
	}
	if _, readings, _ := s.measure(2, 1); len(readings) == 0 {
		t.Error("a load that comes and goes became the steady state")
	}
}

// TestRepetitionsAreBounded disturbs every second measurement, each of which takes 10 ms, for minutes.
func TestRepetitionsAreBounded(t *testing.T) {
	s := newStand(level...)
	s.sharing = 2
	repeated := 0
	var unrepeated []hardware.Reading
	for i := range 10_000 {
		_, readings, _ := steadily(context.Background(), &s.watch, func() {}, func() (int, error) {
			s.at += 10 * time.Millisecond
			s.figure = 1 + float64(i%2)
			return 0, nil
		})
		switch {
		case readings == nil:
		case readings[0].Value > 0:
			repeated++
		default:
			unrepeated = readings
		}
	}
	if most := (s.at/spentShare+spentMore)/2 + 2*time.Second; s.spent > most || s.spent < most*9/10 || repeated == 0 {
		t.Errorf("of %s, %s were spent for %d repeated measurements", s.at, s.spent, repeated)
	}
	if len(unrepeated) != 2 || unrepeated[0].Note != "its clock" || unrepeated[1].Value != 1 || unrepeated[1].Note != "its clock" {
		t.Errorf("a disturbed measurement that was not repeated has the readings %v", unrepeated)
	}
}

// TestASignThatFailsIsLeftOut loses one sign of two in the middle.
func TestASignThatFailsIsLeftOut(t *testing.T) {
	s := newStand(level...)
	fails := false
	s.signs = append(s.signs, &sign{cause: "other", steady: level, end: func() (float64, error) {
		if fails {
			return 0, errors.New("gone")
		}
		return 1, nil
	}})
	s.measure(2)
	fails = true
	for range 5 {
		if _, readings, _ := s.measure(2, 1); len(s.signs) != 1 || len(readings) != 2 {
			t.Fatalf("%d signs, %v", len(s.signs), readings)
		}
	}
}

// TestWarmUp launches until the device no longer becomes faster, or for two seconds.
func TestWarmUp(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    func(n int) float64
		loads int
	}{
		{"steady", func(n int) float64 { return 1 }, warmSpans},
		{"scattering", func(n int) float64 { return 1 + 0.1*float64(n%3) }, warmSpans},
		{"wakes up", func(n int) float64 { return max(1, 3-0.1*float64(n)) }, 24},
		{"never steady", func(n int) float64 { return math.Pow(1.05, float64(n)) }, int(warmMost / warmSpan)},
	} {
		s := newStand()
		s.during = c.of
		if err := s.warmUp(context.Background(), func() {}); err != nil || s.loads != c.loads || len(s.signs[0].steady) != warmSpans {
			t.Errorf("%s: %d loads, want %d; the level has %d figures; %v", c.name, s.loads, c.loads, len(s.signs[0].steady), err)
		}
	}
	s := newStand()
	s.signs[0].shared = true
	if err := s.warmUp(context.Background(), func() {}); err != nil || s.loads != warmSpans || s.signs[0].steady != nil {
		t.Errorf("a sign that other programs change: %d loads, a level of %v; %v", s.loads, s.signs[0].steady, err)
	}
	s.load = func(time.Duration) error { return errors.New("refused") }
	if err := s.warmUp(context.Background(), func() {}); err != nil {
		t.Errorf("a load that fails: %v", err)
	}
}

// TestYardstickSign times a yardstick before and after launches.
func TestYardstickSign(t *testing.T) {
	var at time.Duration
	times, n := []time.Duration{5, 7, 6, 9, 4}, 0
	s := yardstickSign("", false, func() (time.Duration, error) { n++; return times[n-1], nil }, func() time.Time { return time.Unix(9, 0).Add(at) })
	var got []float64
	for _, between := range []time.Duration{0, just / 2, just} { // since the measurement before
		at += between
		if err := s.begin(); err != nil {
			t.Fatal(err)
		}
		f, err := s.end()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, f)
	}
	if want := []float64{7, 7, 9}; !slices.Equal(got, want) || n != 5 { // of 5 and 7, of 7 and 6, of 9 and 4
		t.Errorf("%v of %d times, want %v", got, n, want)
	}
}

// asked is a supervisor that looks at its evaluator when that asks for the device.
type asked struct {
	unsupervised
	look func()
}

func (a asked) Timing(context.Context) error { a.look(); return nil }

// TestTheYardstickIsBuiltBeforeTheDeviceIsAskedFor: all other workers stand still from then on.
func TestTheYardstickIsBuiltBeforeTheDeviceIsAskedFor(t *testing.T) {
	d := observed()
	d.Metrics, d.Measure = nil, problem.Measure{Timing: problem.Timing{Steady: true}}
	e, built := open(t, d), false
	e.supervisor = asked{look: func() {
		s := e.session.speedometer
		built = s != nil && s.yardstick != nil && s.unsized
	}}
	outcome, err := tune.Run(t.Context(), e.problem, e, tune.Options{Finalists: -1, MaxEvaluations: 1})
	if err != nil || outcome.Best == nil || !built || e.session.speedometer.unsized {
		t.Errorf("%+v, %v, built before: %v", outcome, err, built)
	}
}

// TestYardstick builds and times the yardstick on a device.
func TestYardstick(t *testing.T) {
	e := open(t, observed())
	s := e.session.newSpeedometer(e.identity)
	defer s.release()
	s.size(e.identity)
	if s.yardstick == nil || s.yardstick.took < yardstickLeast || s.load == nil || len(s.signs) == 0 {
		t.Fatalf("the yardstick is %+v, with %d signs", s.yardstick, len(s.signs))
	}
	s.begin()
	if err := s.load(loadTime); err != nil {
		t.Fatal(err)
	}
	n := len(s.signs)
	if r := s.end(); len(r.figures) != n || slices.ContainsFunc(r.figures, func(f float64) bool { return !(f > 0) }) {
		t.Errorf("the figures of %d signs are %v", n, r.figures)
	}
}

// TestSteadyResults evaluates configurations on a device while a sign says that it is slow.
func TestSteadyResults(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(*problem.Definition)
		readings int
		missing  string
	}{
		{"disturbed", func(d *problem.Definition) { d.Measure.Timing.Steady = true }, 2, ""},
		{"not watched", func(*problem.Definition) {}, 0, ""},
		{"not watched, but asked for", func(d *problem.Definition) {
			d.Measure = problem.Measure{Observe: []string{"repeats"}}
		}, 2, "the device is not watched (measure: {steady: true}, or --steady)"},
	} {
		d := observed()
		d.Metrics, d.Measure = nil, problem.Measure{}
		c.change(&d)
		e := open(t, d)
		s := newStand(level...)
		s.signs[0].end = func() (float64, error) { return 2, nil }
		e.session.speedometer = &speedometer{watch: &s.watch}
		outcome, err := tune.Run(context.Background(), e.problem, e, tune.Options{Finalists: -1, MaxEvaluations: 1})
		if err != nil {
			t.Fatal(err)
		}
		r := outcome.Results[0]
		if r.Status != tune.Correct || len(r.Times) != problem.DefaultLaunches || len(r.Readings) != c.readings {
			t.Errorf("%s: %+v", c.name, r)
			continue
		}
		if c.readings > 0 && r.Readings[0].Missing != c.missing {
			t.Errorf("%s: %+v", c.name, r.Readings)
		}
		if y := e.read(t, "y").Float(0); c.name == "disturbed" && y != 8 {
			t.Errorf("after the last repetition, which begins with the initial data, element 0 is %v, want 8", y)
		}
		if got, want := r.Disturbed() != "", c.name == "disturbed"; got != want {
			t.Errorf("%s: %q", c.name, r.Disturbed())
		}
	}
}

// TestAMissingYardstickCostsNothing evaluates where the yardstick cannot be built.
func TestAMissingYardstickCostsNothing(t *testing.T) {
	d := observed()
	d.Metrics, d.Measure = nil, problem.Measure{Timing: problem.Timing{Steady: true}, Observe: []string{"repeats"}}
	e := open(t, d)
	other, err := e.session.Build("__kernel void other(__global int *y) { *y = 1; } // standin: other is nothing()", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range e.session.programs {
		p.Release()
	}
	e.session.programs = map[string]*cl.Program{probeSource: other}
	outcome, err := tune.Run(context.Background(), e.problem, e, tune.Options{Finalists: -1})
	if err != nil || outcome.Best == nil || e.session.speedometer.yardstick != nil || e.session.speedometer.load != nil {
		t.Fatalf("%v, %+v", err, outcome)
	}
	if n, ok := hardware.ReadingOf(outcome.Best.Readings, hardware.Repeats); !ok || n.Missing != "" {
		t.Errorf("the readings are %v", outcome.Best.Readings)
	}
}

// BenchmarkSigns is what the signs of a device cost a measurement that follows long after another, and one that follows at once.
func BenchmarkSigns(b *testing.B) {
	e := open(b, observed())
	s := e.session.newSpeedometer(e.identity)
	defer s.release()
	s.size(e.identity)
	for name, old := range map[string]bool{"long after": true, "at once": false} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if old {
					time.Sleep(just)
				}
				s.begin()
				s.judge(s.end())
			}
		})
	}
	b.Run("pace", func(b *testing.B) {
		for b.Loop() {
			if err := s.pace.Begin(); err != nil {
				b.Fatal(err)
			}
			if _, _, err := s.pace.Waited(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
