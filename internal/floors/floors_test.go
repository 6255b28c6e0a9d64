package floors

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
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
		if entry.IsDir() && file != "." {
			_, err := fs.Stat(root, path.Join(file, "go.mod"))                                                         // of another module
			if err == nil || strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || file == "docs/go" { // programs for users
				return fs.SkipDir
			}
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

// TestTheDocumentShowsTheFloors compares the table of docs/architecture.md with Floors.
func TestTheDocumentShowsTheFloors(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| (.+?) \|`).FindAllStringSubmatch(string(text), -1) {
		for _, name := range strings.Split(row[2], ", ") {
			documented = append(documented, row[1]+" "+strings.Trim(name, "`"))
		}
	}
	var want []string
	for i, packages := range Floors {
		for _, p := range packages {
			want = append(want, fmt.Sprintf("%d %s", i+1, p))
		}
	}
	slices.Sort(documented)
	slices.Sort(want)
	if !slices.Equal(documented, want) {
		t.Errorf("docs/architecture.md has\n%s\nfloors.go has\n%s", strings.Join(documented, "\n"), strings.Join(want, "\n"))
	}
}
