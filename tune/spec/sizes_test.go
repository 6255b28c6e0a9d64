package spec

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

const twoConstants = "constants: {m: 3, n: 1024, list: \"1,2\"}\n"

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		text string
		set  map[string]string
		want string
	}{
		{"", nil, "[]"},
		{"sizes: [{n: 512}, {n: 64}]\n", nil, "[n=64 n=512]"},
		{"sizes: {n: {powers_of_two: [64, 512]}}\n", nil, "[n=64 n=128 n=256 n=512]"},
		{"sizes: {n: [64, 128], m: {range: [1, 2]}}\n", nil, "[m=1, n=64 m=2, n=128]"},
		{"sizes: {n: [64, 128], m: 7}\n", nil, "[m=7, n=64 m=7, n=128]"},
		{"sizes: [{n: 64, m: 1}, {m: 2, n: 64}]\n", nil, "[m=1, n=64 m=2, n=64]"},
		{"", map[string]string{"n": "256, 64"}, "[n=64 n=256]"},
		{"", map[string]string{"n": "256,64", "m": "1,2"}, "[m=2, n=64 m=1, n=256]"},
		{"", map[string]string{"n": "256,64", "m": "5"}, "[n=64 n=256]"},
		{"", map[string]string{"list": "5,6"}, "[]"}, // a text, as in the specification
		{"sizes: [{n: 512}, {n: 64}]\n", map[string]string{"m": "5"}, "[n=64 n=512]"},
		{"sizes: [{n: 512}, {n: 64}]\n", map[string]string{"n": "5"}, "[]"},
		{"sizes: [{n: 512}, {n: 64}]\n", map[string]string{"n": "5,6"}, "[n=5 n=6]"},
	} {
		o := Options{Set: c.set, Sizes: true}
		s := loaded(t, twoConstants+c.text, o)
		if got := fmt.Sprint(s.Sizes); got != c.want {
			t.Errorf("%q, %v: %s, want %s", c.text, c.set, got, c.want)
		}
		for i, size := range s.Sizes {
			at := loaded(t, twoConstants+c.text, o.At(size))
			if len(at.Sizes) > 0 || (at.Problem.Digest() == s.Problem.Digest()) != (i == 0) {
				t.Errorf("at %s: sizes %v, constants %v", size, at.Sizes, at.Definition.Constants)
			}
		}
	}
	if s := loaded(t, twoConstants+"sizes: [{n: 512}, {n: 64}]\n", Options{}); s.Sizes != nil || s.Definition.Constants[1].Value != 1024 {
		t.Errorf("a caller that takes no sizes got %v", s.Sizes)
	}
}

// TestSizesKeepTheirTypes: true is not 1, and a text of digits is no number.
func TestSizesKeepTheirTypes(t *testing.T) {
	const text = "constants: {n: 64, flag: false, name: \"8\"}\nsizes: [{flag: true, name: \"010\"}, {flag: false, name: \"16\"}]\n"
	for _, size := range loaded(t, text, Options{Sizes: true}).Sizes {
		at := loaded(t, text, Options{Sizes: true}.At(size)).Definition.Constants
		if got, want := fmt.Sprintf("%#v %#v", at[1].Value, at[2].Value), fmt.Sprintf("%#v %#v", size[0].Value, size[1].Value); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestWrongSizes(t *testing.T) {
	for _, c := range []struct {
		text string
		set  map[string]string
		want string
	}{
		{"sizes: []", nil, "spec.yaml:8:8: sizes: the list of sizes is empty"},
		{"sizes: [{n: 64}]", nil, "spec.yaml:8:8: sizes: one size alone"},
		{"sizes: {n: [64]}", nil, "spec.yaml:8:8: sizes: one size alone"},
		{"sizes: 64", nil, "spec.yaml:8:8: sizes: expected a mapping, found 64"},
		{"sizes: [{n: 64}, {n: 64}]", nil, "spec.yaml:8:8: sizes: the size n=64 is given twice"},
		{"sizes: [{k: 64}, {k: 65}]", nil, "spec.yaml:8:10: sizes[0].k: no constant is named k; the specification has m, n, list"},
		{"sizes: {k: [64, 65]}", nil, "spec.yaml:8:9: sizes.k: no constant is named k"},
		{"sizes: [{n: 64}, {m: 64}]", nil, "spec.yaml:8:19: sizes[1].m: the first size does not name m"},
		{"sizes: [{n: 64, m: 1}, {n: 65}]", nil, "spec.yaml:8:24: sizes[1]: m is missing"},
		{"sizes: [{n: 64}, 65]", nil, "spec.yaml:8:18: sizes[1]: expected a mapping, found 65"},
		{"sizes: {n: [64, 65], m: [1, 2, 3]}", nil, "spec.yaml:8:8: sizes: n has 2 values, and m has 3"},
		{"sizes: {n: {range: [1, 101]}}", nil, "spec.yaml:8:8: sizes: 101 sizes are more than the 100"},
		{"", map[string]string{"n": "64,64"}, "spec.yaml: --set n=64,64: the size n=64 is given twice"},
		{"", map[string]string{"n": "64,65", "m": "1,2,3"}, "spec.yaml: --set m=1,2,3 --set n=64,65: m has 3 values, and n has 2"},
		{"", map[string]string{"k": "64,65"}, "spec.yaml: --set k=64,65: no constant is named k"},
	} {
		fsys := library()
		fsys["spec.yaml"] = &fstest.MapFile{Data: []byte(with(twoConstants) + c.text + "\n")}
		if _, err := LoadFS(fsys, "spec.yaml", Options{Set: c.set, Sizes: true}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, %v: %v, want %s", c.text, c.set, err, c.want)
		}
	}
	fsys := library()
	if _, err := LoadFS(fsys, "good.yaml", Options{Set: map[string]string{"n": "64,65"}}); err == nil || !strings.Contains(err.Error(), "only ndtune tune and ndtune compare take") {
		t.Errorf("several values where one is needed: %v", err)
	}
}
