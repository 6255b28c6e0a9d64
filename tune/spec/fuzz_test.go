package spec

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// FuzzLoad: whatever a specification holds, Load returns a problem or errors that have a
// file and a message.
func FuzzLoad(f *testing.F) {
	f.Add(good, "")
	f.Add("a: &a {<<: [*a, *a]}\n", "x")
	f.Add("kernel: {name: k, source: \"#include \\\"include/common.h\\\"\"}\nparameters: {a: {range: [0, 1, 0.1]}}\n", "")
	f.Add("? [a]\n: b\n--- \n...\n", "")
	f.Add(with("verify: {spec: reference.yaml, parameters: {block_size_x: 64}, launches: 3, swap: [c, c]}\n"), "#pragma once\n#include \"spec.yaml\"\n")
	f.Add(with("arguments: [{name: c, type: float4, value: [1, n, 2.0f, true]}, {name: d, type: int, size: n, fill: {random: [1, 2]}}]\n"), "")
	f.Add(with("arguments: [{name: c, image: 2d, format: rgba/unorm_int8, size: [n, 2]}, {name: d, image: 1d_array, format: r/half, fill: {file: other.h}}, {name: e, sampler: {filter: linear}}]\n"), "")
	wrong, err := os.ReadFile("testdata/wrong.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, section := range strings.Split(string(wrong), "=== ")[1:] {
		_, rest, _ := strings.Cut(section, "\n")
		text, _, _ := strings.Cut(rest, "---\n")
		f.Add(with(text), "")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		fsys := library()
		fsys["spec.yaml"] = &fstest.MapFile{Data: []byte(text)}
		fsys["other.h"] = &fstest.MapFile{Data: []byte(other)}
		o := Options{Set: map[string]string{"n": other}, Parameters: map[string][]string{"block_size_x": {other}}}
		for _, o := range []Options{{}, o} {
			s, err := LoadFS(fsys, "spec.yaml", o)
			if err == nil {
				if s.Problem == nil {
					t.Errorf("%q: neither a problem nor an error", text)
				}
				continue
			}
			var errs Errors
			if !errors.As(err, &errs) || len(errs) == 0 {
				t.Fatalf("%q: a bare error: %v", text, err)
			}
			for _, e := range errs {
				inFile := e.File == "spec.yaml" && !strings.HasPrefix(e.Field, "-")
				if e.File == "" || e.Err == nil || e.Err.Error() == "" || inFile && e.Line > breaks(text)+2 {
					t.Errorf("%q: %+v", text, e)
				}
			}
		}
	})
}

// breaks returns how many line breaks YAML 1.1 may see in a text.
func breaks(text string) (n int) {
	for _, c := range text {
		if strings.ContainsRune("\n\r\u0085\u2028\u2029", c) {
			n++
		}
	}
	return n
}
