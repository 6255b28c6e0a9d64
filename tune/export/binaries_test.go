package export

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/internal/foreign"
	devices "github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/wisdom"
)

func triple() problem.Definition {
	return problem.Definition{
		Kernel:      problem.Kernel{Name: "triple", Source: "__kernel void triple(__global int *x)\n{\n    int i = get_global_id(0);\n    if (i < n) x[i] = 3 * x[i] + more;\n}\n"},
		Constants:   []problem.Constant{{Name: "n", Value: 64}, {Name: "more", Value: 1}},
		ProblemSize: []problem.Expr{"n"},
		Arguments:   []problem.Argument{{Name: "x", Type: "int32", Size: "4096", Output: true}},
		Parameters:  []space.Parameter{{Name: "block_size_x", Values: []space.Value{16, 32}}},
	}
}

// anyDevice returns a device, of PoCL if there is one.
func anyDevice(t *testing.T) devices.Listed {
	t.Helper()
	all, err := devices.List()
	if err != nil {
		if os.Getenv("NDTUNE_REQUIRE_OPENCL") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if i := slices.IndexFunc(all, func(l devices.Listed) bool { return l.Identity.Platform == "Portable Computing Language" }); i >= 0 {
		return all[i]
	}
	return all[0]
}

// compileC compiles a program with a header, or skips the test.
func compileC(t *testing.T, source, header string, content []byte, flags ...string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, header), content, 0o666); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "program")
	args := append([]string{"-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I" + folder, source, "-o", program}, flags...)
	foreign.Require(t, "gcc")
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		if strings.Contains(string(out), "CL/cl.h: No such file") || strings.Contains(string(out), "cannot find -lOpenCL") {
			t.Skipf("there are no development files of OpenCL: %s", out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// TestProgramsFromBinaries: a program in C takes a binary of its device, driver, source and options, and no other.
func TestProgramsFromBinaries(t *testing.T) {
	l := anyDevice(t)
	p := mustProblem(t, triple())
	var logs []*record.Record
	f := &wisdom.File{Key: "triple", Parameters: p.Parameters().Names(), Objective: problem.Objective{Name: "time"}}
	for _, n := range []int{64, 1024} {
		logs = append(logs, &record.Record{Header: record.Header{Device: *l.Identity, ProblemSize: []int{n}, Constants: []problem.Constant{{Name: "n", Value: n}}}})
		f.Records = append(f.Records, wisdom.Record{
			Device: *l.Identity, ProblemSize: []int{n}, Configuration: map[string]space.Value{"block_size_x": 16}, Time: 1, Objective: 1, SourceDigest: p.KernelDigest(),
		})
	}
	elsewhere := *logs[0]
	elsewhere.Header.Device.Name = "another"
	elsewhere.Header.ProblemSize = []int{32}
	logs = append(logs, &elsewhere)
	list, err := BuildBinaries(*l.Identity, p, f, nil, logs, func(at *problem.Problem, c space.Configuration, options string) ([]byte, error) {
		evaluator, err := devices.Open(l.Device, at, devices.Options{})
		if err != nil {
			return nil, err
		}
		defer evaluator.Close()
		return evaluator.Binary(t.Context(), c, options)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Options != "-D more=1 -D block_size_x=16 -D n=64" || list[1].Options != "-D more=1 -D block_size_x=16 -D n=1024" {
		t.Fatalf("%d programs: %q", len(list), list)
	}
	folder := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	encoded := func(change func(*Binary)) []byte {
		changed := slices.Clone(list)
		for i := range changed {
			changed[i].Data = slices.Clone(changed[i].Data)
			change(&changed[i])
		}
		var b bytes.Buffer
		if err := encodeBinaries(&b, changed); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	sound := encoded(func(*Binary) {})
	flipped := slices.Clone(sound)
	flipped[len(binariesMagic)+len(list[0].text())+100] ^= 1
	header := func(p *problem.Problem) []byte {
		// The file of wisdom is of the present source, whatever the change.
		own := *f
		own.Records = slices.Clone(f.Records)
		for i := range own.Records {
			own.Records[i].SourceDigest = p.KernelDigest()
		}
		files, err := Header(p, &own, nil)
		if err != nil {
			t.Fatal(err)
		}
		return files[0].Content
	}
	good := write("good", sound)
	saved := filepath.Join(folder, "saved")
	run := func(p *problem.Problem, n int, paths ...string) []string {
		program := compileC(t, "testdata/start.c", "triple.h", header(p), "-lOpenCL", "-lm")
		out, err := exec.Command(program, append([]string{l.Identity.Platform, fmt.Sprint(n)}, paths...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	type start struct {
		n      int
		change func(*problem.Definition)
		paths  []string
		want   []string
	}
	same := start{64, nil, []string{
		good,
		write("flipped", flipped),
		write("device", encoded(func(b *Binary) { b.Device += "2" })),
		write("vendor", encoded(func(b *Binary) { b.Vendor += "2" })),
		write("platform", encoded(func(b *Binary) { b.Platform += "2" })),
		write("driver", encoded(func(b *Binary) { b.Driver += "2" })),
		write("source", encoded(func(b *Binary) { b.Source = strings.Repeat("0", 64) })),
		write("options", encoded(func(b *Binary) { b.Options += " -D more=2" })),
		write("refused by the driver", encoded(func(b *Binary) { b.Data = []byte("no program") })),
		write("truncated", sound[:len(sound)/3]),
		write("empty", nil),
		write("newer", bytes.Replace(sound, []byte("binaries 1"), []byte("binaries 2"), 1)),
		filepath.Join(folder, "missing"), folder,
		"+" + saved, saved,
		"+" + write("foreign", []byte("# notes\n")),
		"+" + filepath.Join(folder, "missing", "file"),
	}, []string{
		"1 16", "0 16", "0 16", "0 16", "0 16", "0 16", "0 16", "0 16", "0 16", "0 16", "0 16", "0 16", "0 16", "0 16",
		"0 16 saved 1", "1 16", "0 16 saved 0", "0 16 saved 0",
	}}
	for name, test := range map[string]start{
		"the same":                           same,
		"another size that is recorded":      {1024, nil, []string{good}, []string{"1 16"}},
		"another size":                       {128, nil, []string{good}, []string{"0 16"}},
		"another value of a constant":        {64, func(d *problem.Definition) { d.Constants[1].Value = 2 }, []string{good}, []string{"0 17"}},
		"another source":                     {64, func(d *problem.Definition) { d.Kernel.Source = strings.Replace(d.Kernel.Source, "3", "4", 1) }, []string{good, "+" + good, good}, []string{"0 21", "0 21 saved 1", "1 21"}},
		"a source that does not compile":     {64, func(d *problem.Definition) { d.Kernel.Source += "missing x;" }, []string{filepath.Join(folder, "none")}, []string{"error -11, log of the compiler"}},
		"programs that are saved one by one": {64, nil, []string{"+" + saved + "2", saved + "2"}, []string{"0 16 saved 1", "1 16"}},
	} {
		if name == "another source" { // which removes the programs of the present one
			for i, path := range test.paths {
				test.paths[i] = strings.Replace(path, good, write("own", sound), 1)
			}
		}
		d := triple()
		if test.change != nil {
			test.change(&d)
		}
		if got := run(mustProblem(t, d), test.n, test.paths...); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q\nwant %q", name, got, test.want)
		}
	}
	if data, err := os.ReadFile(filepath.Join(folder, "own")); err != nil || len(mustDecode(t, data)) != 1 {
		t.Errorf("after saving a program of another source: %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(folder, "foreign")); err != nil || string(data) != "# notes\n" {
		t.Errorf("a foreign file was changed: %v, %q", err, data)
	}
	run(p, 1024, "+"+saved)
	data, err := os.ReadFile(saved)
	if all := mustDecode(t, data); err != nil || len(all) != 2 || all[0].BinaryKey != list[1].BinaryKey || all[1].BinaryKey != list[0].BinaryKey {
		t.Errorf("saved programs: %v, %d", err, len(all))
	}
	t.Run("Python", func(t *testing.T) {
		foreign.Require(t, "python3")
		if out, err := exec.Command("python3", "-c", "import pyopencl").CombinedOutput(); err != nil {
			t.Skipf("there is no PyOpenCL: %s", out)
		}
		module, err := Module(p, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(saved); err != nil {
			t.Fatal(err)
		}
		run := exec.Command("python3", append([]string{"testdata/start.py", l.Identity.Platform, "64", good, saved + "3"}, same.paths...)...)
		if err := os.WriteFile(filepath.Join(folder, module[0].Path), module[0].Content, 0o666); err != nil {
			t.Fatal(err)
		}
		run.Env = append(os.Environ(), "PYTHONPATH="+folder, "PYTHONDONTWRITEBYTECODE=1", "PYOPENCL_NO_CACHE=1")
		var wrong bytes.Buffer
		run.Stderr = &wrong
		out, err := run.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, wrong.String())
		}
		want := append([]string{"1 16", "0 16"}, same.want...)
		if got := strings.Split(strings.TrimSpace(string(out)), "\n"); !slices.Equal(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
	})
	if left, err := filepath.Glob(filepath.Join(folder, "*.*[0-9a-f]")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

func mustDecode(t *testing.T, data []byte) []Binary {
	t.Helper()
	list, err := DecodeBinaries(data)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestBinariesOfConstants: each of two records of one problem size with different constants gets the program that is
// chosen for its constants.
func TestBinariesOfConstants(t *testing.T) {
	d := triple()
	d.Constants = append(d.Constants, problem.Constant{Name: "k", Value: 8})
	d.Arguments[0].Size = "n * k"
	p := mustProblem(t, d)
	device := hardware.Device{Name: "d", Vendor: "v", Platform: "p", Driver: "1"}
	f := &wisdom.File{Key: "triple", Parameters: p.Parameters().Names(), Objective: problem.Objective{Name: "time"}}
	var logs []*record.Record
	for i, k := range []int{64, 4096} {
		logs = append(logs, &record.Record{Header: record.Header{Device: device, ProblemSize: []int{64}, Constants: []problem.Constant{{Name: "n", Value: 64}, {Name: "k", Value: k}}}})
		f.Records = append(f.Records, wisdom.Record{
			Device: device, ProblemSize: []int{64}, Constants: map[string]space.Value{"n": 64, "k": k}, Configuration: map[string]space.Value{"block_size_x": 16 << i},
			Time: float64(k), Objective: float64(k), SourceDigest: p.KernelDigest(),
		})
	}
	list, err := BuildBinaries(device, p, f, nil, logs, func(*problem.Problem, space.Configuration, string) ([]byte, error) { return []byte("program"), nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].Options != "-D more=1 -D block_size_x=16 -D n=64 -D k=64" || list[1].Options != "-D more=1 -D block_size_x=32 -D n=64 -D k=4096" {
		t.Errorf("%d programs: %q", len(list), list)
	}
}

// twoBinaries returns two programs of the kernel of scale.
func twoBinaries() []Binary {
	k := BinaryKey{
		Device: "AMD Instinct (gfx90a)", Vendor: "AMD", Platform: "Platform", Driver: "1.0",
		Source: (&table{Source: []string{scaleSource()}}).SourceDigest(), Options: "-D n=4096",
	}
	other := k
	other.Options = "-D n=4097"
	return []Binary{{other, []byte("other\n\tprogram\n")}, {k, []byte("program\n\x00\xff")}}
}

// damagedFiles returns the file of twoBinaries and many damaged copies.
func damagedFiles(t *testing.T) [][]byte {
	t.Helper()
	var file bytes.Buffer
	if err := encodeBinaries(&file, twoBinaries()); err != nil {
		t.Fatal(err)
	}
	sound := file.Bytes()
	damaged := [][]byte{sound, nil, append(slices.Clone(sound), "more"...)}
	for i := range sound {
		for _, b := range []byte{sound[i] ^ 1, '\n', '\t', 0} {
			one := slices.Clone(sound)
			one[i] = b
			damaged = append(damaged, one)
		}
		damaged = append(damaged, sound[:i], sound[i:])
	}
	r := rand.New(rand.NewPCG(15, 4))
	for range 300 {
		one := slices.Clone(sound)
		for range 1 + r.IntN(4) {
			at := r.IntN(len(one))
			switch r.IntN(3) {
			case 0:
				one[at] = byte(r.IntN(256))
			case 1:
				one = slices.Delete(one, at, min(len(one), at+r.IntN(20)))
			default:
				one = slices.Insert(one, at, sound[:r.IntN(80)]...)
			}
			if len(one) == 0 {
				break
			}
		}
		damaged = append(damaged, one)
	}
	return damaged
}

// TestDamagedBinaries: the readers return the right program or none, whatever happened to the file.
func TestDamagedBinaries(t *testing.T) {
	p := mustProblem(t, scale())
	c, err := p.Parameters().ConfigureFirst(nil)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]space.Value{}
	c.Assign(values)
	exported, err := exportAll(p, &wisdom.File{Key: "scale", Parameters: p.Parameters().Names(), Objective: problem.Objective{Name: "time"}, Records: []wisdom.Record{{
		Device: h200, ProblemSize: []int{1, 4}, Configuration: values, Time: 1, Objective: 1, SourceDigest: p.KernelDigest(),
	}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, data, 0o666)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := os.CopyFS(folder, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	find, err := os.ReadFile("testdata/find.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range append(exported, File{"main.go", find}, File{"go.mod", []byte("module ask\n\ngo 1.22\n")}) {
		write(x.Path, x.Content)
	}
	damaged := damagedFiles(t)
	var paths strings.Builder
	for i, data := range damaged {
		fmt.Fprintln(&paths, write(fmt.Sprint("damaged/", i), data))
	}
	wanted := twoBinaries()[1]
	right, none := fmt.Sprintf("%x", wanted.Data), "none"
	var own []string // the answers of DecodeBinaries
	for _, data := range damaged {
		readable, _ := DecodeBinaries(data)
		own = append(own, none)
		if at := slices.IndexFunc(readable, func(b Binary) bool { return b.BinaryKey == wanted.BinaryKey }); at >= 0 {
			own[len(own)-1] = fmt.Sprintf("%x", readable[at].Data)
		}
	}
	for _, program := range []struct {
		name, needs string
		build, run  []string
	}{
		{"DecodeBinaries", "", nil, nil},
		{"C", "gcc", []string{"gcc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Istub", "find.c", "-o", "c", "-lm"}, []string{"./c"}},
		{"Python", "python3", nil, []string{"python3", "find.py"}},
		{"Go", "go", []string{"go", "build", "-o", "go", "main.go"}, []string{"./go"}},
	} {
		t.Run(program.name, func(t *testing.T) {
			answers := own
			if program.needs != "" {
				foreign.Require(t, program.needs)
				if program.build != nil {
					runIn(t, folder, "", program.build...)
				}
				answers = strings.Split(strings.TrimSpace(runIn(t, folder, paths.String(), program.run...)), "\n")
			}
			if len(answers) != len(damaged) {
				t.Fatalf("%d answers to %d questions", len(answers), len(damaged))
			}
			found := 0
			for i, answer := range answers {
				if answer == right {
					found++
				} else if answer != none {
					t.Errorf("%q: found %s, want %s or none", damaged[i], answer, right)
				}
				if own[i] == right && answer != right {
					t.Errorf("%q: found %s, and DecodeBinaries finds the program", damaged[i], answer)
				}
			}
			if answers[0] != right || found < 2 || found > len(damaged)/2 {
				t.Errorf("found in %d of %d files", found, len(damaged))
			}
		})
	}
}

func FuzzDecodeBinaries(f *testing.F) {
	var file bytes.Buffer
	if err := encodeBinaries(&file, twoBinaries()); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add(file.Bytes()[:file.Len()-2])
	f.Add([]byte(binariesMagic))
	f.Add([]byte(binariesMagic + "a\tb\tc\td\te\tf\t99999999999999999999\t0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := DecodeBinaries(data)
		var again bytes.Buffer
		if err := encodeBinaries(&again, list); err != nil {
			t.Fatal(err)
		}
		if same := mustDecode(t, again.Bytes()); len(same) != len(list) {
			t.Fatalf("%d programs, then %d", len(list), len(same))
		}
		if err == nil && again.Len() > len(data) {
			t.Fatalf("%q became longer", data)
		}
	})
}

func TestAddBinaries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "scale.binaries")
	add := func(list ...Binary) []Binary {
		t.Helper()
		if err := AddBinaries(t.Context(), path, list); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return mustDecode(t, data)
	}
	list := twoBinaries()
	add(list...)
	again := list[0]
	again.Data = []byte("newer")
	elsewhere := list[1]
	elsewhere.Driver = "2.0"
	if got := add(again, elsewhere); len(got) != 3 || got[0].BinaryKey != list[1].BinaryKey || string(got[1].Data) != "newer" || got[2].Driver != "2.0" {
		t.Errorf("%q", got)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)-1], 0o666); err != nil {
		t.Fatal(err)
	}
	if got := add(list[0]); len(got) != 2 {
		t.Errorf("after damage: %q", got)
	}
	changed := list[0]
	changed.Source = strings.Repeat("b", 64)
	if got := add(changed); len(got) != 1 {
		t.Errorf("after a change of the source: %q", got)
	}
	for _, text := range []string{"#", "# notes\n", "ndtune binaries 2\n"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		err := AddBinaries(t.Context(), path, list)
		if err == nil || !strings.Contains(err.Error(), `scale.binaries: it is not a file of binaries that begins with "ndtune binaries 1"`) {
			t.Errorf("%q: %v", text, err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != text {
			t.Errorf("%q became %q, %v", text, data, err)
		}
	}
	for _, k := range []BinaryKey{{Device: "a\tb"}, {Options: "-D a=\n"}, {Options: strings.Repeat("x", maxBinaryLine)}} {
		if k.check() == nil {
			t.Errorf("%.20q can stand in a file", k)
		}
	}
}
