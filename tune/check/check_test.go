package check

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ndtune/ndtune/internal/golden"
	"github.com/ndtune/ndtune/internal/standin"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// oclgrindLog has messages of all forms, as Oclgrind writes them.
const oclgrindLog = `
Invalid read of size 4 at global memory address 0x2fffffffffff4
	Kernel: k
	Entity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
	  %2 = load float, float addrspace(1)* %arrayidx, align 4, !dbg !39
	At line 6 (column 15) of a.cl:
	  }
	

Read-write data race at local memory address 0x1000000000024
	Kernel: k
	
	First entity:  Global(6,0,0) Local(6,0,0) Group(0,0,0)
	  %5 = load float, float addrspace(3)* %arrayidx7, align 4, !dbg !47
	At line 7 (column 15) of a.cl:
	  #line 1 "a.cl"
	
	Second entity: Global(4,0,0) Local(4,0,0) Group(0,0,0)
	  store float 1.000000e+00, float addrspace(3)* %arrayidx21, align 4, !dbg !77
	At line 8 (column 17) of a.cl:
	  float unset;
	

Work-group divergence detected (barrier)
	Kernel:     k
	Work-group: (0,0,0)
	Only 1 out of 16 work-items executed barrier
	  tail call spir_func void @_Z7barrierj(i32 noundef 1) #6, !dbg !47
	At line 9 (column 17) of a.cl:
	  

Index (17) exceeds static array size (17)
	Kernel: k
	Entity: Global(12,0,0) Local(12,0,0) Group(0,0,0)
	  store float 1.000000e+00, float addrspace(3)* %arrayidx21, align 4, !dbg !77
	At line 8 (column 17) of a.cl:
	  float unset;
	

Oclgrind: 1000 errors generated - suppressing further errors

`

const faultySource = `#define head
#line 1 "a.cl"
1
2
3
4
5
    tile[l] = in[i - 3];
    float x = tile[block - 1 - l];
    tile[l + 5] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
`

func TestMessagesBecomeFindings(t *testing.T) {
	p := problemOf(t, sample())
	r := reader{problem: p, lines: source.Lined(faultySource), addresses: []uint64{1 << 48, 3 << 48}}
	messages, fatal := readMessages(strings.NewReader(oclgrindLog))
	if fatal != "" || len(messages) != 5 || messages[4].Kind != "" {
		t.Fatalf("%q %+v", fatal, messages)
	}
	var got []string
	for _, m := range messages[:4] {
		f := r.finding(m)
		got = append(got, fmt.Sprintf("%s: %s %v %s|%s", f.Kind, f.Text, f.Where, f.Where[0].Text, f.Entity))
	}
	want := []string{
		"out of bounds: read out of bounds at in[-3] [a.cl:6] tile[l] = in[i - 3];|Global(0,0,0) Local(0,0,0) Group(0,0,0)",
		"data race: read-write race at tile[block - 1 - l], element 9 of the array in local memory [a.cl:7 a.cl:8] float x = tile[block - 1 - l];|Global(6,0,0) Local(6,0,0) Group(0,0,0)",
		"divergent barrier: not all work-items of the work-group come here [a.cl:9] barrier(CLK_LOCAL_MEM_FENCE);|(0,0,0)",
		"out of bounds: index beyond the array: tile[l + 5], element 17 of the array in local or private memory [a.cl:8] tile[l + 5] = 1;|Global(12,0,0) Local(12,0,0) Group(0,0,0)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	_, fatal = readMessages(strings.NewReader("\nOCLGRIND FATAL ERROR (WorkItem.cpp:288)\nUnsupported instruction: foo\nWhen executing...\n"))
	if !strings.Contains(fatal, "Unsupported instruction: foo") {
		t.Errorf("fatal error: %q", fatal)
	}
}

// TestFindingsAreGroupedByCause: the same line in several configurations is one finding, described for the smallest.
func TestFindingsAreGroupedByCause(t *testing.T) {
	var g grouping
	index := func(n int) *int { return &n }
	at := []Location{{"a.cl", 3, 1, "x"}}
	g.add(Finding{Kind: OutOfBounds, Where: at, Text: "large", Index: index(9)}, "b=32", size{1024, 8})
	g.add(Finding{Kind: OutOfBounds, Where: at, Text: "small", Index: index(4)}, "b=8", size{64, 8})
	g.add(Finding{Kind: OutOfBounds, Where: at, Text: "again"}, "b=8", size{64, 8})
	g.add(Finding{Kind: Order, Note: true, Text: "a note"}, "b=8", size{64, 8})
	g.add(Finding{Kind: DataRace, Where: []Location{{"a.cl", 5, 1, "y"}, {"a.cl", 3, 1, "x"}}}, "b=8", size{64, 8})
	g.add(Finding{Kind: DataRace, Where: []Location{{"a.cl", 3, 1, "x"}, {"a.cl", 5, 1, "y"}}}, "b=16", size{256, 8})
	all := g.sorted()
	if len(all) != 3 || all[0].Kind != DataRace || !all[2].Note {
		t.Fatalf("%+v", all)
	}
	if f := all[1]; f.Text != "small" || *f.Index != 4 || !slices.Equal(f.Configurations, []string{"b=8", "b=32"}) {
		t.Errorf("%+v", f)
	}
	if f := all[0]; !slices.Equal(f.Configurations, []string{"b=8", "b=16"}) {
		t.Errorf("%+v", f)
	}
}

// sample is the definition of a kernel with one size and two parameters.
func sample() definition.Definition {
	return definition.Definition{
		Kernel:      definition.Kernel{Name: "k", Source: "__kernel void k(__global float *out, __global const float *in) { out[get_global_id(0)] = in[get_global_id(0)]; }"},
		Constants:   []definition.Constant{{Name: "n", Value: 4096}},
		ProblemSize: []definition.Expr{"n"},
		Arguments: []definition.Argument{
			{Name: "out", Type: "float32", Size: "n", Output: true}, {Name: "in", Type: "float32", Size: "n", Fill: definition.Fill{Kind: "random"}},
		},
		Parameters: []space.Parameter{{Name: "block_size_x", Values: []space.Value{16, 48, 64}}, {Name: "tile", Values: []space.Value{1, 5}}},
		GridDiv:    [3][]definition.Expr{{"block_size_x", "tile"}},
	}
}

func problemOf(t *testing.T, d definition.Definition) *problem.Problem {
	t.Helper()
	p, err := problem.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestALargeSimulationHasAHint unless a constant has another value in it.
func TestALargeSimulationHasAHint(t *testing.T) {
	for _, c := range []struct {
		n    int
		o    Options
		hint bool
	}{
		{1 << 20, Options{Simulator: "liboclgrind"}, true},
		{1 << 20, Options{Simulator: "liboclgrind", Set: map[string]space.Value{"n": 37}}, false},
		{1 << 20, Options{Device: "gpu"}, false},
		{4096, Options{Simulator: "liboclgrind"}, false},
	} {
		d := sample()
		d.Constants[0].Value = c.n
		if hint := c.o.Hint(problemOf(t, d)); strings.Contains(hint, "the problem size is 1048576: --set spec.check.set.NAME=VALUE") != c.hint || (hint != "") != c.hint {
			t.Errorf("n=%d, %+v: %q", c.n, c.o, hint)
		}
	}
}

// TestChosenConfigurationsCoverAllPairs in random spaces.
func TestChosenConfigurationsCoverAllPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 30 {
		var list []space.Parameter
		for i := range 2 + r.IntN(3) {
			q := space.Parameter{Name: string(rune('a' + i))}
			for v := range 1 + r.IntN(5) {
				q.Values = append(q.Values, v)
			}
			list = append(list, q)
		}
		parameters, err := space.NewParameters(list)
		if err != nil {
			t.Fatal(err)
		}
		s, err := space.New(t.Context(), parameters, []space.Restriction{{Expression: "(a + b) % 3 != 1"}}, nil)
		if err != nil {
			continue // it is empty
		}
		pairs := func(c space.Configuration) (all []string) {
			for i := range c.Len() {
				for j := range i {
					all = append(all, fmt.Sprint(i, c.At(i), j, c.At(j)))
				}
			}
			return all
		}
		wanted, got := map[string]bool{}, map[string]bool{}
		for _, c := range s.All() {
			for _, x := range pairs(c) {
				wanted[x] = true
			}
		}
		first := s.At(r.IntN(s.Len()))
		chosen, _ := Choose(s, []space.Configuration{first}, func(space.Configuration) int { return r.IntN(9) })
		for _, c := range chosen {
			for _, x := range pairs(c) {
				got[x] = true
			}
		}
		if !reflect.DeepEqual(wanted, got) || chosen[0].Key() != first.Key() {
			t.Errorf("%d of %d pairs, of %d configurations", len(got), len(wanted), len(chosen))
		}
	}
}

// report is one of each part.
func exampleReport() *Report {
	at := 1961
	return &Report{
		Spec: "kernels/k.yaml", Kernel: "k", Chosen: 3, Pairs: 12, Seconds: 1.25,
		Findings: []Finding{
			{Kind: DataRace, Kernel: "k", Text: "read-write race at t[i]", Where: []Location{{"k.cl", 5, 3, "t[i] = `a`;"}, {"k.h", 9, 1, "b = t[i + 1];"}}, Memory: "local", Entity: "Global(1,0,0)", Device: "Oclgrind", Configurations: []string{"b=8", "b=16"}},
			{Kind: OutOfBounds, Kernel: "k", Text: "write out of bounds at out[1961]", Argument: "out", Index: &at, Device: "GPU", Configurations: []string{"b=8"}},
			{Kind: Order, Note: true, Kernel: "k", Text: "out[3] differs, within the tolerance", Argument: "out", Device: "GPU", Configurations: []string{"b=8"}},
		},
		Runs: []Check{
			{Configuration: "b=8", Device: "Oclgrind", Size: "n=37", Seconds: 0.5, Findings: 1},
			{Configuration: "b=16", Device: "Oclgrind", Size: "n=37", Seconds: 0.5, Findings: 1, Skipped: []string{"uninitialised memory: why not"}},
			{Configuration: "b=32", Device: "Oclgrind", Seconds: 0.1, Unchecked: "it does not compile: build k: failed\nsecond line"},
			{Configuration: "b=8", Device: "GPU", Seconds: 0.1, Findings: 1},
		},
		Stopped: "interrupted",
	}
}

func TestFormats(t *testing.T) {
	golden.Check(t, filepath.Join("testdata", "formats.golden"), func(format, _ string) string {
		var b strings.Builder
		if err := exampleReport().Write(&b, format); err != nil {
			t.Fatal(err)
		}
		var v any
		if format == "json" {
			if err := json.Unmarshal([]byte(b.String()), &v); err != nil {
				t.Error(err)
			}
		}
		return b.String()
	})
}

// TestAnInterruptedCheckKeepsWhatWasFound: the second of two configurations does not end.
func TestAnInterruptedCheckKeepsWhatWasFound(t *testing.T) {
	library := simulatorOf(t)
	d := sample()
	d.Kernel.Source = `__kernel void k(__global float *out, __global const float *in) {
	int i = get_global_id(0);
	while (tile == 5) if (i < 0) return;
	out[i + 1] = in[i];
}`
	p := problemOf(t, d)
	var configurations []space.Configuration
	for _, tile := range []int{1, 5} {
		c, err := p.Parameters().Configure(map[string]space.Value{"block_size_x": 16, "tile": tile})
		if err != nil {
			t.Fatal(err)
		}
		configurations = append(configurations, c)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := Options{Simulator: library, Set: map[string]space.Value{"n": 80}, Limit: time.Hour, Progress: func(done, all, findings int) { cancel() }}
	r, err := Run(ctx, p, configurations, o)
	if err != nil || r.Stopped != "interrupted" || len(r.Findings) != 1 || r.Findings[0].Text != "write out of bounds at out[80]" {
		t.Errorf("%v\n%s", err, text(r))
	}
	o.Progress, o.Limit = nil, 500*time.Millisecond
	if r, err = Run(t.Context(), p, configurations[1:], o); err != nil || r.Clean() || len(r.Runs) != 1 || r.Runs[0].Unchecked != "Oclgrind did not finish within 500ms; "+smallerSize {
		t.Errorf("%v\n%s", err, text(r))
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "ndtune-check-*")); len(left) > 0 {
		t.Logf("in the folder for temporary files: %v", left) // of other processes, perhaps
	}
}

// TestAConfigurationIsCheckedWithoutTheOrder: the launches with the order of the work-groups changed crash, and no other.
func TestAConfigurationIsCheckedWithoutTheOrder(t *testing.T) {
	if standin.OnSystem() {
		t.Skip("the stand-in takes the place of Oclgrind")
	}
	t.Setenv(standin.StateVariable, t.TempDir())
	d := sample()
	d.Kernel.Source += "// standin: k is copy(out, in); k crashes after 1"
	p := problemOf(t, d)
	c, err := p.Parameters().ConfigureFirst(map[string]space.Value{"tile": 1})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), p, []space.Configuration{c}, Options{Simulator: os.Getenv(standin.LibraryVariable), Limit: time.Hour})
	if err != nil || !r.Clean() || len(r.Runs[0].Skipped) != 1 || !strings.HasPrefix(r.Runs[0].Skipped[0], "the order of work-groups: Oclgrind crashed: the process ended by signal SIGSEGV (segmentation violation)") {
		t.Errorf("%v\n%s", err, text(r))
	}
}
