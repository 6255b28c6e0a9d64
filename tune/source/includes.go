// Package source reads the text of OpenCL C sources: it replaces #include "…" directives by the files that they name, removes macros
// that are defined again, and says where a name is used and which condition defines it. A [Function] is a kernel: its arguments, and what
// it does with them and with its place in the NDRange. A [Macro] is a definition of the source, a [Struct] a type.
//
// A text with its includes is complete: it can be digested and sent to another process. The package knows comments, literals and
// preprocessor directives, but not the grammar of the language: what it says of functions and types is a guess from their words.
package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// ResolveIncludes returns the source in file with each #include "…" replaced by the included file.
// It looks for a name in the folder of the including file, then in each of dirs. It adds
// #line directives, so that the compiler's messages name the original files and lines. Names
// that are not found are left to the compiler, as is #include <…>. A source without
// replacements is returned unchanged.
//
// ResolveIncludes evaluates no conditions: it replaces an #include under #if 0 like any other. Hence
// it turns #pragma once into an include guard, because the compiler may skip the first
// inclusion of a file. A file that includes itself must have #pragma once or an include guard
// around all of its text; otherwise it is an error. So are a failed read, other than of a
// file that does not exist, and a result of more than 16 MiB or 10,000 inclusions. A SPIR-V module is
// returned as it is; it is an error to include one. Of a C++ file it reads the raw strings alone.
func ResolveIncludes(readFile func(path string) ([]byte, error), file string, dirs []string) (string, error) {
	read := func(path string) ([]byte, error) {
		content, err := readFile(path)
		if language, _ := LanguageOf(path, string(content)); language == CUDA {
			return bytes.TrimPrefix(content, []byte("\ufeff")), err // which is C++ itself; NVRTC takes a mark of the byte order nowhere
		}
		return []byte(rawStrings(string(content))), err
	}
	text, err := read(file)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	if IsSPIRV(string(text)) {
		return string(text), nil
	}
	x := &includer{read: read, dirs: dirs, guards: map[string]int{}}
	if err := x.expand(file, string(text)); err != nil {
		return "", err
	}
	if x.inclusions == 0 {
		return string(text), nil
	}
	return x.out.String(), nil
}

// rawStrings returns the contents of the raw strings of a C++ source, R"(…)" or R"name(…)name", on their lines. OpenCL C has
// none: another source stays as it is.
func rawStrings(text string) string {
	s := newScanner(text)
	var out strings.Builder
	line := 1 // of the end of out
	for strings.Contains(text, `R"`) && s.pos < len(text) {
		if s.skipBlank() {
			continue
		}
		word := s.word()
		if word == "" {
			s.token()
		}
		if _, quoted, isRaw := strings.Cut(word, `"`); isRaw {
			name, content, _ := strings.Cut(quoted, "(")
			first := s.line - strings.Count(word, "\n")
			out.WriteString(strings.Repeat("\n", first-line) + content[:len(content)-len(name)-len(`)"`)])
			line = s.line
		}
	}
	if out.Len() == 0 {
		return text
	}
	return out.String()
}

// Limits of the resolved text, in bytes and inclusions: files that include two others each
// double it with every level.
const (
	maxSource     = 16 << 20
	maxInclusions = 10000
)

type includer struct {
	read       func(path string) ([]byte, error)
	dirs       []string
	stack      []openFile     // from the source to the file being expanded
	guards     map[string]int // by path: numbers of the guards that replace #pragma once
	out        strings.Builder
	inclusions int
}

type openFile struct {
	path string
	once bool // an inclusion of the file inside itself is empty
}

func (x *includer) expand(path, text string) error {
	s := scanDirectives(text)
	once := slices.ContainsFunc(s.directives, directive.isOnce)
	x.stack = append(x.stack, openFile{path, once || s.guarded()})
	defer func() { x.stack = x.stack[:len(x.stack)-1] }()

	included := len(x.stack) > 1
	if once && included {
		number, ok := x.guards[path]
		if !ok {
			number = len(x.guards) + 1
			x.guards[path] = number
		}
		fmt.Fprintf(&x.out, "#ifndef NDTUNE_ONCE_%d\n#define NDTUNE_ONCE_%d\n", number, number)
		defer x.out.WriteString("#endif\n")
	}
	x.lineDirective(1, path)
	done := 0 // offset up to which the text is written
	// depth counts the open conditions; moved tells that an inclusion in one of them was
	// replaced, so that the line count is wrong if the compiler skips it.
	depth, moved := 0, false
	for _, d := range s.directives {
		switch {
		case strings.HasPrefix(d.name, "if"):
			depth++
		case d.name == "endif" || strings.HasPrefix(d.name, "el"):
			if d.name == "endif" {
				depth--
			}
			if moved && d.next < len(text) {
				x.out.WriteString(text[done:d.next])
				x.lineDirective(d.nextLine, path)
				done, moved = d.next, depth > 0
			}
		case included && d.isOnce():
			x.out.WriteString(text[done:d.start])
			x.out.WriteString(strings.Repeat("\n", d.endLine-d.line)) // keeps the line count
			done = d.end
		default:
			ok, err := x.include(path, d, text[done:d.start])
			if err != nil {
				return fmt.Errorf("%s:%d: %w", path, d.line, err)
			}
			if ok { // the rest of the line may be a comment and keeps its number
				x.lineDirective(d.endLine, path)
				done, moved = d.end, depth > 0
			}
		}
	}
	x.out.WriteString(text[done:])
	x.endLine(text)
	if x.out.Len() > maxSource || x.inclusions > maxInclusions {
		return fmt.Errorf("with its includes in place the source is too large: %d inclusions, %d bytes", x.inclusions, x.out.Len())
	}
	return nil
}

// include writes the text before an #include "…" directive and then the included file, on
// lines of its own. For any other directive, and if the file is not found, it does nothing
// and returns false.
func (x *includer) include(from string, d directive, before string) (bool, error) {
	name, ok := d.includedFile()
	if !ok {
		return false, nil
	}
	path, content, err := x.find(from, name)
	if err != nil {
		return false, fmt.Errorf("include %q: %w", name, err)
	}
	if path == "" {
		return false, nil
	}
	if IsSPIRV(string(content)) {
		return false, fmt.Errorf("include %q: it is a SPIR-V module, which is a whole source by itself", name)
	}
	x.inclusions++
	x.out.WriteString(before)
	x.endLine(x.out.String())
	for i, open := range x.stack {
		if filepath.Clean(open.path) != path {
			continue
		}
		if open.once {
			return true, nil
		}
		return false, fmt.Errorf("%s includes itself%s; give it an include guard or #pragma once", path, through(x.stack[i+1:]))
	}
	return true, x.expand(path, string(content))
}

// through returns the text that names the files on the way of an inclusion.
func through(files []openFile) string {
	text := ""
	for _, f := range files {
		text += " through " + f.path
	}
	return text
}

// endLine ends the last line of text, which has been written, if it is not ended or is
// continued.
func (x *includer) endLine(text string) {
	switch {
	case text == "":
	case strings.HasSuffix(text, "\\\n"), strings.HasSuffix(text, "\\\r\n"):
		x.out.WriteByte('\n')
	case strings.HasSuffix(text, "\\"):
		x.out.WriteString("\n\n")
	case !strings.HasSuffix(text, "\n"):
		x.out.WriteByte('\n')
	}
}

func (x *includer) lineDirective(line int, path string) {
	name := strings.NewReplacer(`\`, `/`, `"`, `\"`, "\n", " ").Replace(filepath.ToSlash(path))
	fmt.Fprintf(&x.out, "#line %d \"%s\"\n", line, name)
}

// find returns the path and the content of an included file, or an empty path if no such
// file exists.
func (x *includer) find(from, name string) (string, []byte, error) {
	dirs := append([]string{filepath.Dir(from)}, x.dirs...)
	if filepath.IsAbs(name) {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, filepath.FromSlash(name))
		content, err := x.read(path)
		if err == nil {
			return path, content, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	return "", nil, nil
}

// spirvMagic is the first word of a SPIR-V module, in the byte order of the module.
const spirvMagic = 0x07230203

// IsSPIRV reports whether the content of a source is a SPIR-V module, by its first word.
func IsSPIRV(text string) bool {
	if len(text) < 4 {
		return false
	}
	word := []byte(text[:4])
	return binary.LittleEndian.Uint32(word) == spirvMagic || binary.BigEndian.Uint32(word) == spirvMagic
}
