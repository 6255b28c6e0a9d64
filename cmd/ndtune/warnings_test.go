package main

import (
	"fmt"
	"slices"
	"testing"
)

func TestSplitWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		log  string
		want []string
	}{
		"PoCL": {"warning: k.cl:3:18: division by zero\nwarning: k.cl:4:1: unused", []string{"warning: k.cl:3:18: division by zero", "warning: k.cl:4:1: unused"}},
		"clang": {
			"k.cl:3:18: warning: division by zero\n    a = 1 / 0;\n          ^\nk.cl:1:1: note: here\nk.cl:4:1: warning: unused\n2 warnings generated.",
			[]string{"k.cl:3:18: warning: division by zero\n    a = 1 / 0;\n          ^\nk.cl:1:1: note: here", "k.cl:4:1: warning: unused"},
		},
		"directive": {"k.cl:1:2: warning: slow\n#warning slow\n ^", []string{"k.cl:1:2: warning: slow\n#warning slow\n ^"}},
		"included":  {"In file included from k.cl:1:\ni.h:1:1: warning: unused", []string{"In file included from k.cl:1:\ni.h:1:1: warning: unused"}},
		"none":      {"compiled in 3 ms", nil},
		"empty":     {"", nil},
	} {
		if got := splitWarnings(c.log); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestCompilerWarningsAreShownOnceAndBounded(t *testing.T) {
	var w compilerWarnings
	add := func(log string, fresh int, tooMany bool) {
		t.Helper()
		if got, more := w.add(log); len(got) != fresh || more != tooMany {
			t.Errorf("%q, %v, want %d, %v", got, more, fresh, tooMany)
		}
	}
	add("warning: a\nwarning: b\nwarning: a", 2, false)
	add("warning: b\nwarning: c", 1, false)
	for i := range maxWarnings - 3 {
		add(fmt.Sprintf("warning: number %d", i), 1, false)
	}
	add("warning: a", 0, false)
	add("warning: one too many", 0, true)
	add("warning: another", 0, false)
}
