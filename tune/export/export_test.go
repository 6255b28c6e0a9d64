package export_test

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

	"github.com/ndtune/ndtune/cl"
	"github.com/ndtune/ndtune/internal/foreign"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/export"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

// scaleSource is the exported source of scale.
func scaleSource() string {
	return "#undef mix\n#define mix ndtune_mix\n#line 1\n" + scale().Kernel.Source
}

func scale() definition.Definition {
	return definition.Definition{
		Kernel: definition.Kernel{Name: "scale", Source: "// \"scale\" \\ ??/ é\n__kernel void scale(__global float *x) { x[get_global_id(0)] *= factor; }", BuildOptions: []string{"-DFAST=1", `-DTEXT="a \"b"`}},
		Constants: []definition.Constant{
			{Name: "size", Value: "0x40UL"}, {Name: "range", Value: 32, Host: true}, {Name: "factor", Value: "2.5f"}, {Name: "lambda", Value: "3u"},
			{Name: "steps", Value: 5, Host: true}, {Name: "depth", Value: 7, Host: true}, {Name: "width", Value: 9, Host: true},
			{Name: "mix", Value: "1.5f"}, {Name: "tall", Value: "range + lambda", Host: true},
		},
		ProblemSize: []definition.Expr{"size", "tall"}, GlobalOffset: []definition.Expr{"size % 3", "0"},
		Arguments: []definition.Argument{{Name: "x", Type: "float32", Size: "size * max(1, range) + depth + steps", Output: true}},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{8, 16, 32}}, {Name: "tile", Values: []space.Value{1, 2}},
			{Name: "part", Values: []space.Value{0.5, 1.0}}, {Name: "class", Values: []space.Value{true, false}}, {Name: "Tile", Values: []space.Value{1, 2.5}}, {Name: "how", Values: []space.Value{"a", "b"}},
		},
		GridDiv: [3][]definition.Expr{{"block_size_x", `how == "a" and class ? tile : 2 * tile`}, {"int(2 * part)", "0.7 * part"}, nil},
	}
}

func mustProblem(t *testing.T, d definition.Definition) *problem.Problem {
	t.Helper()
	p, err := problem.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A reported is a device as its driver reports it.
type reported struct {
	name, vendor, driver, platform string
	typ                            int    // bits
	extension, board               string // "", nv, amd or intel
	major, minor, version          int    // of the compute capability, of the gfx name; the IP version
}

var models = []reported{
	{name: "NVIDIA H200", vendor: "NVIDIA Corporation", typ: 4, extension: "nv", major: 9},
	{name: "NVIDIA A100", vendor: "NVIDIA Corporation", typ: 4, extension: "nv", major: 8},
	{name: "gfx90a:sramecc+", vendor: "AMD", typ: 4, extension: "amd", board: "AMD Instinct MI250X", major: 9, minor: 0},
	{name: "gfx90a", vendor: "AMD", typ: 4, extension: "amd", board: "AMD Instinct MI210", major: 9, minor: 0},
	{name: "Hawaii", vendor: "AMD", typ: 4, extension: "amd", board: "AMD Radeon R9", major: 8, minor: 1},
	{name: "Iris", vendor: "Intel", typ: 4, extension: "intel", version: 12<<22 | 60<<14 | 7},
	{name: "Iris Xe", vendor: "Intel", typ: 4, extension: "intel"},
	{name: "CPU", vendor: "Intel", typ: 2}, {name: "CPU 2", vendor: "Intel", typ: 2}, {name: "FPGA", vendor: "Intel", typ: 8},
}

// device returns one of the models, sometimes with another name, so that its architecture or its vendor decide.
func device(r *rand.Rand) reported {
	d := models[r.IntN(len(models))]
	d.driver, d.platform = fmt.Sprint("driver ", r.IntN(2)), []string{"", "one", "two"}[r.IntN(3)]
	if r.IntN(2) == 0 {
		d.name += fmt.Sprint(":", r.IntN(20))
	}
	if r.IntN(4) == 0 {
		d.vendor = fmt.Sprint("vendor ", r.IntN(20))
	}
	return d
}

// described returns the device as ndtune records it.
func (d reported) described() hardware.Device {
	h := hardware.Device{Name: d.name, Vendor: d.vendor, Driver: d.driver, Platform: d.platform, Type: map[int]string{2: "cpu", 4: "gpu", 8: "accelerator"}[d.typ]}
	switch d.extension {
	case "nv":
		h.Architecture = hardware.ComputeCapability(d.major, d.minor)
	case "amd":
		h.Architecture = (&cl.AMDInfo{GFXIPMajor: d.major, GFXIPMinor: d.minor}).Architecture(d.name)
		h.Name = d.board + " (" + d.name + ")"
	case "intel":
		h.Architecture = (&cl.IntelInfo{IPVersion: uint32(d.version)}).Architecture()
	}
	return h
}

// questions returns lines with random devices and sizes, and the lines with which a program answers as wisdom does.
func questions(t *testing.T, r *rand.Rand, p *problem.Problem, f *wisdom.File, size func() int) (in, want string) {
	t.Helper()
	var questions, answers strings.Builder
	levels := map[wisdom.Level]int{}
	n := 250
	if os.Getenv("NDTUNE_LONG") != "" {
		n = 500
	}
	for range n {
		d := device(r)
		h := d.described()
		w, height := size(), size()-4
		if at := f.Records[r.IntN(len(f.Records))].ProblemSize; r.IntN(2) == 0 {
			w, height = at[0], at[1]-3
		}
		depth, steps := r.IntN(20), 1<<r.IntN(5)
		fmt.Fprintf(&questions, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\t%s\t%d\t%d\t%d\t%d\n",
			d.name, d.vendor, d.driver, d.typ, d.platform, d.extension, d.board, d.major, d.minor, d.version, h.Name, h.Type, h.Architecture, w, height, steps, depth)
		choice, err := f.Choose(wisdom.Query{
			Device: h, ProblemSize: []int{w, height + 3}, SourceDigest: p.KernelDigest(), Constants: map[string]int{"steps": steps, "depth": depth, "width": 9},
		})
		if err != nil {
			fmt.Fprintln(&answers, "no size")
			continue
		}
		levels[choice.Level]++
		sized := scale()
		sized.Constants[0].Value, sized.Constants[1].Value = w, height
		sized.Constants[4].Value, sized.Constants[5].Value = steps, depth
		at := mustProblem(t, sized)
		c, err := at.Parameters().Configure(choice.Record.Configuration)
		if err != nil {
			t.Fatal(err)
		}
		same := 0
		if !slices.ContainsFunc(choice.Weaknesses, func(w wisdom.Weakness) bool { return w.Kind == wisdom.DriverDiffers }) && choice.Level != wisdom.BestOverall {
			same = 1
		}
		fmt.Fprintf(&answers, "%d %d %g -DFAST=1 -DTEXT=\"a \\\"b\" -D factor=2.5f -D ndtune_mix=1.5f %s -D size=0x%xUL -D lambda=3u ", choice.Level, same, choice.Record.Time, problem.BuildOptions(c, nil), w)
		launches, err := at.Launches(c, h)
		if err != nil {
			fmt.Fprintln(&answers, "no launch")
			continue
		}
		l := launches[0].NDRange
		fmt.Fprintf(&answers, "global [%d, %d] local [%d, %d] offset [%d, %d]\n", l.Global()[0], l.Global()[1], l.Local[0], l.Local[1], l.Offset[0], l.Offset[1])
	}
	if len(levels) < 5 {
		t.Errorf("not all levels were asked: %v", levels)
	}
	return questions.String(), answers.String() + scaleSource()
}

// A program needs a compiler or an interpreter. Its commands run in a folder.
type program struct {
	name, needs string
	build, run  []string
}

// output builds and runs the program.
func (p *program) output(t *testing.T, folder, in string) string {
	t.Helper()
	foreign.Require(t, p.needs)
	if p.build != nil {
		runIn(t, folder, "", p.build...)
	}
	return runIn(t, folder, in, p.run...)
}

// programFolder returns a folder with the exported files and the programs of a name in testdata, as main.c and
// main.py.
func programFolder(t *testing.T, name string, p *problem.Problem, f *wisdom.File) string {
	t.Helper()
	folder := t.TempDir()
	all, err := exportAll(p, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for file, from := range map[string]string{"main.c": name + ".c", "main.py": name + ".py"} {
		text, err := os.ReadFile(filepath.Join("testdata", from))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, export.File{file, text})
	}
	if err := os.CopyFS(filepath.Join(folder, "stub"), os.DirFS("testdata/stub")); err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		if err := os.WriteFile(filepath.Join(folder, x.Name), x.Content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// programs use exported files: see programFolder.
var programs = []program{
	{"C99", "gcc", []string{"gcc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Istub", "main.c", "-o", "c99", "-lm"}, []string{"./c99"}},
	{"C++17", "g++", []string{"g++", "-std=c++17", "-x", "c++", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Istub", "main.c", "-o", "c++17", "-lm"}, []string{"./c++17"}},
	{"Python", "python3", nil, []string{"python3", "main.py"}},
}

// TestProgramsChooseAsWisdomDoes asks programs with the exported files about random devices, sizes and constants.
func TestProgramsChooseAsWisdomDoes(t *testing.T) {
	p := mustProblem(t, scale())
	r := rand.New(rand.NewPCG(15, 3))
	small := func() int { return 1 + r.IntN(600) }
	large := func() int { return 3_000_000 + r.IntN(5) } // factors differ by less than a millionth
	for _, test := range []struct {
		name     string
		maximize bool
		size     func() int
		recorded func() int
	}{
		{"small", false, small, func() int { return 1 << (2 + r.IntN(8)) }},
		{"large, of a rate", true, large, func() int { return []int{6_000_000, 1_500_001, 1_500_000, 3_000_000}[r.IntN(4)] + r.IntN(3) }},
	} {
		f := &wisdom.File{Key: "scale", Parameters: p.Parameters().Names(), Objective: score.Objective{Name: "time", Maximize: test.maximize}}
		for n := range 120 {
			c := map[string]space.Value{}
			for i := range p.Parameters().Len() {
				q := p.Parameters().At(i)
				c[q.Name] = q.Values[r.IntN(len(q.Values))]
			}
			d := device(r).described()
			if r.IntN(5) == 0 {
				d.Vendor, d.Type = "", ""
			}
			var constants map[string]space.Value
			if r.IntN(4) > 0 {
				constants = map[string]space.Value{"depth": r.IntN(8), "steps": 1 << r.IntN(5), "width": 9 + r.IntN(2), "half": 0.5}
			}
			size := []int{test.recorded(), 3 + test.recorded()}
			if n > 0 && r.IntN(4) > 0 { // with other constants
				d, size = f.Records[n-1].Device, f.Records[n-1].ProblemSize
				if n%4 == 1 { // and with the same: the better record counts
					constants = f.Records[n-1].Constants
				}
			}
			f.Records = append(f.Records, wisdom.Record{
				Device: d, ProblemSize: size, Constants: constants, Configuration: c,
				Time: float64(n + 1), Objective: float64(r.IntN(3) + 1), Verified: r.IntN(3) > 0, SourceDigest: []string{p.KernelDigest(), p.KernelDigest(), ""}[r.IntN(3)],
				Date: time.Unix(int64(r.IntN(5)), 0),
			})
		}
		in, want := questions(t, r, p, f, test.size)
		folder := programFolder(t, "ask", p, f)
		for _, program := range programs {
			if program.name == "C++17" && test.maximize { // its source is that of C99, and its arithmetic too
				continue
			}
			t.Run(test.name+"/"+program.name, func(t *testing.T) {
				got := strings.Split(program.output(t, folder, in), "\n")
				want := strings.Split(want, "\n")
				if len(got) != len(want) {
					t.Fatalf("%d lines, want %d", len(got), len(want))
				}
				differ := 0
				for i := range want {
					if got[i] == want[i] {
						continue
					}
					if differ++; differ < 5 {
						t.Errorf("line %d: %s\ngot  %s\nwant %s", i, strings.Split(in, "\n")[min(i, strings.Count(in, "\n")-1)], got[i], want[i])
					}
				}
				if differ > 0 {
					t.Errorf("%d lines differ", differ)
				}
			})
		}
	}
}

// exportAll returns the files of all languages.
func exportAll(p *problem.Problem, f *wisdom.File, size []definition.Expr) (all []export.File, err error) {
	for _, in := range []func(*problem.Problem, *wisdom.File, []definition.Expr) (export.File, error){export.C.Export, export.Python.Export} {
		file, err := in(p, f, size)
		if err != nil {
			return nil, err
		}
		all = append(all, file)
	}
	return all, nil
}

// runIn runs a command, which needs no network, and returns its output.
func runIn(t *testing.T, folder, in string, command ...string) string {
	t.Helper()
	x := exec.CommandContext(t.Context(), command[0], command[1:]...)
	x.Dir, x.Stdin = folder, strings.NewReader(in)
	x.Env = append(os.Environ(), "PYTHONPATH=stub", "PYTHONDONTWRITEBYTECODE=1")
	var wrong bytes.Buffer
	x.Stderr = &wrong
	out, err := x.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%.3000s", strings.Join(command, " "), err, wrong.String())
	}
	return string(out)
}

func TestKernelsThatCannotBeExported(t *testing.T) {
	file := func(p *problem.Problem) *wisdom.File {
		c, err := p.Parameters().ConfigureFirst(nil)
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]space.Value{}
		c.Assign(values)
		return &wisdom.File{Key: "scale", Parameters: p.Parameters().Names(), Objective: score.Objective{Name: "time"}, Records: []wisdom.Record{{
			Device: hardware.Device{Name: "d"}, ProblemSize: []int{1, 4}, Configuration: values, Time: 1, Objective: 1, SourceDigest: p.KernelDigest(),
		}}}
	}
	for _, test := range []struct {
		change func(*definition.Definition, *wisdom.File)
		want   string
	}{
		{func(d *definition.Definition, f *wisdom.File) {}, ""},
		{func(d *definition.Definition, f *wisdom.File) { f.Key = "a-b" }, `the key "a-b" is no identifier of C`},
		{func(d *definition.Definition, f *wisdom.File) { f.Key = "lambda" }, "no module of Python can be named lambda, a keyword; give another one with --key, or leave python out of --lang"},
		{func(d *definition.Definition, f *wisdom.File) { d.Kernel.Source = "// a\n// \xe9\n" + d.Kernel.Source }, "line 2 of the source is not text in UTF-8"},
		{func(d *definition.Definition, f *wisdom.File) { f.Records[0].SourceDigest = "another" }, "all records are of another source of the kernel"},
		{func(d *definition.Definition, f *wisdom.File) { f.Parameters = []string{"x"} }, "the wisdom is about the parameters x, the specification has block_size_x"},
		{func(d *definition.Definition, f *wisdom.File) { d.ProblemSize[0] = "size * device.compute_units" }, "problem_size[0]: "},
		{func(d *definition.Definition, f *wisdom.File) {
			d.BlockSize[0] = "min(block_size_x, device.max_work_group_size)"
		}, "the NDRange of scale: "},
		{func(d *definition.Definition, f *wisdom.File) { d.Kernel.BuildOptions = []string{"-DHALF={size / 2}"} }, "the build option -DHALF={size / 2} reads the size size"},
		{func(d *definition.Definition, f *wisdom.File) { d.Parameters[5].Values = []space.Value{"a b"} }, "that no compiler's option can carry"},
		{func(d *definition.Definition, f *wisdom.File) { d.Parameters[5].Values = []space.Value{"a", 3} }, "the parameter how has values of several types"},
		{func(d *definition.Definition, f *wisdom.File) {
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
		switch files, err := exportAll(p, f, nil); {
		case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%v, want %s", err, test.want)
		case test.want != "" && files != nil:
			t.Errorf("%s: %d files", test.want, len(files))
		}
	}
}
