// Package golden compares what tests make of texts with files of expectations. A file is
// sections of «=== name», the text, a line «---», and what is expected; go test -update
// writes it anew.
package golden

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Check compares what actual makes of the text of each section with what is expected.
func Check(t *testing.T, path string, actual func(name, text string) string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var updated strings.Builder
	for _, section := range strings.Split(string(content), "=== ")[1:] {
		name, rest, _ := strings.Cut(section, "\n")
		text, want, _ := strings.Cut(rest, "---\n")
		got := actual(name, text)
		if !strings.HasSuffix(got, "\n") {
			got += "\n"
		}
		if want = strings.TrimRight(want, "\n") + "\n"; got != want && !*update {
			t.Errorf("%s:\n%s\ngot\n%s\nwant\n%s", name, text, got, want)
		}
		updated.WriteString("=== " + name + "\n" + text + "---\n" + got + "\n")
	}
	if *update {
		if err := os.WriteFile(path, []byte(updated.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// File compares a generated file with what it should hold.
func File(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the program says (%v): run go test -run %s -update here", path, err, t.Name())
	}
}
