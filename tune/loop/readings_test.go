package loop

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// A reobserving fake observes configurations again: the energies of each round are given by the configuration.
type reobserving struct {
	remeasuring
	energies func(i int) []float64
	rounds   int
	calls    int
}

func (r *reobserving) Remeasure(ctx context.Context, card string, configurations []space.Configuration, rounds int, observe bool) ([]tune.Turns, error) {
	if !observe {
		return r.remeasuring.Remeasure(ctx, card, configurations, rounds, false)
	}
	r.calls++
	r.rounds = rounds
	var all []tune.Turns
	for _, c := range configurations {
		var of [][]hardware.Reading
		for _, joules := range r.energies(c.Int("i")) {
			reading := hardware.Reading{Quantity: hardware.Energy, Value: joules, Uncertainty: 0.3}
			if math.IsNaN(joules) {
				reading = hardware.MissingReading(hardware.Energy, "too short")
			}
			of = append(of, []hardware.Reading{reading})
		}
		all = append(all, tune.Turns{Readings: of})
	}
	return all, nil
}

// TestFinalistsAreObservedAgain decides the winner by the energy of the final measurement, and keeps it.
func TestFinalistsAreObservedAgain(t *testing.T) {
	for _, c := range []struct {
		name      string
		objective score.Objective
		tick      float64 // of the counter in milliseconds
		calls     int
		rounds    int
		best      string
		energy    float64
	}{
		{"energy", score.Objective{Name: "energy"}, 100, 1, 3, "1", 2},
		{"a metric of it", score.Objective{Name: "edp"}, 100, 1, 3, "1", 2},
		{"time and energy", score.Objective{Name: "time", More: []score.Objective{{Name: "energy"}}, Choose: "energy"}, 100, 1, 3, "1", 2},
		{"a slow counter", score.Objective{Name: "energy"}, 1000, 1, 1, "1", 2},
		{"a counter that is too slow", score.Objective{Name: "energy"}, 5000, 0, 0, "0", 10},
		{"time", score.Objective{}, 100, 0, 0, "0", 10},
	} {
		d := line(t, 3).Definition()
		d.Measure.Observe = []string{hardware.Energy}
		d.Metrics = append(d.Metrics, definition.Metric{Name: "edp", Expression: "energy * time"})
		d.Objective = c.objective
		p, err := problem.New(d)
		if err != nil {
			t.Fatal(err)
		}
		search := func(configuration space.Configuration) tune.Result {
			r := correct(configuration)
			r.Times, r.Readings = []float64{1, 1}, []hardware.Reading{{Quantity: hardware.Energy, Value: 10 + float64(configuration.Int("i")), Uncertainty: 0.5}}
			return r
		}
		log := &memory{}
		e := &reobserving{
			remeasuring: remeasuring{fake: fake{answer: search}, again: func(space.Configuration) []float64 { return []float64{1, 1, 1} }},
			energies: func(i int) []float64 {
				return [][]float64{{20, 20, 20}, {math.NaN(), 1, 3}, {math.NaN(), math.NaN()}}[i]
			},
		}
		e.device.Instruments = []hardware.Instrument{{Quantity: hardware.Energy, Source: "counter", TickMS: c.tick}}
		o := mustRun(t, p, e, Options{Log: log})
		if e.calls != c.calls || e.rounds != c.rounds || bestKey(o) != c.best {
			t.Errorf("%s: observed again %d times, %d rounds, best %s; want %d, %d, %s", c.name, e.calls, e.rounds, bestKey(o), c.calls, c.rounds, c.best)
		}
		if got, _ := o.Best.Figures().Metric(hardware.Energy); got != c.energy {
			t.Errorf("%s: the energy of the best is %v, want %v", c.name, got, c.energy)
		}
		if c.calls == 0 {
			continue
		}
		best := o.Best.LastReadings()[0]
		if want := (hardware.Reading{Quantity: hardware.Energy, Value: 2, Uncertainty: 1}); best != want { // its scatter is √2 / √2
			t.Errorf("%s: the reading of the best is %+v, want %+v", c.name, best, want)
		}
		if last := o.Results[2].LastReadings()[0]; last.Value != 12 {
			t.Errorf("%s: what could not be observed again has %+v", c.name, last)
		}
		if len(log.finals) != 3 || len(log.finals[1].FinalReadings) != 1 {
			t.Errorf("%s: the log has %+v", c.name, log.finals)
		}
	}
}

// TestTimeToObserve bounds the time of the observation of the finalists by what is known of the instruments.
func TestTimeToObserve(t *testing.T) {
	for _, c := range []struct {
		measure     definition.Measure
		instruments []hardware.Instrument
		ms          float64
		want        time.Duration
	}{
		{definition.Measure{}, nil, 0.01, 100 * time.Millisecond},
		{definition.Measure{}, []hardware.Instrument{{Quantity: hardware.Energy, TickMS: 100}}, 0.01, 600 * time.Millisecond},
		{definition.Measure{Window: 2 * time.Second}, []hardware.Instrument{{Quantity: hardware.Energy, TickMS: 100}}, 0.01, 2200 * time.Millisecond},
		{definition.Measure{}, []hardware.Instrument{{Quantity: hardware.Power, Source: "power usage"}}, 0.01, 1200 * time.Millisecond},
		{definition.Measure{}, []hardware.Instrument{{Quantity: hardware.Energy, TickMS: 100}}, 5000, 20 * time.Second},
	} {
		d := line(t, 2).Definition()
		d.Measure = c.measure
		p, err := problem.New(d)
		if err != nil {
			t.Fatal(err)
		}
		r := &run{problem: p, outcome: &tune.Outcome{Device: hardware.Device{Instruments: c.instruments}}}
		if got := r.timeToObserve(&tune.Result{Times: []float64{c.ms}}); got != c.want {
			t.Errorf("%+v: %s, want %s", c, got, c.want)
		}
	}
}
