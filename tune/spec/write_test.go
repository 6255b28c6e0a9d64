package spec

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune/array"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/source"
	"github.com/ndtune/ndtune/tune/space"
)

// The kernel, the arguments and the parameters of each bundled specification are the same after they were written and read.
func TestTextOfBundledSpecifications(t *testing.T) {
	paths, err := filepath.Glob("../../kernels/*/*.yaml")
	if err != nil || len(paths) < 10 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		name, _ := filepath.Rel("../../kernels", path)
		original, err := LoadFS(kernels.FS, filepath.ToSlash(name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		files := fstest.MapFS{}
		folder := filepath.Dir(path)
		if err := copyFolder(files, folder); err != nil {
			t.Fatal(err)
		}
		d := original.Definition
		d = definition.Definition{
			Kernel: d.Kernel, Constants: d.Constants, ProblemSize: d.ProblemSize, BlockSize: d.BlockSize, GridDiv: d.GridDiv, Types: d.Types,
			Arguments: d.Arguments, Parameters: d.Parameters, Restrictions: d.Restrictions, Baseline: d.Baseline, GlobalOffset: d.GlobalOffset,
		}
		if d.Verify = original.Definition.Verify; d.Verify != nil {
			v := d.Verify
			d.Verify = &definition.Verification{
				Configuration: v.Configuration, Problem: v.Problem, ATol: v.ATol, RTol: v.RTol, Compare: v.Compare,
			}
		}
		draft := Draft{Definition: d, Files: []string{filepath.Base(original.SourcePath)}, Reference: filepath.Base(referenceOf(t, path))}
		_, draft.Definition.Kernel.BuildOptions = Relative(path, "", draft.Definition.Kernel.BuildOptions)
		files["spec.yaml"] = &fstest.MapFile{Data: draft.YAML()}
		again, err := LoadFS(files, "spec.yaml", Options{})
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, draft.YAML())
			continue
		}
		if want, err := problem.New(d); err != nil || again.Problem.Digest() != want.Digest() {
			t.Errorf("%s is another problem:\n%s", name, draft.YAML())
		}
	}
}

// referenceOf returns the specification that verifies another one, or "".
func referenceOf(t *testing.T, path string) string {
	d := newDocument(files{osFiles{}}, path)
	root, errs := d.parse()
	if errs != nil {
		t.Fatal(errs)
	}
	d.field("", root).definition()
	return d.reference
}

// TestTextOfCapturedLaunches writes what the bundled specifications do not have.
func TestTextOfCapturedLaunches(t *testing.T) {
	draft := Draft{Files: []string{"k.cl"}, Definition: definition.Definition{
		Kernel: definition.Kernel{Name: "k"}, ProblemSize: []definition.Expr{"8", "8"}, GlobalOffset: []definition.Expr{"3", "0"},
		Arguments: []definition.Argument{
			{Name: "y", Type: "int", Fill: definition.Fill{File: "y.npy"}, Output: true}, {Name: "x", Type: "float", Alias: "y"},
			{Name: "p", Type: "bytes", Value: "00000001"}, {Name: "q", Type: "bytes", Value: "0e000001"},
		},
		Parameters:   []space.Parameter{{Name: "block_size_x", Values: []space.Value{4, 8}}},
		Restrictions: []space.Restriction{{Expression: "8 % block_size_x == 0"}, {Expression: "block_size_x > 0"}},
		Verify: &definition.Verification{
			Files: map[string]string{"y": "z.npy"}, Compare: map[string]definition.Comparison{"y": {As: array.Multiset, Rows: "2"}}, ATol: "0.5", RTol: "0",
		},
		Baseline: map[string]space.Value{"block_size_x": 4},
	}}
	draft.Remark("verify", "first\r\u2028second")
	folder := t.TempDir()
	for _, name := range []string{"y.npy", "z.npy"} {
		if err := array.WriteNPY(filepath.Join(folder, name), array.Of([]int32{1, 2, 3, 4}), nil); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(folder, "k.yaml")
	err := os.WriteFile(filepath.Join(folder, "k.cl"), []byte("__kernel void k() {}"), 0o666)
	if err == nil {
		err = draft.Write(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load(path, Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, draft.YAML())
	}
	got, want := s.Definition, draft.Definition
	got.Kernel, want.Kernel = definition.Kernel{}, definition.Kernel{}
	want.Arguments[0].Fill.File = filepath.Join(folder, "y.npy")
	want.Verify.Files["y"] = filepath.Join(folder, "z.npy")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v\n%s", got, want, draft.YAML())
	}
}

func copyFolder(files fstest.MapFS, folder string) error {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		files[e.Name()] = &fstest.MapFile{Data: text}
	}
	return err
}

// TestSymbol reads and writes an argument that is a symbol.
func TestSymbol(t *testing.T) {
	s := loaded(t, "kernel: {name: add, language: cuda, file: add.cu}\narguments:\n  - {name: c, type: float32, size: n, output: true}\n"+
		"  - {name: w, type: float32, size: 9, fill: ones, symbol: true}\n", Options{})
	if w := s.Definition.Arguments[1]; !w.Symbol || w.Fill.Kind != array.Ones || !s.Problem.Arguments()[1].Kind.HasContent() {
		t.Errorf("%+v", w)
	}
	files := library()
	draft := Draft{Definition: s.Definition, Files: []string{"add.cu"}}
	draft.Definition.Verify = nil
	files["again.yaml"] = &fstest.MapFile{Data: draft.YAML()}
	again, err := LoadFS(files, "again.yaml", Options{})
	if err != nil || !reflect.DeepEqual(again.Definition.Arguments, s.Definition.Arguments) || again.Definition.Kernel.Language != source.CUDA {
		t.Errorf("%v\n%s", err, draft.YAML())
	}
}

// TestFilesOfTwoLanguages takes a specification in either of its languages.
func TestFilesOfTwoLanguages(t *testing.T) {
	both := loaded(t, "kernel: {name: add, file: {opencl: add.cl, cuda: [add.cu]}}\n", Options{})
	cuda, err := both.In(source.CUDA)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := both.SourceName(), cuda.SourceName(); a != "add.cl" || b != "add.cu" {
		t.Errorf("sources %s and %s", a, b)
	}
	if alone := loaded(t, "kernel: {name: add, file: add.cu}\n", Options{}); alone.Problem.Digest() != cuda.Problem.Digest() {
		t.Error("CUDA C of two files is another problem than CUDA C alone")
	}
	if same, err := both.In(source.OpenCL); err != nil || same != both {
		t.Error("it is in OpenCL C already")
	}
}

func TestTextOfValues(t *testing.T) {
	for _, v := range []space.Value{
		1, -1, 1.0, 0.5, 1e-7, true, false, "a", "", " a ", "1", "1.0", "010", "true", "null", "a: b", "a:", "a #b", "#a", "-a", "--a", "- a", "-", "'a'",
		`"a"`, "a, b", "[a]", "{a}", "*a", "&a", "!a", "%a", "@a", "a\nb", "a\tb", "ä", "x ? 1 : 0", "yes", ".inf", "1_000", "0.5f", "~", "<<", "=", `a\b`,
	} {
		one := scalarNode(1)
		for _, form := range []*yaml.Node{
			mapping(part{"v", scalarNode(v)}), mapping(part{"v", scalarNode(v)}, part{"w", one}), mapping(part{"v", sequence([]*yaml.Node{scalarNode(v), one})}),
		} {
			text, err := yaml.Marshal(form)
			if err != nil {
				t.Fatal(err)
			}
			root, err := parseYAML(text)
			if err != nil {
				t.Errorf("%#v: %s: %v", v, text, err)
				continue
			}
			node := root.Content[1]
			if len(node.Content) > 0 {
				node = node.Content[0]
			}
			if got, err := scalar(node); got != v || err != nil {
				t.Errorf("%#v is %#v, %v in %s", v, got, err, text)
			}
		}
	}
}
