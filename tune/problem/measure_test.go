package problem

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
)

// TestObservedQuantities checks that a quantity is observed if anything asks for it, and that it is then a metric.
func TestObservedQuantities(t *testing.T) {
	wall := definition.Instrument{Quantities: []string{"wall", "water"}, Registered: "meter"}
	for _, c := range []struct {
		name     string
		change   func(*definition.Definition)
		observed []string
	}{
		{"nothing", func(d *definition.Definition) {}, nil},
		{"listed", func(d *definition.Definition) { d.Measure.Observe = []string{"clock", "energy"} }, []string{"energy", "clock"}},
		{"in a metric", func(d *definition.Definition) {
			d.Metrics = []definition.Metric{{Name: "rate", Expression: "n / energy"}}
		}, []string{"energy"}},
		{"objective", func(d *definition.Definition) { d.Objective.Name = "mean_power" }, []string{"mean_power"}},
		{"an instrument that nothing uses", func(d *definition.Definition) { d.Measure.Instruments = []definition.Instrument{wall} }, nil},
		{"an instrument", func(d *definition.Definition) {
			d.Measure = definition.Measure{Instruments: []definition.Instrument{wall}, Observe: []string{"temperature"}}
			d.Metrics = []definition.Metric{{Name: "cups", Expression: "water * 4"}}
		}, []string{"temperature", "water"}},
		{"hidden by a metric", func(d *definition.Definition) {
			d.Metrics = []definition.Metric{{Name: "energy", Expression: "mean_power * time"}, {Name: "half", Expression: "energy / 2"}}
		}, []string{"mean_power"}},
		{"hidden by a constant", func(d *definition.Definition) {
			d.Constants = append(d.Constants, definition.Constant{Name: "mean_power", Value: 2})
			d.Metrics = []definition.Metric{{Name: "product", Expression: "mean_power * time"}}
		}, nil},
	} {
		d := saxpy()
		c.change(&d)
		p := mustProblem(t, d)
		if !slices.Equal(p.Observed(), c.observed) {
			t.Errorf("%s: %q are observed, want %q", c.name, p.Observed(), c.observed)
		}
		if names := p.MetricNames(hardware.Device{}); !slices.Equal(names[:len(c.observed)], c.observed) {
			t.Errorf("%s: the metrics are %q", c.name, names)
		}
		data, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := definition.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if again := mustProblem(t, decoded); again.Digest() != p.Digest() || !slices.Equal(again.Observed(), c.observed) || again.Timing() != p.Timing() {
			t.Errorf("%s: in another process, %q are observed", c.name, again.Observed())
		}
	}
}

// TestJudgeReadings computes metrics and objectives of readings.
func TestJudgeReadings(t *testing.T) {
	d := saxpy()
	d.Metrics = []definition.Metric{{Name: "edp", Expression: "energy * time"}, {Name: "hot", Expression: "temperature - 20"}}
	d.Objective.Name = "edp"
	p := mustProblem(t, d)
	judge := func(readings ...hardware.Reading) (score.Judgement, error) {
		return p.Judge(configurationOf(t, p, nil), hardware.Device{}, score.StatsOf([]float64{2}), nil, readings)
	}
	j, err := judge(hardware.Reading{Quantity: "energy", Value: 3}, hardware.MissingReading("temperature", "no sensor"))
	hot, _ := j.Metric("hot")
	if energy, _ := j.Metric("energy"); err != nil || j.Objective != 6 || energy != 3 || !math.IsNaN(hot) {
		t.Errorf("%v, %v", j, err)
	}
	if _, err := judge(hardware.MissingReading("energy", "the window is too short")); err == nil || err.Error() != "the objective edp is not known: energy could not be observed: the window is too short" {
		t.Errorf("without energy: %v", err)
	}
	if _, err := judge(); err == nil || !strings.Contains(err.Error(), "energy was not observed") {
		t.Errorf("without readings: %v", err)
	}
	if _, err := p.ObjectiveAt(configurationOf(t, p, nil), hardware.Device{}, []float64{2}); err == nil {
		t.Error("the objective is known without readings")
	}
	lacking := hardware.Device{Instruments: []hardware.Instrument{{Quantity: "temperature", Missing: "no sensor"}, {Quantity: "energy", Source: "counter"}}}
	if err := p.CheckObjective(lacking); err != nil {
		t.Error(err)
	}
	lacking.Instruments[1].Missing = "no counter"
	if err := p.CheckObjective(lacking); err == nil || err.Error() != "the objective edp needs energy, which cannot be observed: no counter" {
		t.Errorf("the check says %v", err)
	}
}

// TestWrongMeasures lists the faults of measure, and of what is given to names.
func TestWrongMeasures(t *testing.T) {
	command := &definition.Command{Args: []string{"meter"}}
	instrument := func(i definition.Instrument) func(*definition.Definition) {
		return func(d *definition.Definition) { d.Measure.Instruments = []definition.Instrument{i} }
	}
	for _, c := range []struct {
		change func(*definition.Definition)
		want   string
	}{
		{func(d *definition.Definition) { d.Measure.Observe = []string{"clock", "energi"} }, `measure.observe[1]: "energi" cannot be observed; did you mean "energy"?`},
		{func(d *definition.Definition) {
			d.Measure.Observe, d.Metrics = []string{"mean_power"}, []definition.Metric{{Name: "mean_power", Expression: "1 / time"}}
		}, "measure.observe[0]: metrics.mean_power hides the quantity of this name: give it another name"},
		{func(d *definition.Definition) { d.Metrics = []definition.Metric{{Name: "e", Expression: "wall"}} }, "wall"},
		{instrument(definition.Instrument{Quantities: []string{"wall"}}), "measure.instruments[0]: an instrument has a command, or else the name of a registered one"},
		{instrument(definition.Instrument{Quantities: []string{"wall"}, Registered: "a", Command: command}), "measure.instruments[0]: an instrument has a command, or else"},
		{instrument(definition.Instrument{Registered: "a"}), "measure.instruments[0].quantities: the instrument gives no quantity"},
		{instrument(definition.Instrument{Quantities: []string{"energy"}, Command: command}), "measure.instruments[0].quantities: ndtune observes energy itself"},
		{instrument(definition.Instrument{Quantities: []string{"n"}, Command: command}), "measure.instruments[0].quantities: the name n is taken"},
		{instrument(definition.Instrument{Quantities: []string{"time_min"}, Command: command}), "measure.instruments[0].quantities: the name time_min is taken"},
		{instrument(definition.Instrument{Quantities: []string{"a b"}, Command: command}), `measure.instruments[0].quantities: "a b" is not a name`},
		{instrument(definition.Instrument{Quantities: []string{"wall", "wall"}, Command: command}), "measure.instruments[0].quantities: two instruments give wall"},
		{instrument(definition.Instrument{Quantities: []string{"wall"}, Command: &definition.Command{}}), "measure.instruments[0].command: the program is missing"},
	} {
		d := saxpy()
		c.change(&d)
		if _, err := New(d); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v\nlacks %q", err, c.want)
		}
	}
}
