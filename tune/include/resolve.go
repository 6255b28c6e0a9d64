package include

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Resolve puts the files that a source includes with #include "…" in place of the
// directives, so that one text holds all. A name is looked for beside the including file,
// then in each of dirs. #line directives keep files and lines for the messages of the
// compiler. A name that is not found is left to the compiler, as is #include <…>; a source
// without anything to put in place comes back as it is.
//
// Conditions are left to the compiler too: what stands under #if 0 is put in place like
// all else. That needs care in two places. A file with #pragma once gets a guard instead,
// since the first of its inclusions may be one that the compiler skips. And a file that
// includes itself must have a guard around all of it or #pragma once; it is an error
// without.
func Resolve(read func(path string) ([]byte, error), file string, dirs []string) (string, error) {
	text, err := read(file)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
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

// The resolved text is bounded: files that include others twice double with every level.
const (
	maxSource     = 16 << 20
	maxInclusions = 10000
)

type includer struct {
	read       func(path string) ([]byte, error)
	dirs       []string
	stack      []openFile     // from the source to the file that is being put in place
	guards     map[string]int // numbers of the guards that stand for #pragma once
	out        strings.Builder
	inclusions int
}

type openFile struct {
	path string
	once bool // a second inclusion inside of the first is empty
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
	done := 0 // what stands before is written
	// depth counts the conditions that are open; moved says that in one of them something
	// was put in place, so that its lines are counted wrongly where the compiler skips it.
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
			x.out.WriteString(strings.Repeat("\n", d.endLine-d.line)) // keeps the lines
			done = d.end
		default:
			ok, err := x.include(path, d, text[done:d.start])
			if err != nil {
				return fmt.Errorf("%s:%d: %w", path, d.line, err)
			}
			if ok { // the rest of the line, a comment perhaps, keeps its number
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

// include writes the text before a directive, and in place of the directive the file that
// it includes, on lines of its own. It does nothing and returns false for any other
// directive and for a file that is not found.
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

func through(files []openFile) string {
	text := ""
	for _, f := range files {
		text += " through " + f.path
	}
	return text
}

// endLine ends the last line of what was written, where it is not ended yet or is continued.
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

// find is the path and the content of an included file; no path where there is none.
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
