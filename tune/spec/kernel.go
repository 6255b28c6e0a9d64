package spec

import (
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/tune/include"
	"github.com/ndtune/ndtune/tune/problem"
)

// kernel reads the kernel with its source, in which the files that it includes stand in
// place of their directives.
func (f field) kernel() (k problem.Kernel) {
	var file, source field
	var dirs []string
	f.keys(
		reader{"name", func(f field) { k.Name = f.text() }},
		reader{"file", func(f field) { file = f }},
		reader{"source", func(f field) { source = f }},
		reader{"build_options", func(f field) { k.BuildOptions, dirs = f.buildOptions() }},
	)
	f.require("name")
	switch {
	case f.node.Kind != yaml.MappingNode:
	case !f.has("file") && !f.has("source"):
		f.failf("the source is missing: give file or source")
	case f.has("file") && f.has("source"):
		f.failf("give the source once, as file or as source")
	case f.failed(f.name):
	case f.has("file"):
		k.Source = file.sourceFile(dirs)
	default:
		k.Source = source.sourceText(dirs)
	}
	return k
}

// sourceFile reads the source from the file that the field names. Its #line directives
// have paths as they are seen from the specification, so that the text, and with it a
// record's digest and a driver's cache, does not depend on where a program was started.
func (f field) sourceFile(includeDirs []string) string {
	name := f.text()
	if name == "" {
		return ""
	}
	f.sourcePath = f.beside(f.path, name)
	if _, err := f.read(f.sourcePath); err != nil {
		f.fail(f.explain(f.sourcePath, err))
		return ""
	}
	text, err := include.Resolve(f.readBeside, name, includeDirs)
	if err != nil {
		f.fail(err)
	} else if strings.TrimSpace(text) == "" {
		f.failf("%s is empty", f.sourcePath)
	}
	return text
}

func (d *document) readBeside(name string) ([]byte, error) { return d.read(d.beside(d.path, name)) }

// sourceText is the source that the field itself holds. In messages of the compiler its
// lines are counted from its first.
func (f field) sourceText(includeDirs []string) string {
	source := f.text()
	own := filepath.Base(f.path) + ":" + f.name
	read := func(name string) ([]byte, error) {
		if name == own {
			return []byte(source), nil
		}
		return f.readBeside(name)
	}
	text, err := include.Resolve(read, own, includeDirs)
	if err != nil {
		f.fail(err)
	}
	return text
}
