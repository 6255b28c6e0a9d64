package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// completionFlag is what a shell's completion script appends; it must stay the last.
const completionFlag = "--generate-bash-completion"

// flagsFirst moves the flags of a command line before its arguments, so that both can be
// mixed: the flag package, on which urfave/cli/v2 stands, stops reading flags at the first
// argument. What follows «--» is arguments.
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
	for _, f := range flags {
		if v, ok := f.(cli.DocGenerationFlag); ok {
			for _, name := range f.Names() {
				takesValue[name] = v.TakesValue()
			}
		}
	}
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
		ordered = append(ordered, arg)
		name := strings.TrimLeft(arg, "-")
		if !strings.Contains(name, "=") && takesValue[name] {
			if len(rest) == 0 {
				return ordered // the parser says that the value is missing; «--» must not be taken for it
			}
			ordered = append(ordered, rest[0])
			rest = rest[1:]
		}
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
