package spec

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/tune/definition"
	"github.com/ndtune/ndtune/tune/source"
)

// kernel reads the kernel with its source, in which included files replace their directives.
func (f field) kernel() (k definition.Kernel) {
	var source, options field
	var files [2]field
	var command definition.Command
	var dirs []string
	f.keys(
		key("name", &k.Name, field.text).means("text", "the name of the kernel function; required, except for a pipeline"),
		key("language", &k.Language, field.language).means("text", "opencl or cuda; default: that of the source"),
		key("file", &files, field.sourceFiles).
			means("path, list or mapping", "the source files, concatenated in this order; one of file, source and command is required"),
		key("source", &source, field.itself).means("text", "the source itself"),
		key("command", &command.Args, field.command).
			means("list", "a program with its arguments that makes the source of a configuration"),
		key("timeout", &command.Timeout, field.duration).means("duration", "the time that an answer may take; default: 1m"),
		key("build_options", &options, field.itself).means("text or list", "options for the compiler"),
		key("target", &k.Target, field.text).means("text", "the target of the driver's assembler, or the architecture of CUDA C, such as sm_90a"),
	)
	if options.node != nil {
		k.BuildOptions, dirs = options.buildOptions()
	}
	if _, pipeline := f.at["kernels"]; !pipeline {
		f.require("name")
	}
	given := slices.DeleteFunc([]string{"file", "source", "command"}, func(key string) bool { return !f.has(key) })
	switch k.Command = f.complete(command); {
	case f.node.Kind != yaml.MappingNode:
	case len(given) == 0:
		f.failf("the source is missing: give file, source or command")
	case len(given) > 1:
		f.failf("give the source once: found %s", strings.Join(given, " and "))
	case f.failed(f.name):
	case f.has("command"):
		k.IncludeDirs = dirs
	case f.has("file"):
		if cuda := files[1]; cuda.node != nil {
			k.CUDA = &definition.KernelText{}
			k.CUDA.Source, k.CUDA.SourceName = cuda.sourceFile(dirs)
			f.cudaPath = f.sourcePath
		}
		k.Source, k.SourceName = files[0].sourceFile(dirs)
	default:
		k.Source, k.SourceName = source.resolveText(source.text(), dirs)
	}
	return k
}

func (f field) language() source.Language { return source.Language(f.text()) }

// sourceFiles returns the fields with the files of the source, the second one those in CUDA C beside OpenCL C.
func (f field) sourceFiles() (files [2]field) {
	if f.node.Kind != yaml.MappingNode {
		return [2]field{f}
	}
	f.keys(
		key("opencl", &files[0], field.itself).means("path or list", "the source files in OpenCL C").required(),
		key("cuda", &files[1], field.itself).means("path or list", "the source files in CUDA C").required(),
	)
	return files
}

// sourceFile reads the source from the file that the field names, and returns its name. The paths of its #line
// directives are relative to the specification, so that the text, and with it a record's digest
// and a driver's cache, does not depend on the working directory.
func (f field) sourceFile(includeDirs []string) (text, named string) {
	var names []string
	for _, file := range f.listOrOne() {
		name := file.text()
		if name == "" {
			return "", ""
		}
		f.sourcePath = f.beside(f.path, name)
		if _, err := f.read(f.sourcePath); err != nil {
			file.fail(f.explain(f.sourcePath, err))
			return "", ""
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		f.failf("the list has no file")
		return "", ""
	}
	if len(names) > 1 { // as if a file included them one after the other
		return f.resolveText("#include \""+strings.Join(each.Of(names, filepath.ToSlash), "\"\n#include \"")+"\"\n", includeDirs)
	}
	text, err := source.ResolveIncludes(f.readBeside, names[0], includeDirs)
	if err != nil {
		f.fail(err)
	} else if strings.TrimSpace(text) == "" {
		f.failf("%s is empty", f.sourcePath)
	}
	return text, filepath.ToSlash(names[0])
}

func (d *document) readBeside(name string) ([]byte, error) { return d.read(d.beside(d.path, name)) }

// resolveText resolves the includes of a text in the place of the field, and returns its name. Messages of the compiler count lines from
// its first.
func (f field) resolveText(content string, includeDirs []string) (text, named string) {
	own := filepath.Base(f.path) + ":" + f.name
	read := func(name string) ([]byte, error) {
		if name == own {
			return []byte(content), nil
		}
		return f.readBeside(name)
	}
	text, err := source.ResolveIncludes(read, own, includeDirs)
	if err != nil {
		f.fail(err)
	}
	return text, own
}

// An option is an option for the compiler, with the field that holds it.
type option struct {
	text string
	from field
}

// buildOptions reads the options for the compiler: a list of options, or a text with several,
// separated by spaces. Folders of -I are relative to the specification. The compiler gets absolute
// paths, since it may run elsewhere; dirs holds the folders as written.
func (f field) buildOptions() (options, dirs []string) {
	given := f.givenOptions()
	for i := 0; i < len(given); i++ {
		dir, ok := strings.CutPrefix(given[i].text, "-I")
		if !ok {
			options = append(options, given[i].text)
			continue
		}
		from := given[i].from
		if dir = strings.Trim(strings.TrimSpace(dir), `"`); dir == "" && i+1 < len(given) {
			i++
			dir = given[i].text
		}
		if err := f.checkFolder(dir); err != nil {
			from.fail(err)
			continue
		}
		dirs = append(dirs, dir)
		if f.onDisk() { // the compiler cannot read others
			path := f.beside(f.path, dir)
			if absolute, err := filepath.Abs(path); err == nil {
				path = absolute
			}
			options = append(options, "-I"+path)
		}
	}
	return options, dirs
}

func (f field) givenOptions() (options []option) {
	if f.node.Kind != yaml.SequenceNode {
		return each.Of(strings.Fields(f.text()), func(text string) option { return option{text, f} })
	}
	for _, item := range f.items() {
		if text := strings.TrimSpace(item.text()); text != "" {
			options = append(options, option{text, item})
		}
	}
	return options
}

func (d *document) checkFolder(name string) error {
	if name == "" {
		return errors.New("-I names no folder")
	}
	path := d.beside(d.path, name)
	info, err := d.stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("-I: there is no folder %s", path)
	case !info.IsDir():
		return fmt.Errorf("-I: %s is a file, not a folder", path)
	}
	return nil
}
