package problem

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/space"
)

// TestIncludedFilesStandInTheSource reads a kernel whose files lie beside it and in a
// folder of their own, as a file and as a text.
func TestIncludedFilesStandInTheSource(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("beside.h", "int beside;\n")
	lib := filepath.Dir(write("lib/far.h", "int far;\n"))
	file := write("k.cl", "#include \"beside.h\"\n#include \"far.h\"\n#include \"missing.h\"\n")
	for _, c := range []struct {
		name   string
		kernel definition.Kernel
		beside bool
	}{
		{"file", definition.Kernel{Name: "k", File: file, IncludeDirs: []string{lib}}, true},
		{"text", definition.Kernel{Name: "k", Source: "#include \"beside.h\"\n#include \"far.h\"\n#include \"missing.h\"\n", IncludeDirs: []string{lib}}, false},
	} {
		p, err := New(definition.Definition{
			Kernel: c.kernel, ProblemSize: []definition.Expr{"1"},
			Parameters: []space.Parameter{{Name: "block_size_x", Values: []space.Value{1}}},
		})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := strings.Contains(p.source, "int beside;"); got != c.beside {
			t.Errorf("%s: what lies beside the file is there: %v, want %v", c.name, got, c.beside)
		}
		if !strings.Contains(p.source, "int far;") || !strings.Contains(p.source, `#include "missing.h"`) {
			t.Errorf("%s: got %q", c.name, p.source)
		}
	}
}
