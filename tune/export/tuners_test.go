package export_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/golden"
	"github.com/ndtune/ndtune/tune"
	"github.com/ndtune/ndtune/tune/export"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/judge"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
)

func xaxpy() task.Definition {
	return task.Definition{
		Kernel:      task.Kernel{Name: "XaxpyFastest", Source: "__kernel void XaxpyFastest() {}"},
		Constants:   []task.Constant{{Name: "n", Value: 4096, Host: true}, {Name: "VW", Value: 2}},
		ProblemSize: []task.Expr{"n"},
		Arguments: []task.Argument{
			{Name: "n", Type: "int32", Value: "n"}, {Name: "alpha", Type: "float32", Value: 2.0},
			{Name: "x", Type: "float32", Size: "n"}, {Name: "y", Type: "float32", Size: "n", Output: true},
		},
		Parameters: []space.Parameter{{Name: "WGS", Values: []space.Value{64, 128, 256}}, {Name: "WPT", Values: []space.Value{1, 2}}},
		BlockSize:  [3]task.Expr{"WGS"}, GridDiv: [3][]task.Expr{{"WGS", "WPT", "VW"}},
	}
}

var (
	h200 = hardware.Device{
		Name: "NVIDIA H200", Vendor: "NVIDIA Corporation", Type: "gpu", Platform: "NVIDIA CUDA", Driver: "570.1", ComputeUnits: 132, ClockMHz: 1980,
		ComputeMajor: 9, Extensions: []string{"cl_nv_device_attribute_query"},
	}
	mi250 = hardware.Device{
		Name: "AMD Instinct MI250X (gfx90a:sramecc+)", Vendor: "Advanced Micro Devices, Inc.", Type: "gpu", Platform: "AMD", Driver: "3.6",
		Extensions: []string{"cl_amd_device_attribute_query"},
	}
	pthread = hardware.Device{Name: "pthread-cpu", Vendor: "GenuineIntel", Type: "cpu", Platform: "PoCL", Driver: "3.1"}
)

// run returns the record of a run, whose results have the times of WGS, WPT. A negative time is a failure.
func run(t *testing.T, p *problem.Problem, d hardware.Device, n int, times map[[2]int]float64) *record.Record {
	t.Helper()
	r := &record.Record{Header: record.Header{
		Kernel: p.KernelName(), KernelDigest: p.KernelDigest(), Device: d, ProblemSize: []int{n}, Objective: p.Objective(),
		Constants: []task.Constant{{Name: "n", Value: n, Host: true}, {Name: "VW", Value: 2}},
	}}
	for i := range p.Parameters().Len() {
		r.Header.Parameters = append(r.Header.Parameters, p.Parameters().At(i))
	}
	for _, wgs := range []int{64, 128, 256} {
		for _, wpt := range []int{1, 2} {
			c, err := p.Parameters().Configure(map[string]space.Value{"WGS": wgs, "WPT": wpt})
			if err != nil {
				t.Fatal(err)
			}
			switch ms := times[[2]int{wgs, wpt}]; {
			case ms > 0:
				r.Results = append(r.Results, tune.Result{Configuration: c, Status: tune.Correct, Times: []float64{ms}, Objective: ms})
			case ms < 0:
				r.Results = append(r.Results, tune.Result{Configuration: c, Status: tune.Compile, Reason: "it does not compile"})
			}
		}
	}
	return r
}

func runs(t *testing.T, p *problem.Problem) []*record.Record {
	return []*record.Record{
		run(t, p, h200, 4096, map[[2]int]float64{{64, 1}: 1, {64, 2}: 1.0299, {128, 1}: 1.03, {128, 2}: -1, {256, 2}: 3}),
		run(t, p, h200, 65536, map[[2]int]float64{{64, 2}: 20, {256, 1}: 20.5}),
		run(t, p, h200, 4096, map[[2]int]float64{{256, 2}: 1.01}), // measured again
		run(t, p, mi250, 4096, map[[2]int]float64{{256, 1}: 2}),
		run(t, p, pthread, 4096, map[[2]int]float64{{256, 1}: 5}),
	}
}

// TestFilesOfKernelTuner compares the files with those that Kernel Tuner has read.
func TestFilesOfKernelTuner(t *testing.T) {
	p := mustProblem(t, xaxpy())
	results, targets, err := export.KernelTuner(nil, p, runs(t, p))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"kernel_tuner.json": results, "targets.h": targets}
	golden.Check(t, "testdata/tuners.golden", func(name, _ string) string { return string(files[name]) })
}

// TestKernelTunerReplaces: results of the same device and size are replaced, others stay, as store_results does.
func TestKernelTunerReplaces(t *testing.T) {
	p := mustProblem(t, xaxpy())
	old, _, err := export.KernelTuner(nil, p, runs(t, p))
	if err != nil {
		t.Fatal(err)
	}
	data, _, err := export.KernelTuner(old, p, []*record.Record{run(t, p, h200, 4096, map[[2]int]float64{{128, 2}: 7}), run(t, p, h200, 512, map[[2]int]float64{{64, 1}: 0.1})})
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Version    string   `json:"version_number"`
		Parameters []string `json:"tunable_parameters"`
		Kernel     string   `json:"kernel_name"`
		Objective  string   `json:"objective"`
		Maximize   bool     `json:"objective_higher_is_better"`
		Data       []struct {
			Device     string         `json:"device_name"`
			Size       string         `json:"problem_size"`
			Parameters map[string]int `json:"tunable_parameters"`
			Time       float64        `json:"time"`
		}
	}
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	if f.Version != "1.0" || f.Kernel != "XaxpyFastest" || f.Objective != "time" || f.Maximize || !slices.Equal(f.Parameters, []string{"WGS", "WPT"}) {
		t.Errorf("%+v", f)
	}
	var got []string
	for _, e := range f.Data {
		got = append(got, fmt.Sprint(e.Device, " ", e.Size, " ", e.Parameters["WGS"], " ", e.Parameters["WPT"], " ", e.Time))
	}
	want := []string{
		"NVIDIA_H200 65536 64 2 20", "NVIDIA_H200 65536 256 1 20.5", "AMD_Instinct_MI250X_gfx90a_sramecc_ 4096 256 1 2", "pthread_cpu 4096 256 1 5",
		"NVIDIA_H200 4096 128 2 7", "NVIDIA_H200 512 64 1 0.1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestResultsThatKernelTunerCannotHave(t *testing.T) {
	for _, test := range []struct {
		record func(*record.Record)
		twice  bool // with a record that has another constant
		old    string
		want   string
	}{
		{record: func(r *record.Record) { r.Header.KernelDigest = "another" }, want: "is of another source of the kernel: tune it again"},
		{record: func(r *record.Record) { r.Header.Objective = judge.Objective{Name: "speed"} }, want: "has the objective speed, the specification time"},
		{record: func(r *record.Record) { r.Header.Parameters = r.Header.Parameters[1:] }, want: "has other parameters than the specification"},
		{twice: true, want: "two records on NVIDIA H200 at 4096 differ in the constant k, which the files of other tuners cannot tell"},
		{record: func(r *record.Record) { r.Results = nil }, want: "has no results"},
		{old: `{"version_number":`, want: "it is not a results file of Kernel Tuner: "},
		{old: `{"version_number":"2.0"}`, want: `version_number is "2.0"`},
		{old: `{"version_number":"1.0","kernel_name":"f"}`, want: "it is about the kernel f, not XaxpyFastest"},
		{old: `{"version_number":"1.0","kernel_name":"XaxpyFastest","objective":"GFLOP/s"}`, want: "its objective is GFLOP/s"},
		{old: `{"version_number":"1.0","kernel_name":"XaxpyFastest","objective":"time","tunable_parameters":["a"]}`, want: "its parameters are a, not WGS, WPT"},
		{old: `{"version_number":"1.0","kernel_name":"XaxpyFastest","objective":"time","tunable_parameters":["WGS","WPT"],"kernel_string":"x"}`, want: "its results are of another source of the kernel"},
		{old: `{"version_number":"1.0","kernel_name":"XaxpyFastest","objective":"time","tunable_parameters":["WPT","WGS"],"data":[{"device_name":"a"}]}`, want: "data[0] of the results file of Kernel Tuner has no device_name, tunable_parameters or time"},
		{old: `{"version_number":"1.0","kernel_name":"XaxpyFastest","objective":"time","tunable_parameters":["WPT","WGS"],"data":[{"device_name":"a","time":1,"tunable_parameters":{"WGS":1}}]}`, want: "data[0] of the results file of Kernel Tuner has no WPT"},
	} {
		p := mustProblem(t, xaxpy())
		r := run(t, p, h200, 4096, map[[2]int]float64{{64, 1}: 1})
		if test.record != nil {
			test.record(r)
		}
		records := []*record.Record{r}
		if test.twice {
			other := *r
			other.Header.Constants = append(slices.Clone(r.Header.Constants), task.Constant{Name: "k", Value: 1})
			records = append(records, &other)
		}
		var old []byte
		if test.old != "" {
			old = []byte(test.old)
		}
		_, _, err := export.KernelTuner(old, p, records)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}
