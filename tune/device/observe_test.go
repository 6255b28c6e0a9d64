package device

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/loop"
	"github.com/ndtune/ndtune/tune/observe"
	"github.com/ndtune/ndtune/tune/space"
)

// counter counts launches. It fails in its third observation.
type counter struct{ begun, closed int }

func (c *counter) Begin(observe.Frame) error {
	if c.begun++; c.begun == 3 {
		return errors.New("it is worn out")
	}
	return nil
}

func (c *counter) End(f observe.Frame) (map[string]float64, error) {
	return map[string]float64{"launches": float64(f.Launches), "milliseconds": f.Took.Seconds() * 1e3}, nil
}

func (c *counter) Close() error { c.closed++; return nil }

var counted = &counter{}

func init() {
	observe.Register("counter", func(hardware.Device) (observe.Instrument, error) { return counted, nil })
}

func observed() definition.Definition {
	return definition.Definition{
		Kernel:      definition.Kernel{Name: "one", Source: "__kernel void one(__global int *y) { y[get_global_id(0)] += 1; } // standin: one is increment(y, 1)"},
		ProblemSize: []definition.Expr{"64"},
		Arguments:   []definition.Argument{{Name: "y", Type: "int32", Size: "64", Output: true}},
		Parameters:  []space.Parameter{{Name: "block_size_x", Values: []space.Value{1, 2, 4, 8}}},
		Metrics:     []definition.Metric{{Name: "rate", Expression: "launches / milliseconds"}},
		Measure: definition.Measure{Instruments: []definition.Instrument{
			{Quantities: []string{"launches", "milliseconds"}, Registered: "counter", Window: 5 * time.Millisecond},
		}},
	}
}

// TestObserve repeats the launches of four configurations, until an instrument has seen enough, and loses the readings of one.
func TestObserve(t *testing.T) {
	*counted = counter{}
	e := open(t, observed())
	if i, ok := e.Device().Instrument("launches"); !ok || i.Source != "counter" || i.Missing != "" {
		t.Errorf("the device has the instrument %+v", i)
	}
	outcome, err := loop.Run(context.Background(), e.problem, e, loop.Options{Finalists: -1})
	if err != nil {
		t.Fatal(err)
	}
	for n, r := range outcome.Results {
		wantStatus(t, r.Configuration.String(), r, tune.Correct, "")
		launches, _ := r.Metric("launches")
		rate, _ := r.Metric("rate")
		if n == 2 {
			if !math.IsNaN(rate) || len(r.Readings) != 2 || r.Readings[0].Missing != "counter: it is worn out" {
				t.Errorf("the third result has %v and %+v", r.Metrics, r.Readings)
			}
			continue
		}
		if !(launches > 7) || !(rate > 0) || r.Readings[1].Value < 5 {
			t.Errorf("result %d has %v and %+v", n, r.Metrics, r.Readings)
		}
	}
	var all []space.Configuration
	for _, r := range outcome.Results[:2] {
		all = append(all, r.Configuration)
	}
	again, err := e.Remeasure(context.Background(), "", all, 3, true)
	if err != nil || len(again) != 2 {
		t.Fatalf("observed again: %v, %v", again, err)
	}
	for _, turns := range again {
		rounds := turns.Readings
		if len(rounds) != 3 || len(rounds[2]) != 2 || !(rounds[2][0].Value > 7) || rounds[2][1].Value < 5 {
			t.Errorf("the rounds have %+v", rounds)
		}
	}
	if e.Close(); counted.closed != 2 {
		t.Errorf("the instrument was closed %d times", counted.closed)
	}
}

// TestWhatCannotBeObservedHasAReason measures a kernel whose buffer is restored before each launch, and one that was
// stopped early.
func TestWhatCannotBeObservedHasAReason(t *testing.T) {
	d := observed()
	d.Arguments[0].RestoreEachLaunch = true
	r := evaluateFirst(t, d)
	if len(r.Readings) != 2 || !strings.Contains(r.Readings[0].Missing, "restored before each launch") {
		t.Errorf("a restored buffer: %+v", r.Readings)
	}
	e := open(t, observed())
	trial := e.trial(configurationOf(t, e.problem, nil))
	trial.result.EarlyStopped = true
	if err := trial.observe(context.Background()); err != nil || !strings.Contains(trial.result.Readings[1].Missing, "stopped early") {
		t.Errorf("stopped early: %v, %+v", err, trial.result.Readings)
	}
}

// framed records what it is told, and computes a quantity from the times.
type framed struct {
	frames []observe.Frame
	begun  int
}

func (f *framed) Begin(observe.Frame) error { f.begun++; return nil }

func (f *framed) End(of observe.Frame) (map[string]float64, error) {
	f.frames = append(f.frames, of)
	return map[string]float64{"index" + of.Values["kernel"].(string): float64(of.Index)}, nil
}

func (f *framed) Close() error { return nil }

var launches, computes = &framed{}, &framed{}

func init() {
	observe.Register("launches", func(hardware.Device) (observe.Instrument, error) { return launches, nil })
	observe.Register("computes", func(hardware.Device) (observe.Instrument, error) { return computes, nil })
}

// TestInstrumentsOfLaunchesAndConfigurations: one frames as many launches as there are times, the other none, even if the launches cannot
// be repeated without anything between them.
func TestInstrumentsOfLaunchesAndConfigurations(t *testing.T) {
	*launches, *computes = framed{}, framed{}
	d := observed()
	d.Arguments[0].RestoreEachLaunch = true
	d.Metrics, d.Measure = nil, definition.Measure{Timing: definition.Timing{Launches: 5}, Observe: []string{"indexone", "none"}, Instruments: []definition.Instrument{
		{Quantities: []string{"none"}, Registered: "computes", Each: hardware.EachConfiguration},
		{Quantities: []string{"indexone"}, Registered: "launches", Each: hardware.EachLaunch},
	}}
	r := evaluateFirst(t, d)
	if len(r.Readings) != 2 || r.Readings[1].Value != 2 || r.Readings[0].Missing != "computes gave no value of none" { // the mean of 0 to 4
		t.Errorf("%+v", r.Readings)
	}
	if launches.begun != 5 || len(launches.frames) != 5 || computes.begun != 0 || len(computes.frames) != 1 {
		t.Fatalf("%+v, %+v", launches, computes)
	}
	for i, f := range launches.frames {
		if f.Index != i || f.Launches != 1 || f.Took <= 0 || !slices.Equal(f.Times, r.Times) {
			t.Errorf("frame %d: %+v", i, f)
		}
	}
	f := computes.frames[0]
	if c, ok := f.Values["configuration"].(space.Configuration); f.Launches != 0 || !slices.Equal(f.Times, r.Times) || !ok || c.Key() != r.Configuration.Key() {
		t.Errorf("%+v", f)
	}
}

// TestAnObjectiveThatCannotBeObserved ends a run before it begins.
func TestAnObjectiveThatCannotBeObserved(t *testing.T) {
	t.Setenv(observe.SysVariable, t.TempDir())
	t.Setenv(observe.LibraryVariable, "none")
	d := observed()
	d.Objective.Name = hardware.Energy
	e := open(t, d)
	if _, err := loop.Run(context.Background(), e.problem, e, loop.Options{}); err == nil || !strings.Contains(err.Error(), "the objective energy cannot be observed: ") {
		t.Errorf("the run says %v", err)
	}
}
