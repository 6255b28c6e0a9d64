package problem_test

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/hardware"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/score"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/spec"
)

// mode is a type of a program's own, which no other process knows.
type mode uint8

// String has nothing to do with the number.
func (mode) String() string { return "a mode" }

// device is one that restrictions and sizes can read.
var device = hardware.Device{Name: "a device", Vendor: "NVIDIA", ComputeMajor: 9, LocalMemory: 48 << 10, MaxWorkGroupSize: 1024, ComputeUnits: 4}

// everything is a definition with all that a portable one must carry, its files in dir.
func everything(t *testing.T, dir string) definition.Definition {
	t.Helper()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	npy := func(name string, a *array.Array) string {
		path := filepath.Join(dir, name)
		if err := array.WriteNPY(path, a, nil); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file("common.h", "#pragma once\nfloat twice(float x) { return x + x; }\n")
	kernel := file("k.cl", "#include \"common.h\"\n__kernel void k() {}\n")
	random, err := array.Fill{Kind: array.Random}.Make(array.Float32, 64, 3)
	if err != nil {
		t.Fatal(err)
	}
	filled := npy("filled.npy", random)
	right := npy("right.npy", random)
	return definition.Definition{
		Kernel: definition.Kernel{Name: "k", File: kernel, IncludeDirs: []string{dir}, BuildOptions: []string{"-cl-fast-relaxed-math", "-I" + dir}},
		Constants: []definition.Constant{
			{Name: "n", Value: 64}, {Name: "small", Value: int8(-3)}, {Name: "half_", Value: 0.5}, {Name: "whole", Value: 2.0},
			{Name: "negative_zero", Value: math.Copysign(0, -1)}, {Name: "on", Value: true}, {Name: "off", Value: false},
			{Name: "literal", Value: "0.225f"}, {Name: "hex", Value: "0x10u"}, {Name: "text", Value: "a b\nc"}, {Name: "zero", Value: 0},
			{Name: "own", Value: mode(7)},
		},
		ProblemSize:  []definition.Expr{"n", "n", "4"},
		BlockSize:    [3]definition.Expr{"", "rows", ""},
		GridDiv:      [3][]definition.Expr{{}, {"rows", "2"}, nil},
		GlobalOffset: []definition.Expr{"n"},
		Stages: []definition.Stage{{Repeat: "2", Index: "pass", Swap: [2]string{"file", "copy"}, Stages: []definition.Stage{
			{Kernel: "k", Shape: definition.Shape{GridDiv: [3][]definition.Expr{{}, nil, {"2"}}, ProblemSize: []definition.Expr{"n", "1 + pass"}}, Arguments: []string{"out"}},
		}}, {Kernel: "k"}},
		Types: []definition.StructType{
			{Name: "pair", Fields: []definition.StructField{{Name: "a", Type: "float"}, {Name: "b", Type: "int", Count: "div(n, 32)"}}},
			{Name: "pairs", Fields: []definition.StructField{{Name: "both", Type: "pair", Count: "2"}, {Name: "corner", Type: "float3"}}},
		},
		Arguments: []definition.Argument{
			{Name: "out", Type: "float", Size: "n", Output: true, RestoreEachLaunch: true},
			{Name: "file", Type: "float32", Fill: definition.Fill{File: filled}},
			{Name: "file4", Type: "float4", Size: "div(n, 4)", Fill: definition.Fill{File: filled}},
			{Name: "data", Data: []int16{1, -2, 3}},
			{Name: "data3", Type: "float3", Data: []float32{1, 2, 3, 4}},
			{Name: "halves", Data: []array.Half{array.HalfOf(1.5)}},
			{Name: "bytes", Data: array.Of([]uint8{1, 2, 3})},
			{Name: "random", Type: "int32", Size: "n * block_size_x", Fill: definition.Fill{Kind: array.Random, Low: "-5", High: "7"}},
			{Name: "normal", Type: "float16", Size: "n", Fill: definition.Fill{Kind: array.Normal, Mean: "1", Std: "2"}},
			{Name: "below", Type: "float32", Size: "n", Fill: definition.Fill{Kind: array.Constant, Value: "-0.0"}},
			{Name: "nan", Type: "float64", Size: "n", Fill: definition.Fill{Kind: array.Constant, Value: "0 / 0"}},
			{Name: "copy", Type: "float32", Size: "n", Fill: definition.Fill{Copy: "file"}},
			{Name: "computed", Type: "float2", Size: "n", Fill: definition.Fill{Expression: "index * small + lane / whole"}},
			{Name: "fields", Type: "pairs", Size: "n", Fill: definition.Fill{Fields: map[string]definition.Fill{
				"both": {Expression: "item"}, "corner": {Kind: array.Normal, Mean: "n"},
			}}},
			{Name: "no_fields", Type: "pairs", Size: "n", Fill: definition.Fill{Fields: map[string]definition.Fill{}}},
			{Name: "local", Type: "float2", LocalSize: "block_size_x * 2"},
			{Name: "i8", Value: int8(-1)}, {Name: "i64", Value: int64(math.MinInt64)}, {Name: "u64", Type: "uint64", Value: uint64(math.MaxUint64)},
			{Name: "u64text", Type: "uint64", Value: "18446744073709551615"},
			{Name: "f32", Value: float32(0.1)}, {Name: "f64", Value: math.Copysign(0, -1)}, {Name: "nothing", Type: "int32", Value: 0},
			{Name: "flag", Type: "int32", Value: true}, {Name: "no_flag", Type: "uint8", Value: false},
			{Name: "expression", Type: "int32", Value: "n * block_size_x"},
			{Name: "half", Type: "float16", Value: array.HalfOf(0.1)},
			{Name: "vector", Type: "float2", Value: []float32{0.1, 0}},
			{Name: "anything", Type: "float4", Value: []any{1, "n / 3", 2.5, "0.5f"}},
			{Name: "expressions", Type: "int2", Value: []string{"n", "block_size_x"}},
			{Name: "fixed", Type: "int3", Value: [3]int{1, 2, 3}},
			{Name: "bools", Type: "int2", Value: []bool{true, false}},
			{Name: "vector_half", Type: "half2", Value: []array.Half{array.HalfOf(1), array.HalfOf(2)}},
			{Name: "own", Type: "uint8", Value: mode(7)},
			{Name: "owns", Type: "uchar2", Value: []mode{7, 0}},
			{Name: "struct", Type: "pairs", Value: map[string]any{
				"both":   []map[string]any{{"a": 0.5, "b": []any{mode(1), "block_size_x"}}, {"a": "n / 3", "b": [2]int8{3, 4}}},
				"corner": []float32{1, 2, 3},
			}},
			{Name: "raw", Type: "pair", Value: "0000803f 01000000 02000000"},
			{Name: "raw bytes", Type: "bytes", Value: "00 01 02"},
			{Name: "structs", Type: "pairs", Size: "n", Fill: definition.Fill{Kind: array.Random}},
			{Name: "structs_of_npy", Type: "pair", Fill: definition.Fill{File: npy("structs.npy", array.Of([]float32{1, 2, 3}))}},
			{Name: "image", Image: &definition.Image{Shape: "3d", Format: "rgba/float16", Size: []definition.Expr{"n", "rows", "2"}}, Output: false},
			{Name: "pixels", Image: &definition.Image{Shape: "1d_array", Format: "r/int16", Size: []definition.Expr{"2", "2"}}, Data: []int16{1, 2, 3, 4}},
			{Name: "sampler", Sampler: &definition.Sampler{Filter: "linear"}},
		},
		Parameters: []space.Parameter{
			{Name: "block_size_x", Values: []space.Value{uint8(8), 16, 32}},
			{Name: "rows", Values: []space.Value{1, 2}},
			{Name: "scale", Values: []space.Value{0.5, 1.0, 0}},
			{Name: "local_", Values: []space.Value{false, true}},
			{Name: "type", Values: []space.Value{"float", "unsigned int"}},
		},
		Restrictions: []space.Restriction{
			{Expression: "block_size_x * rows <= 32"},
			{Expression: "block_size_x * 8 <= device.local_memory"},
			{Expression: "not local_ or scale > 0"},
		},
		Verify:    &definition.Verification{Files: map[string]string{"out": right}, ATol: "local_ ? 1e-3 : 0"},
		Metrics:   []definition.Metric{{Name: "GB/s", Expression: "n / time"}, {Name: "rate", Expression: "1 / time_min"}},
		Objective: score.Objective{Name: "rate", Maximize: true},
		Seed:      11,
	}
}

// referenceOf is a kernel whose output is right for everything.
func referenceOf(t *testing.T, dir string) *definition.Definition {
	d := everything(t, dir)
	d.Kernel.Name = "reference"
	d.Parameters[4].Values = []space.Value{"float"}
	d.Verify = &definition.Verification{Check: func(space.Configuration, map[string]*array.Array) error { return nil }} // not looked at
	return &d
}

// crossed is a portable definition of the problem as another process receives it.
func crossed(t *testing.T, p *problem.Problem) *problem.Problem {
	t.Helper()
	sent, err := p.Portable()
	if err != nil {
		t.Fatal(err)
	}
	var wire bytes.Buffer
	if err := gob.NewEncoder(&wire).Encode(sent); err != nil {
		t.Fatal(err)
	}
	var received definition.Definition
	if err := gob.NewDecoder(&wire).Decode(&received); err != nil {
		t.Fatal(err)
	}
	q, err := problem.New(received)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// wantSame wants two problems to be one for whoever evaluates configurations.
func wantSame(t *testing.T, p, q *problem.Problem) {
	t.Helper()
	if p.Digest() != q.Digest() {
		t.Errorf("digest %s became %s", p.Digest(), q.Digest())
	}
	if ours, theirs := describe(p.Arguments()), describe(q.Arguments()); ours != theirs {
		t.Errorf("arguments %s became %s", ours, theirs)
	}
	if !p.Objective().Equal(q.Objective()) {
		t.Errorf("objective %v became %v", p.Objective(), q.Objective())
	}
	ours, theirs := spaceOf(t, p), spaceOf(t, q)
	if ours.Len() != theirs.Len() {
		t.Fatalf("%d configurations became %d", ours.Len(), theirs.Len())
	}
	step := 1 + ours.Len()/300 // of large spaces, some hundred
	if os.Getenv("NDTUNE_LONG") != "" {
		step = 1
	}
	for i := 0; i < ours.Len(); i += step {
		v, err := p.Variant(ours.At(i), device)
		if err != nil {
			t.Fatal(err)
		}
		w, err := q.Variant(theirs.At(i), device)
		if err != nil {
			t.Fatal(err)
		}
		if v.Configuration.String() != w.Configuration.String() {
			t.Fatalf("%s became %s", v.Configuration, w.Configuration)
		}
		v.Configuration, w.Configuration = space.Configuration{}, space.Configuration{}
		if !reflect.DeepEqual(v, w) {
			t.Fatalf("%s: variant\n%+v became\n%+v", ours.At(i), v, w)
		}
	}
	reference, at, swap := p.Reference()
	other, otherAt, otherSwap := q.Reference()
	if (reference == nil) != (other == nil) || at.String() != otherAt.String() || swap != otherSwap {
		t.Fatalf("reference at %s, swap %v, became one at %s, swap %v", at, swap, otherAt, otherSwap)
	}
	if reference != nil {
		wantSame(t, reference, other)
	}
}

func spaceOf(t *testing.T, p *problem.Problem) *space.Space {
	t.Helper()
	s, err := p.Space(t.Context(), device)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// describe returns what a kernel gets as its arguments.
func describe(arguments []problem.Argument) string {
	var b strings.Builder
	for _, a := range arguments {
		fmt.Fprintf(&b, "%s: %s of %s, output %t, restored %t, varies %t", a.Name, a.Kind, a.Element, a.Output, a.RestoreEachLaunch, a.Varies)
		if a.Image != nil {
			fmt.Fprintf(&b, ", image %v", *a.Image)
		}
		if a.Sampler != nil {
			fmt.Fprintf(&b, ", sampler %v", *a.Sampler)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// wantSameContent wants buffers and right outputs to be the same.
func wantSameContent(t *testing.T, p, q *problem.Problem) {
	t.Helper()
	for i, a := range p.Arguments() {
		if a.Kind != definition.BufferArgument {
			continue
		}
		v, err := p.Variant(spaceOf(t, p).At(0), device)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := p.Content(i, v.Elements[i])
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := q.Content(i, v.Elements[i])
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(ours, theirs) {
			t.Errorf("%s: %v became %v", a.Name, ours, theirs)
		}
	}
	ours, err := p.ExpectedOutputs(nil)
	if err != nil {
		t.Fatal(err)
	}
	if theirs, err := q.ExpectedOutputs(nil); err != nil || !reflect.DeepEqual(ours, theirs) {
		t.Errorf("outputs %v became %v, %v", ours, theirs, err)
	}
}

func TestAPortableProblemIsTheSameWithoutItsFiles(t *testing.T) {
	at := map[string]space.Value{"block_size_x": int32(8), "rows": 1, "scale": 0.5, "local_": false}
	for name, change := range map[string]func(d *definition.Definition, dir string){
		"files":      func(*definition.Definition, string) {},
		"unverified": func(d *definition.Definition, _ string) { d.Verify = nil },
		"given outputs": func(d *definition.Definition, _ string) {
			d.Verify = &definition.Verification{Expected: map[string]any{"out": make([]float32, 64)}, RTol: "1e-3", Compare: map[string]definition.Comparison{"out": {As: array.Norm, Rows: "rows"}}}
		},
		"a command": func(d *definition.Definition, dir string) {
			d.Verify = &definition.Verification{Command: &definition.Command{Args: []string{"judge", "it"}, Dir: dir, Timeout: 3}}
		},
		"a reference": func(d *definition.Definition, dir string) {
			d.Verify = &definition.Verification{Problem: referenceOf(t, dir), Configuration: at, Launches: "rows", Swap: [2]string{"out", "copy"}}
		},
		"a source as text": func(d *definition.Definition, dir string) {
			d.Kernel.File, d.Kernel.Source = "", "#include \"common.h\"\n"
		},
		"no parameters beyond one": func(d *definition.Definition, _ string) {
			for i := range d.Parameters {
				d.Parameters[i].Values = d.Parameters[i].Values[:1]
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			d := everything(t, dir)
			change(&d, dir)
			p, err := problem.New(d)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			q := crossed(t, p)
			wantSame(t, p, q)
			wantSameContent(t, p, q)
			wantSame(t, p, crossed(t, q)) // and on to a third process
		})
	}
}

func TestBundledProblemsArePortable(t *testing.T) {
	found := 0
	err := fs.WalkDir(kernels.FS, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		found++
		s, err := spec.LoadFS(kernels.FS, path, spec.Options{})
		if err != nil {
			return err
		}
		t.Run(path, func(t *testing.T) { wantSame(t, s.Problem, crossed(t, s.Problem)) })
		return nil
	})
	if err != nil || found == 0 {
		t.Fatalf("%d specifications, %v", found, err)
	}
}

func TestPortableReadsNoFile(t *testing.T) {
	dir := t.TempDir()
	d := everything(t, dir)
	d.Verify = &definition.Verification{Problem: referenceOf(t, dir), Configuration: map[string]space.Value{"block_size_x": 8, "rows": 1, "scale": 0.5, "local_": false}}
	p, err := problem.New(d)
	if err != nil {
		t.Fatal(err)
	}
	portable, err := p.Portable()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*definition.Definition{&portable, portable.Verify.Problem} {
		if d.Kernel.File != "" || d.Kernel.IncludeDirs != nil || !strings.Contains(d.Kernel.Source, "twice") {
			t.Errorf("kernel %+v", d.Kernel)
		}
		if slices.ContainsFunc(d.Arguments, func(a definition.Argument) bool { return a.Fill.File != "" }) {
			t.Errorf("arguments %+v", d.Arguments)
		}
	}
}

func TestGoFunctionsCannotCross(t *testing.T) {
	source := func(space.Configuration) (string, error) { return "//", nil }
	at := map[string]space.Value{"block_size_x": 8, "rows": 1, "scale": 0.5, "local_": false}
	for name, c := range map[string]struct {
		change func(d *definition.Definition, dir string)
		want   []string
	}{
		"kernel": {func(d *definition.Definition, _ string) { d.Kernel = definition.Kernel{Name: "k", Func: source} }, []string{"kernel.func"}},
		"check": {func(d *definition.Definition, _ string) {
			d.Verify = &definition.Verification{Check: func(space.Configuration, map[string]*array.Array) error { return nil }}
		}, []string{"verify.check"}},
		"reference": {func(d *definition.Definition, _ string) {
			d.Verify = &definition.Verification{Reference: func(map[string]*array.Array) (map[string]*array.Array, error) { return nil, nil }}
		}, []string{"verify.reference"}},
		"in the reference": {func(d *definition.Definition, dir string) {
			reference := referenceOf(t, dir)
			reference.Kernel = definition.Kernel{Name: "k", Func: source}
			d.Verify = &definition.Verification{Problem: reference, Configuration: at}
		}, []string{"verify.spec.kernel.func"}},
	} {
		dir := t.TempDir()
		d := everything(t, dir)
		c.change(&d, dir)
		p, err := problem.New(d)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		_, err = p.Portable()
		var functions *problem.FunctionError
		if !errors.As(err, &functions) || !slices.Equal(functions.Fields, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	err := &problem.FunctionError{Fields: []string{"kernel.func", "verify.check"}}
	if want := "the problem holds Go functions (kernel.func, verify.check), which cannot cross to another process"; err.Error() != want {
		t.Errorf("%q", err)
	}
}
