package tune

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/space"
)

// testPeaks are those of a device with 1 MiB of cache.
func testPeaks() *Peaks {
	return &Peaks{
		Method: 1, Timer: TimerEvent,
		Figures: map[string]Peak{
			PeakMemoryCopy: {Value: 100, Unit: "GB/s"}, PeakMemoryRead: {Value: 150, Unit: "GB/s"},
			PeakCacheCopy: {Value: 1000, Unit: "GB/s"}, PeakCacheRead: {Value: 2000, Unit: "GB/s"},
			PeakFloat32: {Value: 1000, Unit: "GFLOP/s"}, PeakFloat64: {Value: 500, Unit: "GFLOP/s"},
			PeakFloat16: {Unit: "GFLOP/s", Missing: "the device has no half precision"},
		},
		Copy: []Bandwidth{{1 << 18, 800}, {1 << 19, 1000}, {1 << 20, 900}, {1 << 21, 300}, {1 << 22, 98}, {1 << 23, 100}},
		Read: []Bandwidth{{1 << 18, 2000}, {1 << 19, 1500}, {1 << 20, 1000}, {1 << 21, 400}, {1 << 22, 150}, {1 << 23, 149}},
	}
}

// moving is a problem of two buffers, of which the second is the output, of so many elements.
func moving(n string, r *Roofline) Definition {
	return Definition{
		Kernel: Kernel{Name: "k", Source: "__kernel void k() {}"}, ProblemSize: []Expr{"1"}, Roofline: r,
		Constants:  []Constant{{"real", "double"}},
		Arguments:  []Argument{{Name: "in", Type: "float32", Size: n}, {Name: "out", Type: "float32", Size: n, Output: true}},
		Parameters: []space.Parameter{{Name: "steps", Values: []space.Value{1, 2}}},
	}
}

func TestLimits(t *testing.T) {
	const large, small = "12500000", "65536" // elements: 10^8 bytes and 512 KiB of two buffers
	for name, c := range map[string]struct {
		n        string
		roofline Roofline
		time     float64 // milliseconds
		resource Resource
		rate     float64
	}{
		"copied":         {large, Roofline{Bytes: "1e8"}, 1, Memory, 100},
		"copied by step": {large, Roofline{Bytes: "1e8 * steps"}, 1.66667, Memory, 120},
		"in the caches":  {small, Roofline{Bytes: "524288"}, 524288. / 1000e6, Caches, 1000},
		// What is read beyond twice the outputs moves at the rate of a read.
		"read": {small, Roofline{Bytes: "2 * 524288"}, 524288./1000e6 + 524288./1500e6, Caches, 1200},
		// What is only written does not wait for reads, and neither does part of an output that is not.
		"written":                             {large, Roofline{Bytes: "5e7"}, 5e7 / 150e6, Memory, 150},
		"written in part":                     {large, Roofline{Bytes: "5.2e7"}, 4e6/100e6 + 4.8e7/150e6, Memory, 144.444},
		"computed":                            {large, Roofline{Flops: "1e9"}, 1, Arithmetic, 1000},
		"computed in double":                  {large, Roofline{Flops: "1e9", Precision: "float64"}, 2, Arithmetic, 500},
		"computed in a constant":              {large, Roofline{Flops: "1e9", Precision: "real"}, 2, Arithmetic, 500},
		"computed in what a constant decides": {large, Roofline{Flops: "1e9", Precision: `real == "double" ? "float64" : "float32"`}, 2, Arithmetic, 500},
		"both, memory is slower":              {large, Roofline{Flops: "1e8", Bytes: "1e8"}, 1, Memory, 100},
		"both, arithmetic is":                 {large, Roofline{Flops: "1e10", Bytes: "1e8"}, 10, Arithmetic, 1000},
		"nothing to do":                       {large, Roofline{Flops: "0", Bytes: "0"}, 0, Memory, 100},
		"by the device":                       {large, Roofline{Flops: "device.peak.float32 * 1e6"}, 1, Arithmetic, 1000},
		"by a device's other peak":            {large, Roofline{Flops: "device.peak.float16 + 1e9"}, 1, Arithmetic, 1000},
	} {
		p := mustProblem(t, moving(c.n, &c.roofline))
		steps := 1
		if strings.Contains(c.roofline.Bytes, "steps") {
			steps = 2
		}
		got, err := p.Limit(configurationOf(t, p, map[string]any{"steps": steps}), Device{Peaks: testPeaks()})
		if err != nil || math.Abs(got.Time-c.time) > 1e-4*c.time || got.Resource != c.resource || math.Abs(got.Rate-c.rate) > 1e-3*c.rate {
			t.Errorf("%s: %+v, %v; want %v ms, %s at %v", name, got, err, c.time, c.resource, c.rate)
		}
	}
}

func TestLimitsThatAreNotKnown(t *testing.T) {
	noMemory := testPeaks()
	noMemory.Figures[PeakMemoryCopy] = Peak{Missing: "the memory is too small"}
	for name, c := range map[string]struct {
		roofline *Roofline
		peaks    *Peaks
		want     string
	}{
		"no roofline":      {nil, testPeaks(), "has no roofline"},
		"no peaks":         {&Roofline{Bytes: "1"}, nil, "the peaks of the device are not known"},
		"empty peaks":      {&Roofline{Bytes: "1"}, &Peaks{}, "it was not measured"},
		"no half":          {&Roofline{Flops: "1", Precision: "half"}, testPeaks(), "float16 is not known: the device has no half precision"},
		"one of both":      {&Roofline{Flops: "1", Bytes: "1", Precision: "half"}, testPeaks(), "float16 is not known"},
		"no memory":        {&Roofline{Bytes: "1"}, noMemory, "memory_copy is not known: the memory is too small"},
		"negative":         {&Roofline{Flops: "1 - steps * 2"}, testPeaks(), "want a number that is not negative"},
		"not a number":     {&Roofline{Flops: "steps / (steps - 1)"}, testPeaks(), "want a number that is not negative"},
		"no such quotient": {&Roofline{Bytes: "div(4, steps - 1)"}, testPeaks(), "roofline.bytes: "},
	} {
		p := mustProblem(t, moving("1024", c.roofline))
		if got, err := p.Limit(configurationOf(t, p, map[string]any{"steps": 1}), Device{Peaks: c.peaks}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestRooflineMetrics(t *testing.T) {
	d := moving("12500000", &Roofline{Flops: "1e8 * steps", Bytes: "1e8"})
	d.Metrics = []Metric{{"speed", "1 / time"}}
	p := mustProblem(t, d)
	known, unknown := Device{Peaks: testPeaks()}, Device{}
	for _, c := range []struct {
		device Device
		want   []MetricValue
	}{
		{known, []MetricValue{{"GFLOP/s", 100}, {"GB/s", 50}, {"% of limit", 50}, {"speed", 0.5}}},
		{unknown, []MetricValue{{"GFLOP/s", 100}, {"GB/s", 50}, {"speed", 0.5}}},
	} {
		got, _, err := p.judge(configurationOf(t, p, map[string]any{"steps": 2}), c.device, StatsOf([]float64{2}), 2)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v, %v; want %v", got, err, c.want)
		}
		var names []string
		for _, m := range got {
			names = append(names, m.Name)
		}
		if !slices.Equal(names, p.MetricNames(c.device)) {
			t.Errorf("the metrics %v are called %v", names, p.MetricNames(c.device))
		}
	}
}

// A roofline that cannot be computed for a configuration costs its metrics, not the result.
func TestRooflineMetricsThatCannotBeComputed(t *testing.T) {
	p := mustProblem(t, moving("1024", &Roofline{Flops: "div(4, steps - 1)", Bytes: "4096"}))
	got, objective, err := p.judge(configurationOf(t, p, map[string]any{"steps": 1}), Device{Peaks: testPeaks()}, StatsOf([]float64{2}), 2)
	if err != nil || objective != 2 || !math.IsNaN(got[0].Value) || got[1].Value != 4096/2e6 || !math.IsNaN(got[2].Value) {
		t.Errorf("%v, %v, %v", got, objective, err)
	}
}

func TestTheLimitAsObjective(t *testing.T) {
	d := lineDefinition(3)
	d.Roofline = &Roofline{Flops: "1e9 * (i + 1)"}
	d.Objective = Objective{Name: MetricOfLimit, Maximize: true}
	p := mustProblem(t, d)
	slow := func(c space.Configuration) Result {
		return Result{Status: Correct, Times: []float64{100 * math.Pow(1.5, float64(c.Int("i")))}}
	}
	o, err := Run(context.Background(), p, &fake{device: Device{Peaks: testPeaks()}, answer: slow}, Options{})
	if err != nil || bestKey(o) != "1" {
		t.Errorf("best %v, %v", bestKey(o), err)
	}
	never := func(space.Configuration) Result { t.Error("it was evaluated"); return Result{} }
	if _, err := Run(context.Background(), p, &fake{answer: never}, Options{}); err == nil || !strings.Contains(err.Error(), "the objective is % of limit: the peaks of the device are not known") {
		t.Errorf("without peaks: %v", err)
	}
}

// Peaks change nothing of what identifies a problem or a device, so that a log stays one that
// can be resumed; a roofline is a part of the problem.
func TestPeaksAndIdentity(t *testing.T) {
	without := mustProblem(t, moving("1024", nil)).Digest()
	first := mustProblem(t, moving("1024", &Roofline{Bytes: "4096"})).Digest()
	if other := mustProblem(t, moving("1024", &Roofline{Bytes: "8192"})).Digest(); without == first || first == other {
		t.Error("a roofline does not show in the digest")
	}
	if spelt := mustProblem(t, moving("1024", &Roofline{Bytes: "4096", Precision: "float32"})).Digest(); spelt != first {
		t.Error("the default of the precision, spelt out, is another problem")
	}
	a, b := Device{Name: "A"}, Device{Name: "A", Peaks: testPeaks()}
	if err := a.SameKind(b); err != nil {
		t.Error(err)
	}
}

// Whatever was measured: the larger the set, the lower the rate; never above what was measured
// at all, never below what memory gives; a copy that moves at a measured rate is at 100 % at
// most.
func TestRatesFollowTheCurve(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 2000 {
		curve := make([]Bandwidth, r.IntN(10))
		highest := 1 + 100*r.Float64()
		memory := highest
		for i := range curve {
			curve[i] = Bandwidth{1 << (18 + i), 1 + 1000*r.Float64()}
			highest = max(highest, curve[i].Rate)
		}
		peaks := &Peaks{Figures: map[string]Peak{PeakMemoryCopy: {Value: memory}}, Copy: curve}
		last := math.Inf(1)
		for set := 1 << 16; set < 1<<30; set += set / 3 {
			rate := rateAt(curve, float64(set), memory)
			if rate > last || rate > highest || rate < memory {
				t.Fatalf("%v: %d bytes at %v after %v", curve, set, rate, last)
			}
			last = rate
		}
		for _, b := range curve {
			bytes := float64(b.Bytes)
			if took := bytes / b.Rate / 1e6; peaks.movingTime(bytes, bytes/2, bytes) > took*(1+1e-12) {
				t.Fatalf("%v: the copy of %d bytes takes %v ms, its limit is longer", curve, b.Bytes, took)
			}
		}
	}
}
