package wisdom

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

var h200 = hardware.Device{
	Name: "NVIDIA H200", Vendor: "NVIDIA Corporation", Type: "gpu", Platform: "NVIDIA CUDA", Driver: "570.1",
	Architecture: "sm_90", UUID: "9d2c", PCI: "0000:00:06.0",
}

// run is the record of a run on the H200 in which the configurations x = 1, 2, … had these times in the
// search. A time of 0 is a failure.
func run(t testing.TB, size []int, times ...float64) *record.Record {
	t.Helper()
	x := space.Parameter{Name: "x"}
	for i := range times {
		x.Values = append(x.Values, i+1)
	}
	parameters := []space.Parameter{x, {Name: "f", Values: []space.Value{1.0}}, {Name: "s", Values: []space.Value{"a\"<b"}}, {Name: "b", Values: []space.Value{true}}}
	p, err := space.NewParameters(parameters)
	if err != nil {
		t.Fatal(err)
	}
	r := &record.Record{Header: record.Header{
		Kernel: "k", KernelDigest: "d1", Device: h200, Parameters: parameters, ProblemSize: size,
		Objective: score.Objective{Name: "time"}, Started: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
	}}
	for i, ms := range times {
		c, err := p.Configure(map[string]space.Value{"x": i + 1, "f": 1.0, "s": "a\"<b", "b": true})
		if err != nil {
			t.Fatal(err)
		}
		result := tune.Result{Configuration: c, Status: tune.Runtime}
		if ms != 0 {
			result = tune.Result{Configuration: c, Status: tune.Correct, Times: []float64{ms}, Objective: ms, Verified: true}
		}
		r.Results = append(r.Results, result)
	}
	return r
}

func mustLog(t testing.TB, r *record.Record, s Source) *File {
	t.Helper()
	f, err := FromLog(r, s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// order returns the values of x of the records, in order.
func order(f *File) string {
	var xs []any
	for _, r := range f.Records {
		xs = append(xs, r.Configuration["x"])
	}
	return fmt.Sprint(xs)
}

func TestFromLogTakesTheBest(t *testing.T) {
	r := run(t, []int{4096, 1024}, 7, 2, 3, 0, 4, 5, 6)
	f := mustLog(t, r, Source{})
	if got := order(f); got != "[2 3 5 6 7]" {
		t.Errorf("the configurations x=%s", got)
	}
	first := f.Records[0]
	if first.Time != 2 || !first.Verified || first.SourceDigest != "d1" || first.Device.UUID != h200.UUID || !first.Date.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("%+v", first)
	}
	if text := f.Text(&first); text != `x=2, f=1.0, s=a"<b, b=1` {
		t.Error(text)
	}

	// The final measurement decides.
	for x, ms := range map[int]float64{2: 2.5, 3: 2.25} {
		result := &r.Results[x-1]
		result.Final, result.AtFinal = []float64{ms}, &score.Judgement{Objective: ms}
	}
	if f := mustLog(t, r, Source{Key: "other"}); order(f) != "[3 2 5 6 7]" || f.Records[0].Time != 2.25 || f.Records[0].Objective != 2.25 || f.Key != "other" {
		t.Errorf("after the final measurement: %s %+v", order(f), f.Records[0])
	}
}

func TestFromLogOfOlderRecords(t *testing.T) {
	r := run(t, nil, 1)
	r.Header.KernelDigest, r.Header.Device.Architecture = "", ""
	r.Header.Device.ComputeMajor, r.Header.Device.ComputeMinor = 9, 0
	got := mustLog(t, r, Source{ProblemSize: []int{64}}).Records[0]
	if got.SourceDigest != "" || got.Device.Architecture != "sm_90" || got.Device.ComputeMajor != 0 || got.ProblemSize[0] != 64 {
		t.Errorf("%+v", got)
	}
}

func TestFromLogRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*record.Record)
		source Source
		says   string
	}{
		"no kernel":      {func(r *record.Record) { r.Header.Kernel = "" }, Source{}, "does not name the kernel; give a key"},
		"no device":      {func(r *record.Record) { r.Header.Device.Name = " " }, Source{}, "does not name the device"},
		"no size":        {func(r *record.Record) { r.Header.ProblemSize = nil }, Source{}, "has no problem size"},
		"another size":   {func(*record.Record) {}, Source{ProblemSize: []int{32}}, "its problem size is 64×64, not 32"},
		"a size of 0":    {func(r *record.Record) { r.Header.ProblemSize = []int{0} }, Source{}, "not one to three positive numbers"},
		"four sizes":     {func(r *record.Record) { r.Header.ProblemSize = []int{1, 1, 1, 1} }, Source{}, "not one to three positive numbers"},
		"no result":      {func(r *record.Record) { r.Results = r.Results[1:] }, Source{}, "has no correct configuration"},
		"negative":       {func(r *record.Record) { r.Results[0].Objective = -1 }, Source{}, "the objective time is -1"},
		"without a time": {func(r *record.Record) { r.Results[0].Times = nil }, Source{}, "the time 0 ms, and both must be positive"},
	} {
		r := run(t, []int{64, 64}, 1, 0)
		test.change(r)
		if _, err := FromLog(r, test.source); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
	}
}

func TestSorted(t *testing.T) {
	f := fileOf(at(1, h200, 64, 2), at(2, a100, 64), at(3, h200, 64).took(2), at(4, h200, 64).took(1), at(5, newer, 64), at(6, h200, 64).of("d0"), at(7, h200, 32, 4))
	if got := order(&File{Records: f.Sorted()}); got != "[2 6 7 4 3 1 5]" {
		t.Error(got)
	}
	f.Objective.Maximize = true
	if got := order(&File{Records: f.Sorted()}); got != "[2 6 7 3 4 1 5]" {
		t.Error(got)
	}
	many := fileOf()
	for i := range 500 {
		many.Records = append(many.Records, at(i, h200, 64+i%50).with(i))
	}
	if n := testing.AllocsPerRun(1, func() { many.Sorted() }); n > 500*20 {
		t.Errorf("%.0f allocations for 500 records: the text of constants is made in each comparison", n)
	}
}
