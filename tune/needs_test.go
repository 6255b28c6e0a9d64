package tune

import (
	"reflect"
	"slices"
	"testing"

	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/space"
)

// needing are results of the two configurations of moving, the second the best, and a failure.
func needing(t *testing.T, p *Problem) []Result {
	t.Helper()
	one, two := configurationOf(t, p, map[string]any{"steps": 1}), configurationOf(t, p, map[string]any{"steps": 2})
	return []Result{
		{Configuration: one, Status: Correct, Times: []float64{4}, Objective: 4},
		{Configuration: two, Status: Correct, Times: []float64{2}, Objective: 2},
		{Configuration: one, Status: Runtime},
	}
}

func TestLimitNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		n        string
		roofline *Roofline
		want     Needs
	}{
		"no roofline":     {"1024", nil, Needs{}},
		"arithmetic":      {"1024", &Roofline{Flops: "1e6", Precision: "half"}, Needs{Precision: PeakFloat16}},
		"copies":          {"1024", &Roofline{Bytes: "8 * 1024"}, Needs{Sets: []int64{8192}}},
		"reads more":      {"1024", &Roofline{Bytes: "8 * 1024 * steps"}, Needs{Sets: []int64{8192}, Read: true}},
		"both":            {"1024", &Roofline{Bytes: "12 * 1024", Flops: "1"}, Needs{Precision: PeakFloat32, Sets: []int64{8192}, Read: true}},
		"sizes, the best": {"1024 * steps", &Roofline{Bytes: "8 * 1024 * steps"}, Needs{Sets: []int64{16384, 8192}}},
		"not computable":  {"1024", &Roofline{Bytes: "div(8192, steps - 1)"}, Needs{Sets: []int64{8192}}},
	} {
		p := mustProblem(t, moving(c.n, c.roofline))
		if got := p.LimitNeeds(needing(t, p), Device{}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if got := p.LimitNeeds(nil, Device{}); len(got.Sets) > 0 || got.Read {
			t.Errorf("%s, no results: %+v", name, got)
		}
	}
}

// Limits that are added later are those of a search whose peaks were known.
func TestAddLimits(t *testing.T) {
	d := moving("1024", &Roofline{Flops: "1e8 * steps", Bytes: "8192"})
	d.Metrics = []Metric{{"speed", "1 / time"}}
	p := mustProblem(t, d)
	known := Device{Peaks: testPeaks()}
	results, want := needing(t, p), needing(t, p)
	for i := range 2 {
		for _, judged := range []struct {
			r *Result
			d Device
		}{{&results[i], Device{}}, {&want[i], known}} {
			var err error
			if judged.r.Metrics, _, err = p.judge(judged.r.Configuration, judged.d, judged.r.Stats(), judged.r.Time()); err != nil {
				t.Fatal(err)
			}
		}
	}
	results[1].Final, want[1].Final = []float64{1.5, 2.5, 1.75}, []float64{1.5, 2.5, 1.75}
	results[1].AtFinal, want[1].AtFinal = p.judgeFinal(&results[1], Device{}), p.judgeFinal(&want[1], known)
	before := slices.Clone(results[0].Metrics)
	shared := results[0].Metrics
	for range 2 { // the second time changes nothing
		p.AddLimits(results, known)
		if !reflect.DeepEqual(results, want) {
			t.Errorf("%+v, want %+v", results, want)
		}
	}
	if !slices.Equal(shared, before) {
		t.Errorf("the metrics that others hold became %v", shared)
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
