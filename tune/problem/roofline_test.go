package problem

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
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
func moving(n string, r *definition.Roofline) definition.Definition {
	return definition.Definition{
		Kernel: definition.Kernel{Name: "k", Source: "__kernel void k() {}"}, ProblemSize: []definition.Expr{"1"}, Roofline: r,
		Constants:  []definition.Constant{{Name: "real", Value: "double"}},
		Arguments:  []definition.Argument{{Name: "in", Type: "float32", Size: n}, {Name: "out", Type: "float32", Size: n, Output: true}},
		Parameters: []space.Parameter{{Name: "steps", Values: []space.Value{1, 2}}},
	}
}

func TestTheLimitOfColdLaunchesIsThatOfMemory(t *testing.T) {
	d := moving("65536", &definition.Roofline{Bytes: "524288"})
	d.Measure.Timing.Cache = definition.CacheCold
	p := mustProblem(t, d)
	l, err := p.Limit(configurationOf(t, p, nil), hardware.Device{Peaks: testPeaks()})
	if err != nil || l.Resource != score.Memory || math.Abs(l.Rate-100) > 1e-9 || math.Abs(l.Time-524288./100e6) > 1e-12 {
		t.Errorf("%+v, %v; want the 100 GB/s of memory", l, err)
	}
}

func TestLimits(t *testing.T) {
	const large, small = "12500000", "65536" // elements: 10^8 bytes and 512 KiB of two buffers
	for name, c := range map[string]struct {
		n        string
		roofline definition.Roofline
		time     float64 // milliseconds
		resource score.Resource
		rate     float64
	}{
		"copied":         {large, definition.Roofline{Bytes: "1e8"}, 1, score.Memory, 100},
		"copied by step": {large, definition.Roofline{Bytes: "1e8 * steps"}, 1.66667, score.Memory, 120},
		"in the caches":  {small, definition.Roofline{Bytes: "524288"}, 524288. / 1000e6, score.Caches, 1000},
		// What is read beyond twice the outputs moves at the rate of a read.
		"read": {small, definition.Roofline{Bytes: "2 * 524288"}, 524288./1000e6 + 524288./1500e6, score.Caches, 1200},
		// What is only written does not wait for reads, and neither does part of an output that is not.
		"written":                             {large, definition.Roofline{Bytes: "5e7"}, 5e7 / 150e6, score.Memory, 150},
		"written in part":                     {large, definition.Roofline{Bytes: "5.2e7"}, 4e6/100e6 + 4.8e7/150e6, score.Memory, 144.444},
		"computed":                            {large, definition.Roofline{Flops: "1e9"}, 1, score.Arithmetic, 1000},
		"computed in double":                  {large, definition.Roofline{Flops: "1e9", Precision: "float64"}, 2, score.Arithmetic, 500},
		"computed in a constant":              {large, definition.Roofline{Flops: "1e9", Precision: "real"}, 2, score.Arithmetic, 500},
		"computed in what a constant decides": {large, definition.Roofline{Flops: "1e9", Precision: `real == "double" ? "float64" : "float32"`}, 2, score.Arithmetic, 500},
		"both, memory is slower":              {large, definition.Roofline{Flops: "1e8", Bytes: "1e8"}, 1, score.Memory, 100},
		"both, arithmetic is":                 {large, definition.Roofline{Flops: "1e10", Bytes: "1e8"}, 10, score.Arithmetic, 1000},
		"nothing to do":                       {large, definition.Roofline{Flops: "0", Bytes: "0"}, 0, score.Memory, 100},
		"by the device":                       {large, definition.Roofline{Flops: "device.peak.float32 * 1e6"}, 1, score.Arithmetic, 1000},
		"by a device's other peak":            {large, definition.Roofline{Flops: "device.peak.float16 + 1e9"}, 1, score.Arithmetic, 1000},
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
		roofline *definition.Roofline
		peaks    *hardware.Peaks
		want     string
	}{
		"no roofline":      {nil, testPeaks(), "has no roofline"},
		"no peaks":         {&definition.Roofline{Bytes: "1"}, nil, "the peaks of the device are not known"},
		"empty peaks":      {&definition.Roofline{Bytes: "1"}, &hardware.Peaks{}, "it was not measured"},
		"no half":          {&definition.Roofline{Flops: "1", Precision: "half"}, testPeaks(), "float16 is not known: the device has no half precision"},
		"one of both":      {&definition.Roofline{Flops: "1", Bytes: "1", Precision: "half"}, testPeaks(), "float16 is not known"},
		"no memory":        {&definition.Roofline{Bytes: "1"}, noMemory, "memory_copy is not known: the memory is too small"},
		"negative":         {&definition.Roofline{Flops: "1 - steps * 2"}, testPeaks(), "want a number that is not negative"},
		"not a number":     {&definition.Roofline{Flops: "steps / (steps - 1)"}, testPeaks(), "want a number that is not negative"},
		"no such quotient": {&definition.Roofline{Bytes: "div(4, steps - 1)"}, testPeaks(), "roofline.bytes: "},
	} {
		p := mustProblem(t, moving("1024", c.roofline))
		if got, err := p.Limit(configurationOf(t, p, map[string]any{"steps": 1}), hardware.Device{Peaks: c.peaks}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestRooflineMetrics(t *testing.T) {
	d := moving("12500000", &definition.Roofline{Flops: "1e8 * steps", Bytes: "1e8"})
	d.Metrics = []definition.Metric{{Name: "speed", Expression: "1 / time"}}
	p := mustProblem(t, d)
	known, unknown := hardware.Device{Peaks: testPeaks()}, hardware.Device{}
	for _, c := range []struct {
		device hardware.Device
		want   []score.MetricValue
	}{
		{known, []score.MetricValue{{Name: "GFLOP/s", Value: 100}, {Name: "GB/s", Value: 50}, {Name: "% of limit", Value: 50}, {Name: "speed", Value: 0.5}}},
		{unknown, []score.MetricValue{{Name: "GFLOP/s", Value: 100}, {Name: "GB/s", Value: 50}, {Name: "speed", Value: 0.5}}},
	} {
		judgement, err := p.Judge(configurationOf(t, p, map[string]any{"steps": 2}), c.device, score.StatsOf([]float64{2}), nil, nil)
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
	p := mustProblem(t, moving("1024", &definition.Roofline{Flops: "div(4, steps - 1)", Bytes: "4096"}))
	judgement, err := p.Judge(configurationOf(t, p, map[string]any{"steps": 1}), hardware.Device{Peaks: testPeaks()}, score.StatsOf([]float64{2}), nil, nil)
	got := judgement.Metrics
	if err != nil || judgement.Objective != 2 || !math.IsNaN(got[0].Value) || got[1].Value != 4096/2e6 || !math.IsNaN(got[2].Value) {
		t.Errorf("%v, %v", judgement, err)
	}
}

// Peaks change nothing of what identifies a problem or a device, so that a log stays one that
// can be resumed; a roofline is a part of the problem.
func TestPeaksAndIdentity(t *testing.T) {
	without := mustProblem(t, moving("1024", nil)).Digest()
	first := mustProblem(t, moving("1024", &definition.Roofline{Bytes: "4096"})).Digest()
	if other := mustProblem(t, moving("1024", &definition.Roofline{Bytes: "8192"})).Digest(); without == first || first == other {
		t.Error("a roofline does not show in the digest")
	}
	if spelt := mustProblem(t, moving("1024", &definition.Roofline{Bytes: "4096", Precision: "float32"})).Digest(); spelt != first {
		t.Error("the default of the precision, spelt out, is another problem")
	}
	a, b := hardware.Device{Name: "A"}, hardware.Device{Name: "A", Peaks: testPeaks()}
	if err := hardware.SameKind(a, b); err != nil {
		t.Error(err)
	}
}

func TestReadsPeaks(t *testing.T) {
	const peak = "device.peak.float32"
	for name, c := range map[string]struct {
		change func(*definition.Definition)
		want   bool
	}{
		"nothing": {func(*definition.Definition) {}, false},
		"another limit": {func(d *definition.Definition) {
			d.Restrictions = []space.Restriction{{Expression: "steps <= device.max_work_group_size"}}
		}, false},
		"the objective": {func(d *definition.Definition) {
			d.Objective = score.Objective{Name: score.MetricOfLimit, Maximize: true}
		}, true},
		"a metric": {func(d *definition.Definition) {
			d.Metrics = []definition.Metric{{Name: "share", Expression: "time / " + peak}}
		}, true},
		"a restriction": {func(d *definition.Definition) {
			d.Restrictions = []space.Restriction{{Expression: "steps == 1 or device['peak'].float32 > 0"}}
		}, true},
		"a size":    {func(d *definition.Definition) { d.ProblemSize = []definition.Expr{peak + " > 0 ? 1 : 2"} }, true},
		"a divisor": {func(d *definition.Definition) { d.GridDiv[0] = []definition.Expr{peak + " > 0 ? 1 : 2"} }, true},
		"an argument": {func(d *definition.Definition) {
			d.Arguments = append(d.Arguments, definition.Argument{Name: "p", Type: "float32", Value: peak})
		}, true},
		"a buffer": {func(d *definition.Definition) { d.Arguments[0].Size = peak + " > 0 ? 1024 : 2048" }, true},
		"local memory": {func(d *definition.Definition) {
			d.Arguments = append(d.Arguments, definition.Argument{Name: "l", Type: "float32", LocalSize: peak + " > 0 ? 1 : 2"})
		}, true},
		"a stage": {func(d *definition.Definition) {
			d.Stages = []definition.Stage{{Kernel: "k", Repeat: peak + " > 0 ? 1 : 2"}}
		}, true},
		"the size of a stage": {func(d *definition.Definition) {
			d.Stages = []definition.Stage{{Stages: []definition.Stage{{Kernel: "k", Shape: definition.Shape{ProblemSize: []definition.Expr{peak + " > 0 ? 1 : 2"}}}}}}
		}, true},
		"the offset": {func(d *definition.Definition) { d.GlobalOffset = []definition.Expr{peak + " > 0 ? 1 : 2"} }, true},
		"an option": {func(d *definition.Definition) {
			d.Kernel.BuildOptions = []string{"{" + peak + " > 0 ? '-cl-mad-enable' : ''}"}
		}, true},
		"the target": {func(d *definition.Definition) { d.Kernel.Target = "{" + peak + " > 0 ? 'sm_90' : 'sm_80'}" }, true},
		"a setting": {func(d *definition.Definition) {
			d.Measure.Settings = []definition.Setting{{Name: hardware.PowerLimit, Expression: peak}}
		}, true},
		"rows to compare": {func(d *definition.Definition) {
			d.Verify.Compare = map[string]definition.Comparison{"out": {As: array.Sum, Rows: peak + " > 0 ? 1 : 2"}}
		}, true},
		"an image": {func(d *definition.Definition) {
			d.Arguments = append(d.Arguments, definition.Argument{Name: "i", Image: &definition.Image{Shape: "1d", Format: "r/float32", Size: []definition.Expr{peak + " > 0 ? 1 : 2"}}})
		}, true},
		"the roofline":  {func(d *definition.Definition) { d.Roofline.Bytes = "1e6 * " + peak }, true},
		"the tolerance": {func(d *definition.Definition) { d.Verify.ATol = peak }, true},
		"the reference's": {func(d *definition.Definition) {
			r := moving("1024", nil)
			r.ProblemSize = []definition.Expr{peak + " > 0 ? 1 : 2"}
			d.Verify = &definition.Verification{Problem: &r, Configuration: map[string]space.Value{"steps": 1}}
		}, true},
	} {
		d := moving("1024", &definition.Roofline{Bytes: "8192"})
		d.Verify = &definition.Verification{Reference: func(map[string]*array.Array) (map[string]*array.Array, error) { return nil, nil }}
		c.change(&d)
		if got := mustProblem(t, d).ReadsPeaks(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestLimitPeaks(t *testing.T) {
	for name, c := range map[string]struct {
		roofline *definition.Roofline
		want     []string
	}{
		"no roofline": {nil, nil},
		"arithmetic":  {&definition.Roofline{Flops: "1e6", Precision: "half"}, []string{hardware.PeakFloat16}},
		"bytes":       {&definition.Roofline{Bytes: "8 * 1024"}, []string{hardware.PeakMemoryCopy, hardware.PeakMemoryRead}},
		"both":        {&definition.Roofline{Bytes: "12", Flops: "1"}, []string{hardware.PeakFloat32, hardware.PeakMemoryCopy, hardware.PeakMemoryRead}},
	} {
		if got := mustProblem(t, moving("1024", c.roofline)).LimitPeaks(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
