package export

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/build"
	"go/format"
	"go/token"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/ndtune/ndtune/tune/expression"
	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/wisdom"
)

//go:embed package.go.tmpl
var packageText string

var packageTemplate = template.Must(template.New("package").Funcs(template.FuncMap{
	"literal": writes(expression.Go),
	"type":    func(k expression.Kind) string { return typesGo[k] },
}).Parse(packageText))

var typesGo = map[expression.Kind]string{expression.Int: "int64", expression.Float: "float64", expression.Bool: "bool", expression.String: "string"}

var golang = dialect{
	language: expression.Go, identifier: exported, parameter: "choice.Record.Configuration.%[1]s", size: "choice.Sizes.%[1]s",
	reserved: `_ device choose Choice Sizes break case chan const continue default defer else fallthrough for func go goto if import
		interface map package range return select struct switch type var`,
}

// exported returns the name of a field: BlockSizeX for block_size_x.
func exported(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	if !token.IsExported(b.String()) { // _1 and __
		return "X" + b.String()
	}
	return b.String()
}

// Package returns a Go package with the wisdom about a problem: a folder with the functions and the source. The sizes
// are the whole-number constants that the problem size, the size of a buffer or a repeat reads. The problem size is that
// of the problem, or other expressions over its constants; nil: none are given. The error names what cannot be
// exported: a source that is made for each configuration, a launch that reads the device, or wisdom about another
// kernel or another source.
func Package(p *problem.Problem, f *wisdom.File, size []problem.Expr) ([]File, error) {
	t, err := newTable(p, f, size)
	if err != nil {
		return nil, err
	}
	if err := checkPackage(t.Key); err != nil {
		return nil, err
	}
	x, err := t.in(golang, functions{"NDRange", "Launches", "BuffersBytes", "choice Choice"})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := packageTemplate.Execute(&b, x); err != nil {
		return nil, err
	}
	text, err := format.Source(b.Bytes())
	if err != nil {
		return nil, err
	}
	return []File{{t.Key + "/" + t.Key + ".go", text}, {t.Key + "/" + t.Key + "_binaries.go", []byte(strings.ReplaceAll(binariesGo, "{{.Key}}", t.Key))}, {t.Key + "/" + t.Key + ".cl", []byte(strings.Join(t.Source, ""))}}, nil
}

// checkPackage returns an error if a name cannot be that of a package, its folder and its file.
func checkPackage(key string) error {
	reason := ""
	switch {
	case token.IsKeyword(key):
		reason = "a keyword"
	case slices.Contains([]string{"_", "main", "internal", "vendor", "testdata"}, key):
		reason = "which has another meaning there"
	case !compiled(key + ".go"):
		reason = fmt.Sprintf("because the go command leaves %s.go out on some systems", key)
	default:
		return nil
	}
	return fmt.Errorf("no package of Go can be named %s, %s; give another one with --key, or leave go out of --lang", key, reason)
}

// compiled reports whether the go command compiles a file of this name on every system.
func compiled(file string) bool {
	anywhere := build.Context{GOOS: "none", GOARCH: "none", Compiler: "gc", OpenFile: func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("package p\n")), nil
	}}
	ok, err := anywhere.MatchFile("", file)
	return ok && err == nil && !strings.HasSuffix(file, "_test.go")
}
