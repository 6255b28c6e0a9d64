// Package scaffold makes the first specification of a kernel. An [Untuned] is its source, with the arguments that a compiler tells. A
// [Proposal] is its specification, with comments that begin with DECIDE where only the user knows a value. A [Compiler] builds sources in
// other processes.
package scaffold

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ndtune/ndtune/internal/files"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/source"
)

// Options say how the program that a kernel is part of builds the source.
type Options struct {
	Sources  []string // the paths of the source, one after the other
	Defines  []string // macros: NAME=VALUE, NAME or NAME(x)=VALUE
	Includes []string // folders of included files
	Build    []string // other options of the compiler
}

// An Untuned is a kernel for which a specification is proposed.
type Untuned struct {
	Sources []string // the paths of its source, one after the other
	Text    string   // the source, with its includes
	Options []string // of the compiler
	Defines []string // #define directives of the user before the source: macros with arguments. The Text begins with them
	Kernel  device.Signature
	Given   []source.Macro // macros without arguments that the user defines
	Missing []source.Macro // macros that the source needs and nobody defines
}

// Language returns the language of the source.
func (u *Untuned) Language() source.Language {
	language, _ := source.LanguageOf(u.Sources[len(u.Sources)-1], u.Text)
	return language
}

// Read reads the source and the macros.
func Read(o Options) (*Untuned, error) {
	u := &Untuned{Sources: o.Sources}
	for _, folder := range o.Includes {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("-I: there is no folder %s", folder)
		}
		absolute, err := filepath.Abs(folder)
		if err != nil {
			return nil, err
		}
		u.Options = append(u.Options, "-I"+absolute)
	}
	for _, text := range o.Defines {
		name, value, assigned := strings.Cut(text, "=")
		if !assigned {
			value = "1"
		}
		switch {
		case macroCall.MatchString(name):
			u.Defines = append(u.Defines, fmt.Sprintf("#define %s %s", name, value))
			continue
		case !macroName.MatchString(name):
			return nil, fmt.Errorf("-D %s: want NAME=VALUE", text)
		}
		u.Given = append(u.Given, source.Macro{Name: name, Text: value, Guarded: true})
	}
	u.Options = append(u.Options, o.Build...)
	if len(u.Defines) > 0 {
		u.Text = strings.Join(u.Defines, "\n") + "\n"
	}
	for _, path := range o.Sources {
		text, err := source.ResolveIncludes(files.ReadFile, path, o.Includes)
		if err != nil {
			return nil, err
		}
		if source.IsSPIRV(text) {
			return nil, fmt.Errorf("%s is a SPIR-V module, which does not describe its arguments; write the specification by hand", path)
		}
		u.Text += fmt.Sprintf("#line 1 \"%s\"\n%s\n", filepath.ToSlash(path), text)
	}
	if _, err := source.LanguageOf(o.Sources[len(o.Sources)-1], u.Text); err != nil {
		return nil, err
	}
	for _, m := range source.Tested(u.Text, u.Given) {
		if m.Text == "" {
			m = u.missingMacro(m.Name, false)
		}
		u.Missing = append(u.Missing, m)
	}
	return u, nil
}

var (
	macroName = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	macroCall = regexp.MustCompile(`^[A-Za-z_]\w*\([\w\s,.]*\)$`)
)
