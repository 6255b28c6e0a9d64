package problem

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/space"
)

// testPeaks are those of a device with 1 MiB of cache.
func testPeaks() *hardware.Peaks {
	return &hardware.Peaks{
		Method: 1, Timer: hardware.TimerEvent,
		Figures: map[string]hardware.Peak{
			hardware.PeakMemoryCopy: {Value: 100, Unit: "GB/s"}, hardware.PeakMemoryRead: {Value: 150, Unit: "GB/s"},
			hardware.PeakCacheCopy: {Value: 1000, Unit: "GB/s"}, hardware.PeakCacheRead: {Value: 2000, Unit: "GB/s"},
			hardware.PeakFloat32: {Value: 1000, Unit: "GFLOP/s"}, hardware.PeakFloat64: {Value: 500, Unit: "GFLOP/s"},
			hardware.PeakFloat16: {Unit: "GFLOP/s", Missing: "the device has no half precision"},
		},
		Copy: []hardware.Bandwidth{{Bytes: 1 << 18, Rate: 800}, {Bytes: 1 << 19, Rate: 1000}, {Bytes: 1 << 20, Rate: 900}, {Bytes: 1 << 21, Rate: 300}, {Bytes: 1 << 22, Rate: 98}, {Bytes: 1 << 23, Rate: 100}},
		Read: []hardware.Bandwidth{{Bytes: 1 << 18, Rate: 2000}, {Bytes: 1 << 19, Rate: 1500}, {Bytes: 1 << 20, Rate: 1000}, {Bytes: 1 << 21, Rate: 400}, {Bytes: 1 << 22, Rate: 150}, {Bytes: 1 << 23, Rate: 149}},
	}
}

// moving is a problem of two buffers, of which the second is the output, of so many elements.
func moving(n string, r *Roofline) Definition {
	return Definition{
		Kernel: Kernel{Name: "k", Source: "__kernel void k() {}"}, ProblemSize: []Expr{"1"}, Roofline: r,
		Constants:  []Constant{{Name: "real", Value: "double"}},
		Arguments:  []Argument{{Name: "in", Type: "float32", Size: n}, {Name: "out", Type: "float32", Size: n, Output: true}},
		Parameters: []space.Parameter{{Name: "steps", Values: []space.Value{1, 2}}},
	}
}

func TestTheLimitOfColdLaunchesIsThatOfMemory(t *testing.T) {
	d := moving("65536", &Roofline{Bytes: "524288"})
	d.Measure.Timing.Cache = CacheCold
	p := mustProblem(t, d)
	l, err := p.Limit(configurationOf(t, p, nil), hardware.Device{Peaks: testPeaks()})
	if err != nil || l.Resource != Memory || math.Abs(l.Rate-100) > 1e-9 || math.Abs(l.Time-524288./100e6) > 1e-12 {
		t.Errorf("%+v, %v; want the 100 GB/s of memory", l, err)
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
		got, err := p.Limit(configurationOf(t, p, map[string]any{"steps": steps}), hardware.Device{Peaks: testPeaks()})
		if err != nil || math.Abs(got.Time-c.time) > 1e-4*c.time || got.Resource != c.resource || math.Abs(got.Rate-c.rate) > 1e-3*c.rate {
			t.Errorf("%s: %+v, %v; want %v ms, %s at %v", name, got, err, c.time, c.resource, c.rate)
		}
	}
}

func TestLimitsThatAreNotKnown(t *testing.T) {
	noMemory := testPeaks()
	noMemory.Figures[hardware.PeakMemoryCopy] = hardware.Peak{Missing: "the memory is too small"}
	for name, c := range map[string]struct {
		roofline *Roofline
		peaks    *hardware.Peaks
		want     string
	}{
		"no roofline":      {nil, testPeaks(), "has no roofline"},
		"no peaks":         {&Roofline{Bytes: "1"}, nil, "the peaks of the device are not known"},
		"empty peaks":      {&Roofline{Bytes: "1"}, &hardware.Peaks{}, "it was not measured"},
		"no half":          {&Roofline{Flops: "1", Precision: "half"}, testPeaks(), "float16 is not known: the device has no half precision"},
		"one of both":      {&Roofline{Flops: "1", Bytes: "1", Precision: "half"}, testPeaks(), "float16 is not known"},
		"no memory":        {&Roofline{Bytes: "1"}, noMemory, "memory_copy is not known: the memory is too small"},
		"negative":         {&Roofline{Flops: "1 - steps * 2"}, testPeaks(), "want a number that is not negative"},
		"not a number":     {&Roofline{Flops: "steps / (steps - 1)"}, testPeaks(), "want a number that is not negative"},
		"no such quotient": {&Roofline{Bytes: "div(4, steps - 1)"}, testPeaks(), "roofline.bytes: "},
	} {
		p := mustProblem(t, moving("1024", c.roofline))
		if got, err := p.Limit(configurationOf(t, p, map[string]any{"steps": 1}), hardware.Device{Peaks: c.peaks}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestRooflineMetrics(t *testing.T) {
	d := moving("12500000", &Roofline{Flops: "1e8 * steps", Bytes: "1e8"})
	d.Metrics = []Metric{{"speed", "1 / time"}}
	p := mustProblem(t, d)
	known, unknown := hardware.Device{Peaks: testPeaks()}, hardware.Device{}
	for _, c := range []struct {
		device hardware.Device
		want   []MetricValue
	}{
		{known, []MetricValue{{"GFLOP/s", 100}, {"GB/s", 50}, {"% of limit", 50}, {"speed", 0.5}}},
		{unknown, []MetricValue{{"GFLOP/s", 100}, {"GB/s", 50}, {"speed", 0.5}}},
	} {
		judgement, err := p.Judge(configurationOf(t, p, map[string]any{"steps": 2}), c.device, StatsOf([]float64{2}), 2, nil, nil)
		got := judgement.Metrics
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
	judgement, err := p.Judge(configurationOf(t, p, map[string]any{"steps": 1}), hardware.Device{Peaks: testPeaks()}, StatsOf([]float64{2}), 2, nil, nil)
	got := judgement.Metrics
	if err != nil || judgement.Objective != 2 || !math.IsNaN(got[0].Value) || got[1].Value != 4096/2e6 || !math.IsNaN(got[2].Value) {
		t.Errorf("%v, %v", judgement, err)
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
	a, b := hardware.Device{Name: "A"}, hardware.Device{Name: "A", Peaks: testPeaks()}
	if err := hardware.SameKind(a, b); err != nil {
		t.Error(err)
	}
}

// Whatever was measured: the larger the set, the lower the rate; never above what was measured
// at all, never below what memory gives; a copy that moves at a measured rate is at 100 % at
// most.
func TestRatesFollowTheCurve(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 2000 {
		curve := make([]hardware.Bandwidth, r.IntN(10))
		highest := 1 + 100*r.Float64()
		memory := highest
		for i := range curve {
			curve[i] = hardware.Bandwidth{Bytes: 1 << (18 + i), Rate: 1 + 1000*r.Float64()}
			highest = max(highest, curve[i].Rate)
		}
		peaks := &hardware.Peaks{Figures: map[string]hardware.Peak{hardware.PeakMemoryCopy: {Value: memory}}, Copy: curve}
		last := math.Inf(1)
		for set := 1 << 16; set < 1<<30; set += set / 3 {
			rate := peaks.CopyRate(float64(set))
			if rate > last || rate > highest || rate < memory {
				t.Fatalf("%v: %d bytes at %v after %v", curve, set, rate, last)
			}
			last = rate
		}
		for _, b := range curve {
			bytes := float64(b.Bytes)
			if took := bytes / b.Rate / 1e6; movingTime(peaks, bytes, bytes/2, bytes) > took*(1+1e-12) {
				t.Fatalf("%v: the copy of %d bytes takes %v ms, its limit is longer", curve, b.Bytes, took)
			}
		}
	}
}

func TestReadsPeaks(t *testing.T) {
	const peak = "device.peak.float32"
	for name, c := range map[string]struct {
		change func(*Definition)
		want   bool
	}{
		"nothing": {func(*Definition) {}, false},
		"another limit": {func(d *Definition) {
			d.Restrictions = []space.Restriction{{Expression: "steps <= device.max_work_group_size"}}
		}, false},
		"the objective": {func(d *Definition) { d.Objective = Objective{Name: MetricOfLimit, Maximize: true} }, true},
		"a metric":      {func(d *Definition) { d.Metrics = []Metric{{"share", "time / " + peak}} }, true},
		"a restriction": {func(d *Definition) {
			d.Restrictions = []space.Restriction{{Expression: "steps == 1 or device['peak'].float32 > 0"}}
		}, true},
		"a size":    {func(d *Definition) { d.ProblemSize = []Expr{peak + " > 0 ? 1 : 2"} }, true},
		"a divisor": {func(d *Definition) { d.GridDiv[0] = []Expr{peak + " > 0 ? 1 : 2"} }, true},
		"an argument": {func(d *Definition) {
			d.Arguments = append(d.Arguments, Argument{Name: "p", Type: "float32", Value: peak})
		}, true},
		"a buffer": {func(d *Definition) { d.Arguments[0].Size = peak + " > 0 ? 1024 : 2048" }, true},
		"local memory": {func(d *Definition) {
			d.Arguments = append(d.Arguments, Argument{Name: "l", Type: "float32", LocalSize: peak + " > 0 ? 1 : 2"})
		}, true},
		"a stage": {func(d *Definition) { d.Stages = []Stage{{Kernel: "k", Repeat: peak + " > 0 ? 1 : 2"}} }, true},
		"the size of a stage": {func(d *Definition) {
			d.Stages = []Stage{{Stages: []Stage{{Kernel: "k", ProblemSize: []Expr{peak + " > 0 ? 1 : 2"}}}}}
		}, true},
		"the offset": {func(d *Definition) { d.GlobalOffset = []Expr{peak + " > 0 ? 1 : 2"} }, true},
		"an option":  {func(d *Definition) { d.Kernel.BuildOptions = []string{"{" + peak + " > 0 ? '-cl-mad-enable' : ''}"} }, true},
		"the target": {func(d *Definition) { d.Kernel.Target = "{" + peak + " > 0 ? 'sm_90' : 'sm_80'}" }, true},
		"a setting":  {func(d *Definition) { d.Measure.Settings = []Setting{{Name: hardware.PowerLimit, Expression: peak}} }, true},
		"rows to compare": {func(d *Definition) {
			d.Verify.Compare = map[string]Comparison{"out": {As: array.Sum, Rows: peak + " > 0 ? 1 : 2"}}
		}, true},
		"an image": {func(d *Definition) {
			d.Arguments = append(d.Arguments, Argument{Name: "i", Image: &Image{Shape: "1d", Format: "r/float32", Size: []Expr{peak + " > 0 ? 1 : 2"}}})
		}, true},
		"the roofline":  {func(d *Definition) { d.Roofline.Bytes = "1e6 * " + peak }, true},
		"the tolerance": {func(d *Definition) { d.Verify.ATol = peak }, true},
		"the reference's": {func(d *Definition) {
			r := moving("1024", nil)
			r.ProblemSize = []Expr{peak + " > 0 ? 1 : 2"}
			d.Verify = &Verification{Problem: &r, Configuration: map[string]space.Value{"steps": 1}}
		}, true},
	} {
		d := moving("1024", &Roofline{Bytes: "8192"})
		d.Verify = &Verification{Reference: func(map[string]*array.Array) (map[string]*array.Array, error) { return nil, nil }}
		c.change(&d)
		if got := mustProblem(t, d).ReadsPeaks(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
