package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/nearest"
)

// completionFlag is the last flag of the command lines of the shells' completion scripts.
const completionFlag = "--generate-bash-completion"

// flagsFirst moves the flags of a command line before its arguments, because urfave/cli/v2 stops
// reading flags at the first argument. Everything after «--» is an argument. With --help, the
// arguments of a command are removed, because urfave/cli would read them as topics. «help tune»
// becomes «tune --help»: the help command of urfave/cli supports neither subcommands nor wrong names.
//
// Options of compilers that are pasted from a build become flags: -cl-std=CL3.0, and -DNAME=VALUE and -IFOLDER without a space.
//
// A flag with two names gets the name of its first use, because urfave/cli refuses -p beside
// --parameter.
func flagsFirst(app *cli.App, args []string) []string {
	if len(args) < 2 || args[len(args)-1] == completionFlag {
		return args
	}
	if len(args) > 2 && (args[1] == "help" || args[1] == "h") {
		args = append(append(args[:1:1], args[2:]...), "--help")
	}
	command, words := commandOf(app, args)
	path := slices.Clone(args[:words])
	spelling := map[cli.Flag]string{}
	var given, arguments []string
	help := false
	for rest := args[words:]; len(rest) > 0; {
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
		if flags.Named(command.Flags, "build-option") != nil {
			switch {
			case strings.HasPrefix(arg, "-cl-"):
				given = append(given, "--build-option", arg)
				continue
			case len(arg) > 2 && (arg[:2] == "-D" || arg[:2] == "-I"):
				arg, rest = arg[:2], append([]string{arg[2:]}, rest...)
			}
		}
		written, value, assigned := strings.Cut(arg, "=")
		f := flags.Named(command.Flags, strings.TrimLeft(written, "-"))
		if f != nil {
			written = cmp.Or(spelling[f], written)
			spelling[f] = written
		}
		help = help || arg == "--help" || arg == "-h"
		if assigned {
			given = append(given, written+"="+value)
			continue
		}
		given = append(given, written)
		if described, ok := f.(cli.DocGenerationFlag); !ok || !described.TakesValue() {
			continue
		}
		if len(rest) == 0 {
			return append(path, given...) // a «--» would be taken for the missing value
		}
		given, rest = append(given, rest[0]), rest[1:]
	}
	switch {
	case help && len(command.Subcommands) == 0:
		return append(path, "--help")
	case help && len(arguments) > 0 && command.Command(arguments[0]) != nil:
		return flagsFirst(app, slices.Concat(path, arguments[:1], []string{"--help"}, arguments[1:]))
	case help && len(arguments) > 0:
		given = nil // the argument is no command: the program reports it
	}
	path = append(path, given...)
	if len(arguments) > 0 {
		path = append(append(path, "--"), arguments...)
	}
	return path
}

// commandOf returns the command that a command line names, the program itself at least, and the
// number of words that name it.
func commandOf(app *cli.App, args []string) (command *cli.Command, words int) {
	command = &cli.Command{Flags: app.Flags, Subcommands: app.Commands}
	for words = 1; words < len(args); words++ {
		sub := command.Command(args[words])
		if sub == nil {
			break
		}
		command = sub
	}
	return command, words
}

func onUsageError(c *cli.Context, err error, _ bool) error {
	return ui.Wrong("%s (see %s --help)", flagFault(err.Error(), c.Command.Flags), c.Command.HelpName)
}

// flagFault rewords an error of the flag package as a message of this program.
func flagFault(text string, of []cli.Flag) string {
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		hint := ""
		if name = flags.Dashed(name); len(name) > len("-x") {
			var names []string
			for _, f := range of {
				names = append(names, f.Names()...)
			}
			hint = nearest.Hint(name, strings.Split(ui.Join(" ", flags.Dashed, names...), " "))
		}
		return "there is no flag " + name + hint
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return flags.Dashed(name) + " needs a value"
	}
	if found := invalidValue.FindStringSubmatch(text); found != nil {
		if want := wantedValue(of, found[2]); want != "" {
			return fmt.Sprintf("%s %s: want %s", flags.Dashed(found[2]), found[1], want)
		}
	}
	return text
}

var invalidValue = regexp.MustCompile(`^invalid (?:boolean )?value "(.*)" for (?:flag )?-([^ :]+): `)

// wantedValue describes the values that a flag takes; "" if it takes any text.
func wantedValue(of []cli.Flag, name string) string {
	switch flags.Named(of, name).(type) {
	case *cli.DurationFlag:
		return "a duration, such as 90s or 10m"
	case *cli.IntFlag:
		return "a whole number"
	case flags.RetryFlag:
		return "no value, or statuses with commas between them, of " + flags.FailureNames()
	case *cli.Uint64Flag:
		return "a whole number that is not negative"
	case *cli.Float64Flag:
		return "a number"
	case *cli.BoolFlag:
		return "true, false or no value"
	}
	return ""
}
