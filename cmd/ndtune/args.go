package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// completionFlag is what a shell's completion script appends; it must stay the last.
const completionFlag = "--generate-bash-completion"

// flagsFirst moves the flags of a command line before its arguments, so that both can be
// mixed: the flag package, on which urfave/cli/v2 stands, stops reading flags at the first
// argument. What follows «--» is arguments. A flag with two names gets the one that it was
// given first, wherever it stands.
func flagsFirst(app *cli.App, args []string) []string {
	if len(args) < 2 || args[len(args)-1] == completionFlag {
		return args
	}
	ordered := []string{args[0]}
	rest := args[1:]
	flags, commands := app.Flags, app.Commands
	for len(rest) > 0 {
		command := commandNamed(commands, rest[0])
		if command == nil {
			break
		}
		ordered = append(ordered, rest[0])
		rest, flags, commands = rest[1:], command.Flags, command.Subcommands
	}
	takesValue := map[string]bool{}
	primary := map[string]string{} // of each name of a flag, its first one
	for _, f := range flags {
		if v, ok := f.(cli.DocGenerationFlag); ok {
			for _, name := range f.Names() {
				takesValue[name], primary[name] = v.TakesValue(), f.Names()[0]
			}
		}
	}
	used := map[string]string{} // how each flag was written first
	path, helped := len(ordered), false
	var arguments []string
	for len(rest) > 0 {
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
		written, value, assigned := strings.Cut(arg, "=")
		name := strings.TrimLeft(written, "-")
		helped = helped || name == "help" || name == "h"
		if first, ok := used[primary[name]]; ok {
			written = first // urfave/cli refuses -p beside --parameter
		} else if primary[name] != "" {
			used[primary[name]] = written
		}
		if assigned {
			ordered = append(ordered, written+"="+value)
			continue
		}
		ordered = append(ordered, written)
		if takesValue[name] {
			if len(rest) == 0 {
				return ordered // the parser says that the value is missing; «--» must not be taken for it
			}
			ordered = append(ordered, rest[0])
			rest = rest[1:]
		}
	}
	if helped && len(commands) == 0 {
		return append(ordered[:path], "--help") // beside an argument, urfave/cli takes that for a topic
	}
	if helped && len(arguments) > 0 {
		ordered = ordered[:path] // no such command, which is to be said
	}
	if len(arguments) > 0 {
		ordered = append(append(ordered, "--"), arguments...)
	}
	return ordered
}

func commandNamed(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}
