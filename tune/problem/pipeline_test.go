package problem

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
)

// passes is a pipeline: a first kernel, then passes of two kernels over two buffers that change places.
func passes() definition.Definition {
	d := saxpy()
	d.Kernel.Name = ""
	d.Arguments[1].Name = "x"
	d.Arguments = append(d.Arguments, definition.Argument{Name: "stride", Type: "int32", Value: "shift_left(unroll, pass) + k"})
	d.Metrics = []definition.Metric{{Name: "first", Expression: "times.first"}, {Name: "rest", Expression: "time - times.first"}}
	d.Stages = []definition.Stage{
		{Kernel: "first", Arguments: []string{"y", "x"}},
		{Repeat: "unroll", Index: "pass", Swap: [2]string{"y", "x"}, Stages: []definition.Stage{
			{Kernel: "up", Arguments: []string{"x", "y", "stride"}, Shape: definition.Shape{ProblemSize: []definition.Expr{"n - pass"}}, Repeat: "2", Index: "k"},
			{Kernel: "down", Arguments: []string{"y", "scratch"}, Repeat: "pass > 0"},
		}},
	}
	return d
}

func TestLaunchesOfAPipeline(t *testing.T) {
	d := passes()
	d.Stages[1].Stages[1].Arguments = []string{"y", "x"}
	p := mustProblem(t, d)
	v, err := p.Variant(configurationOf(t, p, map[string]space.Value{"unroll": 2}), hardware.Device{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range v.Launches {
		got = append(got, fmt.Sprint(l.Kernel, l.NDRange.Global(), l.Arguments, l.Scalars[len(l.Scalars)-1]))
	}
	want := []string{
		"first[1024] [0 1] []",
		"up[1024] [1 0 4] [2 0 0 0]", "up[1024] [1 0 4] [3 0 0 0]",
		"up[1024] [0 1 4] [4 0 0 0]", "up[1024] [0 1 4] [5 0 0 0]", "down[1024] [1 0] []",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if fmt.Sprint(v.Holders) != "[1 0 2 3 4]" {
		t.Errorf("holders %v", v.Holders)
	}
	if name := p.KernelName(); name != "first+up+down" {
		t.Errorf("name %s", name)
	}
	if size := p.FixedProblemSize(); len(size) != 1 || size[0] != 1000 {
		t.Errorf("problem size %v", size)
	}
	parts := Parts(v.Launches)
	if len(parts) != 3 || parts[1].Launches != 4 || parts[1].String() != "up, 4 launches: global size 1024, local size 32, 0.000 ms" {
		t.Errorf("parts %v", parts)
	}
}

// TestTheTimesOfParts shares the time of a run among the kernels as in the search.
func TestTheTimesOfParts(t *testing.T) {
	p := mustProblem(t, passes())
	c := configurationOf(t, p, nil)
	parts := []Part{{Kernel: "first", Time: 1}, {Kernel: "up", Time: 3}}
	judgement, err := p.Judge(c, hardware.Device{}, score.StatsOf([]float64{8}), parts, nil)
	if err != nil || fmt.Sprint(judgement.Metrics) != "[{first 2} {rest 6}]" {
		t.Errorf("%v, %v", judgement.Metrics, err)
	}
	if judgement, err = p.Judge(c, hardware.Device{}, score.StatsOf([]float64{8}), nil, nil); err != nil || judgement.Metrics[0].Value == judgement.Metrics[0].Value {
		t.Errorf("without parts: %v, %v", judgement.Metrics, err)
	}
}

func TestWrongPipelines(t *testing.T) {
	deep := definition.Stage{Kernel: "k"}
	for range maxStageDepth + 1 {
		deep = definition.Stage{Repeat: "1", Stages: []definition.Stage{deep}}
	}
	for _, test := range []struct {
		change func(*definition.Definition)
		want   string
	}{
		{func(d *definition.Definition) { d.Stages[0].Kernel = "" }, "kernels[0]: give the name of a kernel, or a list of kernels"},
		{func(d *definition.Definition) { d.Stages[1].Kernel = "k" }, "kernels[1]: is a kernel or a list of kernels, not both"},
		{func(d *definition.Definition) { d.Stages[0].Kernel = "a b" }, `kernels[0].name: "a b" is not the name of a kernel function`},
		{func(d *definition.Definition) { d.Stages[0].Arguments = []string{"y", "z"} }, `kernels[0].arguments: no argument is named "z"`},
		{func(d *definition.Definition) { d.Stages[0].Arguments = []string{} }, "kernels[0].arguments: the list is empty"},
		{func(d *definition.Definition) { d.Stages[0].Arguments = []string{"stride"} }, "kernels[0].arguments: the value of stride reads pass, which no loop around this kernel counts"},
		{func(d *definition.Definition) { d.Stages[1].Index = "unroll" }, `kernels[1].index: "unroll" is no new name`},
		{func(d *definition.Definition) { d.Stages[1].Stages[0].Index = "pass" }, `kernels[1].kernels[0].index: "pass" is no new name`},
		{func(d *definition.Definition) { d.Stages[1].Repeat = "" }, "kernels[1]: index and swap belong to a repeat"},
		{func(d *definition.Definition) { d.Stages[1].Repeat = "-1" }, "kernels[1].repeat: repeat: -1 is -1; it must not be negative"},
		{func(d *definition.Definition) { d.Stages[1].Repeat = "0.5" }, "kernels[1].repeat: "},
		{func(d *definition.Definition) { d.Stages[1].Swap[1] = "scratch" }, "kernels[1].swap: want two different buffers of one type"},
		{func(d *definition.Definition) { d.Stages[1].ProblemSize = []definition.Expr{"n"} }, "kernels[1]: sizes and arguments belong to the kernels of the list"},
		{func(d *definition.Definition) { d.ProblemSize = nil }, "kernels[0].problem_size: has 0 dimensions; want one to three"},
		{func(d *definition.Definition) { d.Stages[0].ProblemSize = []definition.Expr{"pass"} }, `kernels[0].problem_size[0]: in "pass": nothing is named pass`},
		{func(d *definition.Definition) { d.GlobalOffset = []definition.Expr{"0", "1"} }, "kernels[0].global_offset: has 2 dimensions, problem_size 1"},
		{func(d *definition.Definition) { d.Stages = []definition.Stage{deep} }, "loops are nested deeper than 8"},
		{func(d *definition.Definition) { d.Constants[0].Name = "times" }, "constants.times: metrics of a pipeline use this name for the times of its kernels"},
		{func(d *definition.Definition) { d.Metrics[0].Expression = "times.frist" }, `metrics.first: `},
	} {
		d := passes()
		test.change(&d)
		if _, err := New(d); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
	if _, err := New(passes()); err != nil {
		t.Error(err)
	}
}

func TestPipelinesWithoutEnd(t *testing.T) {
	for repeat, want := range map[string]string{"unroll - 1": "no kernel is launched", "10000000 * unroll": "the pipeline has more than 65536 launches"} {
		d := saxpy()
		d.Stages = []definition.Stage{{Kernel: "saxpy", Repeat: repeat}}
		p := mustProblem(t, d)
		if _, err := p.Variant(configurationOf(t, p, nil), hardware.Device{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", repeat, err, want)
		}
	}
}

func TestTheDriverChoosesWorkGroups(t *testing.T) {
	d := saxpy()
	d.BlockSize[0], d.Arguments, d.GlobalOffset = "unroll - 1", d.Arguments[:3], []definition.Expr{"10 * unroll"}
	p := mustProblem(t, d)
	for unroll, want := range map[int]string{1: "[1000] [] [10]", 2: "[1000] [1] [20]"} {
		v, err := p.Variant(configurationOf(t, p, map[string]space.Value{"unroll": unroll}), hardware.Device{MaxWorkGroupSize: 8})
		if err != nil {
			t.Fatal(err)
		}
		r := v.Launches[0].NDRange
		if got := fmt.Sprint(r.Global(), r.WorkGroup(), r.GlobalOffset()); got != want || v.ExceededLimit(hardware.Device{MaxWorkGroupSize: 8}) != "" {
			t.Errorf("unroll=%d: %s, want %s", unroll, got, want)
		}
	}
}

// TestFaultsOfSizesThatAllKernelsHave reports them once, at the key of the specification.
func TestFaultsOfSizesThatAllKernelsHave(t *testing.T) {
	d := passes()
	d.ProblemSize, d.BlockSize[0], d.Stages[1].Stages[0].ProblemSize = []definition.Expr{"m"}, "block", nil
	_, err := New(d)
	var got []string
	for _, f := range fieldsOf(err) {
		got = append(got, f.Field)
	}
	if strings.Join(got, " ") != "problem_size[0] block_size.x" {
		t.Errorf("%v", err)
	}
}
