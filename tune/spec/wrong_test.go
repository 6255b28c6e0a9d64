package spec

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ndtune/ndtune/internal/golden"
)

// library is what the specifications of the tests find beside them.
func library() fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range map[string]string{
		"add.cl":            "__kernel void add(__global float *c) { c[get_global_id(0)] = 1; }\n",
		"add.cu":            "__global__ void add(float *c) { c[threadIdx.x] = 1; }\n",
		"add.hip":           "__global__ void add(float *c) { c[threadIdx.x] = 1; }\n",
		"cuda.yaml":         strings.Replace(good, "add.cl", "add.cu", 1),
		"empty.cl":          " \n",
		"good.yaml":         good,
		"self.cl":           "#include \"self.cl\"\n",
		"reference.yaml":    strings.Replace(good, "[64, 128]", "[64]", 1),
		"choice.yaml":       good,
		"wrong.yaml":        strings.Replace(good, "[n]", "[m]", 1),
		"shape.yaml":        strings.Replace(good, "[n]", "{n: 1}", 1),
		"loop.yaml":         good + "verify: {spec: loop.yaml, parameters: {block_size_x: 64}}\n",
		"t1.json":           `{"ConfigurationSpace": {"TuningParameters": []}, "KernelSpecification": {}}`,
		"t4.json":           `{"schema_version": "1.0.0", "results": []}`,
		"t4.json.gz":        "\x1f\x8b\x08\x00",
		"log.jsonl":         "{}\n",
		"empty.yaml":        "\n# nothing\n",
		"tabs.yaml":         "kernel:\n\tname: add\n",
		"two.yaml":          good + "---\n" + good,
		"source_as_yaml.ym": "__kernel void add() {\n\tif (1) { }\n}\n",
		"list.yaml":         "- 1\n- 2\n",
		"text.yaml":         "hello\n",
		"include/common.h":  "#define ONE 1\n",
	} {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

const good = `kernel: {name: add, file: add.cl}
constants: {n: 1024}
problem_size: [n]
arguments:
  - {name: c, type: float32, size: n, output: true}
parameters:
  block_size_x: [64, 128]
`

// A section of wrong.txt is a whole specification, or lines that replace those of the good
// one that have the same key.
func TestWrongSpecifications(t *testing.T) {
	golden.Check(t, "testdata/wrong.txt", func(name, text string) string {
		fsys := library()
		fsys["spec.yaml"] = &fstest.MapFile{Data: []byte(with(text))}
		s, err := LoadFS(fsys, "spec.yaml", Options{})
		if err == nil {
			err = s.CheckSpace(t.Context())
		}
		if err == nil {
			return "no error"
		}
		return err.Error()
	})
}

// with replaces the sections of the good specification by those of the same key, and puts
// the others behind.
func with(text string) string {
	if strings.HasPrefix(text, "whole\n") {
		return strings.TrimPrefix(text, "whole\n")
	}
	base := sections(good)
	for _, s := range sections(text) {
		key, _, _ := strings.Cut(s, ":")
		found := false
		for i, b := range base {
			if k, _, _ := strings.Cut(b, ":"); k == key {
				base[i], found = s, true
			}
		}
		if !found {
			base = append(base, s)
		}
	}
	return strings.Join(base, "")
}

// sections are the lines of a mapping, each with the indented ones below it.
func sections(text string) []string {
	var list []string
	for _, line := range strings.SplitAfter(text, "\n") {
		if len(list) > 0 && (strings.HasPrefix(line, " ") || line == "") {
			list[len(list)-1] += line
		} else if line != "" {
			list = append(list, line)
		}
	}
	return list
}

func TestWrongFiles(t *testing.T) {
	fsys := library()
	fsys["huge.yaml"] = &fstest.MapFile{Data: []byte(strings.Repeat("#", maxFileSize+1))}
	for _, c := range []struct{ path, want string }{
		{"nothing.yaml", "nothing.yaml: there is no file nothing.yaml"},
		{"god.yaml", `god.yaml: there is no file god.yaml; did you mean "good.yaml"?`},
		{"../good.yaml", `../good.yaml: there is no file ../good.yaml`},
		{"include", "include: read the specification: it is a folder, not a file"},
		{"huge.yaml", "huge.yaml: read the specification: it has more than the 4194304 bytes that are read"},
		{"add.cl", "add.cl: this is a kernel's source; give the YAML specification that names it under kernel.file"},
		{"source_as_yaml.ym", "source_as_yaml.ym: this is a kernel's source; give the YAML specification that names it under kernel.file"},
		{"t1.json", "t1.json: this is a T1 file; python -m ndtune t1 FILE, of the Python package, writes it as a specification"},
		{"t4.json", "t4.json: this is a record of results (T4), not a specification"},
		{"t4.json.gz", "t4.json.gz: this file is compressed; a specification is plain text (records of results are for ndtune simulate and convert)"},
		{"log.jsonl", "log.jsonl: this is a run log, not a specification"},
		{"empty.yaml", "empty.yaml: the file is empty"},
		{"tabs.yaml", "tabs.yaml:2: not YAML: found character that cannot start any token (YAML is indented with spaces, not with tabs; a text such as \"add<float, {x}>\" needs quotes)"},
		{"two.yaml", "two.yaml:8:1: a second document begins; a specification is one"},
		{"list.yaml", "list.yaml:1:1: expected a mapping, found a list"},
		{"text.yaml", `text.yaml:1:1: expected a mapping, found the text "hello"`},
	} {
		_, err := LoadFS(fsys, c.path, Options{})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.path, err, c.want)
		}
	}
}

// TestManyErrors: the time to read a file grows with its size, not with the square of what
// is wrong with it.
func TestManyErrors(t *testing.T) {
	const n = 50_000
	fsys := library()
	arguments := "arguments:\n" + strings.Repeat("  - {nam: c, type: float32, size: m}\n", n)
	text := strings.Replace(good, "arguments:\n", arguments, 1)
	fsys["spec.yaml"] = &fstest.MapFile{Data: []byte(text)}
	_, err := LoadFS(fsys, "spec.yaml", Options{})
	var errs Errors
	if !errors.As(err, &errs) || len(errs) < n {
		t.Errorf("%d errors, want %d at least", len(errs), n)
	}
}
