package floors

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/ndtune/ndtune/"

// TestImportsPointDown reads the imports of every Go file. Tests may import what their
// package may, and besides anything below the command: they put rooms together.
func TestImportsPointDown(t *testing.T) {
	floor := map[string]int{}
	for i, packages := range Floors {
		for _, p := range packages {
			floor[p] = i
		}
	}
	root := os.DirFS(filepath.Join("..", ".."))
	seen := map[string]bool{}
	err := fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && file != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		from := path.Dir(file)
		seen[from] = true
		mine, ok := floor[from]
		if !ok {
			t.Errorf("%s: the package stands on no floor; add it to Floors and to docs/architecture.md", from)
			return nil
		}
		source, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if to, own := strings.CutPrefix(imported, module); own && floor[to] >= mine {
				t.Errorf("%s imports %s, which is not below it", file, to)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for p := range floor {
		if !seen[p] {
			t.Errorf("%s has a floor but no code", p)
		}
	}
}
