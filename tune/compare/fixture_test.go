package compare

import (
	"math"
	"testing"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// The problem of these tests has two parameters.
var testParameters = []space.Parameter{
	{Name: "x", Values: []space.Value{16, 32, 64}},
	{Name: "tile", Values: []space.Value{1, 2}},
}

// A row is a result: x and tile, the mean of the search in ms, and the median of the final
// measurement, 0 for none. A row with a status other than correct has failed.
type row struct {
	x, tile int
	time    float64
	final   float64
	status  tune.Status
}

func configuration(t *testing.T, x, tile int) space.Configuration {
	t.Helper()
	p, err := space.NewParameters(testParameters)
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Configure(map[string]space.Value{"x": x, "tile": tile})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func gpu(name string) hardware.Device {
	return hardware.Device{Name: name, Vendor: "V", Platform: "P", Driver: "1", Type: "gpu", ComputeUnits: 8, GlobalMemory: 1 << 30, Timer: hardware.TimerEvent}
}

// source is a record of a device.
func source(t *testing.T, name string, d hardware.Device, rows ...row) Source {
	t.Helper()
	r := &record.Record{Header: record.Header{
		Digest: "d1", Kernel: "k", Source: "k.yaml", Device: d, Parameters: testParameters, ProblemSize: []int{64},
		Objective: score.Objective{Name: "time"}, Strategy: "brute_force", Iterations: 1, Verified: true,
	}}
	for _, w := range rows {
		result := tune.Result{Configuration: configuration(t, w.x, w.tile), Status: tune.Correct, Verified: true}
		if w.status != "" {
			result.Status, result.Reason = w.status, "because of "+string(w.status)+"\nand more"
		} else {
			result.Times, result.Objective = []float64{w.time}, w.time
			if w.final > 0 {
				result.Final = []float64{w.final}
			}
		}
		r.Results = append(r.Results, result)
	}
	return judged(Source{Name: name, Record: r})
}

// judged sets the metrics, which are rates, and the objective of the final measurements of a source. An objective that is maximised
// is not known there.
func judged(s Source) Source {
	for i := range s.Record.Results {
		r := &s.Record.Results[i]
		if r.AtFinal = nil; len(r.Final) == 0 {
			continue
		}
		r.AtFinal = &score.Judgement{Objective: r.FinalTime()}
		if s.Record.Header.Objective.Maximize {
			r.AtFinal.Objective = math.NaN()
		}
		for _, m := range r.Metrics {
			at := score.MetricValue{Name: m.Name, Value: m.Value * r.Time() / r.FinalTime()}
			r.AtFinal.Metrics = append(r.AtFinal.Metrics, at)
		}
	}
	return s
}

func mustCompare(t *testing.T, o Options, sources ...Source) *Comparison {
	t.Helper()
	c, err := New(sources, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
