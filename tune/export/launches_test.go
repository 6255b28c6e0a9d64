package export_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/export"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

// sortSteps is a pipeline whose repetitions read a constant that its problem size does not read.
func sortSteps(n, steps int) definition.Definition {
	return definition.Definition{
		Kernel:      definition.Kernel{Name: "sort", Source: "__kernel void local_sort() {}\n__kernel void merge() {}\n__kernel void clean() {}"},
		Constants:   []definition.Constant{{Name: "n", Value: n}, {Name: "steps", Value: steps, Host: true}, {Name: "scale", Value: 0.5}},
		ProblemSize: []definition.Expr{"n"},
		Stages: []definition.Stage{
			{Kernel: "local_sort", Arguments: []string{"keys", "tile"}},
			{Repeat: "steps", Index: "step", Swap: [2]string{"keys", "count"}, Stages: []definition.Stage{
				{Kernel: "merge", Arguments: []string{"keys", "count", "stride", "half", "ends"}},
				{Kernel: "clean", Arguments: []string{"count", "sums", "again"}, Repeat: "step % 2 == 1", Shape: definition.Shape{ProblemSize: []definition.Expr{"n - step"}}},
			}},
		},
		Arguments: []definition.Argument{
			{Name: "keys", Type: "uint32", Size: "n", Output: true}, {Name: "count", Type: "uint32", Size: "n"},
			{Name: "stride", Type: "float2", Value: []any{"scale * n", "step"}}, {Name: "half", Type: "double", Value: 0.5}, {Name: "ends", Type: "double", Value: "n - step"}, {Name: "tile", Type: "double", LocalSize: "2 * block_size_x"},
			{Name: "sums", Type: "double", Size: "3 * block_size_x"}, {Name: "again", Type: "float", Alias: "sums"},
		},
		Parameters: []space.Parameter{{Name: "block_size_x", Values: []space.Value{32, 64}}},
	}
}

// wisdomAt is wisdom about a configuration of a problem at a size.
func wisdomAt(t *testing.T, p *problem.Problem, key string, size []int, block int) *wisdom.File {
	t.Helper()
	return &wisdom.File{Key: key, Parameters: p.Parameters().Names(), Objective: score.Objective{Name: "time"}, Records: []wisdom.Record{{
		Device: hardware.Device{Name: "d"}, ProblemSize: size, Configuration: map[string]space.Value{"block_size_x": block}, Time: 1, Objective: 1, SourceDigest: p.KernelDigest(),
	}}}
}

// TestLaunchesOfAPipeline compares the launches that programs with exported files make, at sizes of their own, with
// those of ndtune.
func TestLaunchesOfAPipeline(t *testing.T) {
	p := mustProblem(t, sortSteps(1000, 3))
	folder := programFolder(t, "launch", p, wisdomAt(t, p, "sort", []int{1000}, 64))
	for _, program := range programs {
		t.Run(program.name, func(t *testing.T) {
			limits := []int{0}
			if strings.HasPrefix(program.name, "C") { // the other languages return all launches
				limits = []int{0, 1, 3}
			}
			var in, want strings.Builder
			for _, n := range []int{-1, 1, 2, 1000, 4096} {
				for steps := range 6 {
					for _, most := range limits {
						fmt.Fprintln(&in, n, steps, most)
						want.WriteString(launchesOf(t, n, steps, most) + "\n")
					}
				}
			}
			if got := program.output(t, folder, in.String()); got != want.String() {
				t.Errorf("%s\nwant\n%s", got, want.String())
			}
		})
	}
}

// launchesOf is a line of the program: the launches, of which one fails, the status and the buffer with the keys.
func launchesOf(t *testing.T, n, steps, most int) string {
	if n < 1 {
		return "no size"
	}
	p := mustProblem(t, sortSteps(n, steps))
	c, err := p.Parameters().Configure(map[string]space.Value{"block_size_x": 64})
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Variant(c, hardware.Device{})
	if err != nil {
		return "fails"
	}
	var b strings.Builder
	names := []string{"keys", "count", "stride", "half", "ends", "tile", "sums", "sums"} // the last by its alias
	bytes := fmt.Sprint(" ", 4*n, " ", 4*n, " ", 8*3*64)
	for i, l := range v.Launches {
		fmt.Fprint(&b, l.Kernel, " ", l.NDRange.Global()[0], " ", l.NDRange.Local[0])
		for place, holder := range l.Arguments {
			switch {
			case l.Scalars[place] != nil:
				fmt.Fprintf(&b, " %x", l.Scalars[place])
			case l.LocalBytes[place] > 0:
				fmt.Fprint(&b, " ", l.LocalBytes[place])
			default:
				b.WriteString(" " + names[holder])
			}
		}
		b.WriteString("; ")
		if i+1 == most {
			return b.String() + "-7 keys" + bytes
		}
	}
	return b.String() + "0 " + names[v.Holders[0]] + bytes
}

// TestSizesOfBuffers: a constant that only the size of a buffer reads is one that the application gives.
func TestSizesOfBuffers(t *testing.T) {
	d := scale()
	d.Constants = append(d.Constants, definition.Constant{Name: "other", Value: 4})
	d.Arguments[0].Size = "size * max(1, range) * depth"
	p := mustProblem(t, d)
	f := wisdomAt(t, p, "scale", []int{64, 35}, 8)
	f.Records[0].Configuration = map[string]space.Value{"block_size_x": 8, "tile": 1, "part": 0.5, "class": true, "Tile": 1, "how": "a"}
	header, err := export.C.Export(p, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := "int scale_choose(cl_device_id device, int64_t size, int64_t range, int64_t lambda, int64_t depth, scale_choice *choice)"; !strings.Contains(string(header.Content), want) {
		t.Errorf("the header lacks %s", want)
	}
}

// TestPipelinesThatCannotBeWritten names what is missing.
func TestPipelinesThatCannotBeWritten(t *testing.T) {
	for _, test := range []struct {
		change func(*definition.Definition)
		size   []definition.Expr
		want   string
	}{
		{func(d *definition.Definition) {}, nil, ""},
		{func(d *definition.Definition) {}, []definition.Expr{"n", "steps"}, ""},
		{func(d *definition.Definition) {
			d.ProblemSize, d.Stages[0].ProblemSize, d.Stages[1].Stages[0].ProblemSize = nil, []definition.Expr{"n"}, []definition.Expr{"n"}
		}, nil, "the pipeline has no problem_size, which chooses the configuration; give another with --size, such as n or nx,ny"},
		{func(d *definition.Definition) { d.ProblemSize[0] = "n * block_size_x" }, nil, "the size of the problem chooses the configuration, so it reads constants only: problem_size[0]: in \"n * block_size_x\""},
		{func(d *definition.Definition) { d.Stages[1].Repeat = "min(steps, device.compute_units)" }, nil, "device.compute_units"},
		{func(d *definition.Definition) { d.Arguments[2].Value = []any{"scale ** 0.3", "step"} }, nil, "argument stride: scale ** 0.3 cannot be exported"},
		{func(d *definition.Definition) { d.Arguments[6].Size = "ceil(n ** 0.3)" }, nil, "the sizes of the buffers: ceil(n ** 0.3) cannot be exported"},
		{func(d *definition.Definition) {
			d.Types = []definition.StructType{{Name: "row", Fields: []definition.StructField{{Name: "x", Type: "float", Count: "n"}}}}
		}, nil, "the length of x in the type row reads the size n"},
	} {
		d := sortSteps(8, 3)
		test.change(&d)
		p := mustProblem(t, d)
		switch files, err := exportAll(p, wisdomAt(t, p, "sort", []int{8}, 32), test.size); {
		case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%v, want %s", err, test.want)
		case test.want != "" && files != nil:
			t.Errorf("%s: %d files", test.want, len(files))
		}
	}
}
