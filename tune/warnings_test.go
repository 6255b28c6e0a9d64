package tune

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/hardware"
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

// TestCompilerWarningsAreToldOnceAndBounded: each is told with the first configuration that has it.
func TestCompilerWarningsAreToldOnceAndBounded(t *testing.T) {
	results := []Result{{Warnings: "warning: a\nwarning: b\nwarning: a"}, {Warnings: "warning: b\nwarning: c"}, {Warnings: "warning: a"}}
	told := compilerWarnings(results)
	if len(told) != 2 || !strings.HasSuffix(told[0], "\nwarning: a\nwarning: b") || !strings.HasSuffix(told[1], ":\nwarning: c") {
		t.Errorf("%q", told)
	}
	for i := range maxWarnings {
		results = append(results, Result{Warnings: fmt.Sprintf("warning: number %d", i)})
	}
	if told := compilerWarnings(results); len(told) != maxWarnings || told[maxWarnings-1] != "The compiler has more warnings, which are not shown." {
		t.Errorf("%q", told)
	}
}

// TestWrongOutputsThatAgree: many equal outputs cast a doubt on the reference.
func TestWrongOutputsThatAgree(t *testing.T) {
	results := []Result{{Status: Correctness, Outputs: 1}, {Status: Correctness, Outputs: 2}, {Status: Correctness, Outputs: 1}}
	if told := Warnings(nil, results, hardware.Device{}); len(told) != 1 || told[0] != "Of 3 wrong outputs 2 are equal to each other: is the reference right?" {
		t.Errorf("%q", told)
	}
	if told := Warnings(nil, results[:2], hardware.Device{}); len(told) > 0 {
		t.Errorf("%q", told)
	}
}
