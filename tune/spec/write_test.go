package spec

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/kernels"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/space"
	"github.com/ndtune/ndtune/tune/task"
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
		d = task.Definition{
			Kernel: d.Kernel, Constants: d.Constants, ProblemSize: d.ProblemSize, BlockSize: d.BlockSize, GridDiv: d.GridDiv, Types: d.Types,
			Arguments: d.Arguments, Parameters: d.Parameters,
		}
		if d.Verify = original.Definition.Verify; d.Verify != nil {
			d.Verify = &task.Verification{Configuration: d.Verify.Configuration, Problem: d.Verify.Problem}
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
