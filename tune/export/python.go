package export

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/ndtune/ndtune/tune/problem"
	"github.com/ndtune/ndtune/tune/wisdom"
)

//go:embed module.py.tmpl
var moduleText string

var moduleTemplate = template.Must(template.New("module").Funcs(Python.functions).Funcs(template.FuncMap{
	"words": func(options string) []string { return word.FindAllString(options, -1) },
}).Parse(moduleText))

// word matches an option, or its value, in a line. Quotation marks stay: PyOpenCL joins a list with spaces.
var word = regexp.MustCompile(`(?:"(?:[^"\\]|\\.)*"|\\.|[^\s"\\])+|\S`)

// Module returns a module for PyOpenCL. See [Header] for the sizes and the errors.
func Module(p *problem.Problem, f *wisdom.File, size []problem.Expr) (File, error) {
	t, err := newTable(p, f, size)
	if err != nil {
		return File{}, err
	}
	if slices.Contains(strings.Fields(keywordsPython), t.Key) {
		return File{}, fmt.Errorf("no module of Python can be named %s, a keyword; give another one with --key, or leave python out of --lang", t.Key)
	}
	x, err := t.in(Python)
	if err != nil {
		return File{}, err
	}
	var b bytes.Buffer
	err = moduleTemplate.Execute(&b, x)
	return File{t.Key + ".py", b.Bytes()}, err
}
