package export

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

func scale() problem.Definition {
	return problem.Definition{
		Kernel: problem.Kernel{Name: "scale", Source: "// \"scale\" \\ ??/ é\n__kernel void scale(__global float *x) { x[get_global_id(0)] *= factor; }", BuildOptions: []string{"-DFAST=1"}},
		Constants: []problem.Constant{
			{Name: "size", Value: 64}, {Name: "h", Value: 32, Host: true}, {Name: "factor", Value: "2.5f"}, {Name: "pad", Value: 3},
		},
		ProblemSize: []problem.Expr{"size", "h + pad"},
		Arguments:   []problem.Argument{{Name: "x", Type: "float32", Size: "size * max(1, h)", Output: true}},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{8, 16, 32}}, {Name: "tile", Values: []space.Value{1, 2}},
			{Name: "part", Values: []space.Value{0.5, 1.0}}, {Name: "class", Values: []space.Value{true, false}}, {Name: "how", Values: []space.Value{"a", "b"}},
		},
		GridDiv: [3][]problem.Expr{{"block_size_x", `how == "a" and class ? tile : 2 * tile`}, {"int(2 * part)"}, nil},
	}
}

func mustProblem(t *testing.T, d problem.Definition) *problem.Problem {
	t.Helper()
	p, err := problem.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var (
	names    = []string{"NVIDIA H200", "NVIDIA A100", "gfx90a", "Iris", "CPU"}
	vendors  = []string{"NVIDIA Corporation", "NVIDIA Corporation", "AMD", "Intel", "Intel"}
	types    = []string{"gpu", "gpu", "gpu", "gpu", "cpu"}
	majors   = []int{9, 8, 0, 0, 0}
	typeBits = map[string]int{"cpu": 2, "gpu": 4}
)

// device returns a device of the lists, sometimes with another name, so that its architecture or its vendor decide.
func device(r *rand.Rand) (d hardware.Device, major int) {
	i := r.IntN(len(names))
	d = hardware.Device{Name: names[i], Vendor: vendors[i], Type: types[i], Driver: fmt.Sprint("driver ", r.IntN(2))}
	switch {
	case majors[i] > 0:
		d.Architecture = hardware.ComputeCapability(majors[i], 0)
	case strings.HasPrefix(d.Name, "gfx"):
		d.Architecture = d.Name
	}
	if r.IntN(3) == 0 {
		d.Name += ":another"
	}
	if r.IntN(9) == 0 {
		d.Vendor = "nobody"
	}
	d.Platform = []string{"", "one", "two"}[r.IntN(3)]
	return d, majors[i]
}

// TestHeaderChoosesAsWisdomDoes asks a program with the header about random devices and sizes.
func TestHeaderChoosesAsWisdomDoes(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		if strings.Contains(os.Getenv("NDTUNE_REQUIRE_COMPILERS"), "gcc") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	p := mustProblem(t, scale())
	r := rand.New(rand.NewPCG(15, 3))
	f := &wisdom.File{Key: "scale", Parameters: p.Parameters().Names(), Objective: problem.Objective{Name: "time"}}
	for n := range 40 {
		c := map[string]space.Value{}
		for i := range p.Parameters().Len() {
			q := p.Parameters().At(i)
			c[q.Name] = q.Values[r.IntN(len(q.Values))]
		}
		d, _ := device(r)
		if r.IntN(5) == 0 {
			d.Vendor, d.Type = "", ""
		}
		f.Records = append(f.Records, wisdom.Record{
			Device: d, ProblemSize: []int{1 << (2 + r.IntN(8)), 3 + 1<<(2+r.IntN(8))}, Configuration: c,
			Time: float64(n + 1), Objective: float64(r.IntN(9) + 1), Verified: r.IntN(3) > 0, SourceDigest: p.KernelDigest(),
			Date: time.Unix(int64(r.IntN(5)), 0),
		})
	}
	folder := t.TempDir()
	var text bytes.Buffer
	if err := WriteHeader(&text, p, f); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "scale.h"), text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	var in, want bytes.Buffer
	for range 500 {
		d, major := device(r)
		w, h := 1+r.IntN(600), r.IntN(600)-4
		fmt.Fprintf(&in, "%s\t%s\t%s\t%d\t%d\t%s\t%d\t%d\n", d.Name, d.Vendor, d.Driver, typeBits[d.Type], major, d.Platform, w, h)
		choice, err := f.Choose(wisdom.Query{Device: d, ProblemSize: []int{w, h + 3}, SourceDigest: p.KernelDigest()})
		if err != nil {
			fmt.Fprintln(&want, "no size")
			continue
		}
		sized := scale()
		sized.Constants[0].Value, sized.Constants[1].Value = w, h
		at := mustProblem(t, sized)
		c, err := at.Parameters().Configure(choice.Record.Configuration)
		if err != nil {
			t.Fatal(err)
		}
		same := 0
		if !slices.ContainsFunc(choice.Weaknesses, func(w wisdom.Weakness) bool { return w.Kind == wisdom.DriverDiffers }) && choice.Level != wisdom.BestOverall {
			same = 1
		}
		options := fmt.Sprintf("-DFAST=1 -D factor=2.5f %s -D size=%d -D pad=3", problem.BuildOptions(c), w)
		launches, err := at.Launches(c, d)
		if err != nil {
			fmt.Fprintf(&want, "%d %d %s no launch\n", choice.Level, same, options)
			continue
		}
		l := launches[0].NDRange
		fmt.Fprintf(&want, "%d %d %s global %d,%d local %d,%d\n", choice.Level, same, options, l.Global()[0], l.Global()[1], l.Local[0], l.Local[1])
	}
	fmt.Fprint(&want, strings.SplitAfter(scale().Kernel.Source, "\n")[0])
	program := filepath.Join(folder, "ask")
	for _, standard := range [][]string{{"-std=c99", "-x", "c"}, {"-std=c++17", "-x", "c++"}} {
		args := append(standard, "-Wall", "-Wextra", "-Werror", "-pedantic", "-Itestdata/stub", "-I"+folder, "testdata/ask.c", "-o", program, "-lm")
		if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			if strings.Contains(string(out), "cc1plus") {
				t.Log("gcc has no C++")
				continue
			}
			t.Fatalf("%v: %v\n%s", standard, err, out)
		}
		ask := exec.Command(program)
		ask.Stdin = bytes.NewReader(in.Bytes())
		got, err := ask.Output()
		if err != nil {
			t.Fatal(err)
		}
		g, w := strings.Split(string(got), "\n"), strings.Split(want.String(), "\n")
		differ := 0
		for i := range min(len(g), len(w)) {
			if g[i] != w[i] {
				if differ++; differ < 5 {
					t.Errorf("%v, line %d:\n%s\ngot  %s\nwant %s", standard, i, strings.Split(in.String(), "\n")[min(i, 499)], g[i], w[i])
				}
			}
		}
		if len(g) != len(w) || differ > 0 {
			t.Errorf("%v: %d lines, want %d; %d differ", standard, len(g), len(w), differ)
		}
	}
}

func TestHeadersThatCannotBeWritten(t *testing.T) {
	file := func(p *problem.Problem) *wisdom.File {
		c, err := p.Parameters().ConfigureFirst(nil)
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]space.Value{}
		c.Assign(values)
		return &wisdom.File{Key: "scale", Parameters: p.Parameters().Names(), Objective: problem.Objective{Name: "time"}, Records: []wisdom.Record{{
			Device: hardware.Device{Name: "d"}, ProblemSize: []int{1, 4}, Configuration: values, Time: 1, Objective: 1, SourceDigest: p.KernelDigest(),
		}}}
	}
	for _, test := range []struct {
		change func(*problem.Definition, *wisdom.File)
		want   string
	}{
		{func(d *problem.Definition, f *wisdom.File) {}, ""},
		{func(d *problem.Definition, f *wisdom.File) { f.Key = "a-b" }, `the key "a-b" is no identifier of C`},
		{func(d *problem.Definition, f *wisdom.File) { f.Records[0].SourceDigest = "another" }, "all records are of another source of the kernel"},
		{func(d *problem.Definition, f *wisdom.File) { f.Parameters = []string{"x"} }, "the wisdom is about the parameters x, the specification has block_size_x"},
		{func(d *problem.Definition, f *wisdom.File) { d.Stages = []problem.Stage{{Kernel: "scale"}} }, "a pipeline cannot be exported yet"},
		{func(d *problem.Definition, f *wisdom.File) { d.ProblemSize[0] = "size * device.compute_units" }, "problem_size[0]: "},
		{func(d *problem.Definition, f *wisdom.File) {
			d.BlockSize[0] = "min(block_size_x, device.max_work_group_size)"
		}, "the NDRange of scale: "},
		{func(d *problem.Definition, f *wisdom.File) { d.Kernel.BuildOptions = []string{"-DHALF={size / 2}"} }, "the build option -DHALF={size / 2} reads the size size"},
		{func(d *problem.Definition, f *wisdom.File) { d.Parameters[4].Values = []space.Value{"a b"} }, "that no compiler's option can carry"},
		{func(d *problem.Definition, f *wisdom.File) { d.Parameters[4].Values = []space.Value{"a", 3} }, "the parameter how has values of several types"},
		{func(d *problem.Definition, f *wisdom.File) {
			d.Kernel.Source, d.Kernel.Func = "", func(space.Configuration) (string, error) { return "x", nil }
		}, "the source is made for each configuration"},
	} {
		d := scale()
		f := file(mustProblem(t, d))
		test.change(&d, f)
		p := mustProblem(t, d)
		if f.Records[0].SourceDigest != "another" {
			f.Records[0].SourceDigest = p.KernelDigest()
		}
		if test.want == "that no compiler's option can carry" {
			f.Records[0].Configuration["how"] = "a b"
		}
		var b bytes.Buffer
		switch err := WriteHeader(&b, p, f); {
		case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%v, want %s", err, test.want)
		case test.want != "" && b.Len() > 0:
			t.Errorf("%s: %d bytes were written", test.want, b.Len())
		}
	}
}
