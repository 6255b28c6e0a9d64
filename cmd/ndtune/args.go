package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// completionFlag is what a shell's completion script appends; it must stay the last.
const completionFlag = "--generate-bash-completion"

// flagsFirst moves the flags of a command line before its arguments, so that both can be
// mixed: the flag package, on which urfave/cli/v2 stands, stops reading flags at the first
// argument. What follows «--» is arguments. With --help nothing else counts, since
// urfave/cli takes an argument beside it for a topic. «help tune» is read as «tune --help»:
// urfave/cli knows no help of subcommands, and no wrong name.
func flagsFirst(app *cli.App, args []string) []string {
	if len(args) < 2 || args[len(args)-1] == completionFlag {
		return args
	}
	if len(args) > 2 && (args[1] == "help" || args[1] == "h") {
		args = append(append(args[:1:1], args[2:]...), "--help")
	}
	path, flags, commands := pathOf(app, args)
	forms := formsOf(flags)
	var given, arguments []string
	help := false
	for rest := args[len(path):]; len(rest) > 0; {
		arg := rest[0]
		rest = rest[1:]
		if arg == "--" {
			arguments = append(arguments, rest...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			arguments = append(arguments, arg)
			continue
		}
		arg, needsValue := forms.read(arg)
		help = help || arg == "--help" || arg == "-h"
		given = append(given, arg)
		if needsValue && len(rest) == 0 {
			return append(path, given...) // without «--», which would be the value that is missing
		}
		if needsValue {
			given = append(given, rest[0])
			rest = rest[1:]
		}
	}
	switch {
	case help && len(commands) == 0:
		return append(path, "--help")
	case help && len(arguments) > 0:
		given = nil // there is no such command, which is to be said
	}
	path = append(path, given...)
	if len(arguments) > 0 {
		path = append(append(path, "--"), arguments...)
	}
	return path
}

// pathOf is the program and the command of a command line, with the command's flags and
// subcommands.
func pathOf(app *cli.App, args []string) (path []string, flags []cli.Flag, commands []*cli.Command) {
	flags, commands = app.Flags, app.Commands
	for n := 1; ; n++ {
		var command *cli.Command
		if n < len(args) {
			command = commandNamed(commands, args[n])
		}
		if command == nil {
			return slices.Clone(args[:n]), flags, commands
		}
		flags, commands = command.Flags, command.Subcommands
	}
}

func commandNamed(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// flagForms are the ways in which the flags of a command can be written. Of a flag with two
// names it knows the one that was used first, since urfave/cli refuses -p beside --parameter.
type flagForms struct {
	takesValue map[string]bool
	primary    map[string]string // of each name of a flag, its first one
	used       map[string]string // how a flag, by its first name, was written first
}

func formsOf(flags []cli.Flag) flagForms {
	forms := flagForms{map[string]bool{}, map[string]string{}, map[string]string{}}
	for _, f := range flags {
		if v, ok := f.(cli.DocGenerationFlag); ok {
			for _, name := range f.Names() {
				forms.takesValue[name], forms.primary[name] = v.TakesValue(), f.Names()[0]
			}
		}
	}
	return forms
}

// read takes a flag as it is written. It returns how it was written first, and whether its
// value is the next argument.
func (forms flagForms) read(arg string) (string, bool) {
	written, value, assigned := strings.Cut(arg, "=")
	name := strings.TrimLeft(written, "-")
	if primary, known := forms.primary[name]; known {
		if first, again := forms.used[primary]; again {
			written = first
		} else {
			forms.used[primary] = written
		}
	}
	if assigned {
		return written + "=" + value, false
	}
	return written, forms.takesValue[name]
}
