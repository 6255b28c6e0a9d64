package main

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/internal/nearest"
)

func newApp() *cli.App {
	app := &cli.App{
		Name:  "ndtune",
		Usage: "tune OpenCL kernels on any OpenCL device",
		Description: `ndtune builds the variants of an OpenCL kernel that its tunable #defines span, checks
their output, times them with profiling events and says which is fastest.

   ndtune devices                               what there is to tune on
   ndtune diffusion tune --kernel tiled         the bundled tutorial kernel
   ndtune tune my_kernel.yaml -o results.csv    a kernel of your own

Exit status: 0 done, 1 nothing correct was found or the run could not go on, 2 the
command line or the specification is wrong, 130 interrupted.`,
		Version:                   versionText(),
		Commands:                  []*cli.Command{devicesCommand(), tuneCommand(), runCommand(), spaceCommand(), strategiesCommand(), simulateCommand(), compareCommand(), convertCommand(), reportCommand(), diffusionCommand(), matmulCommand(), completionCommand()},
		EnableBashCompletion:      true,
		DisableSliceFlagSeparator: true,
		OnUsageError:              onUsageError,
		ExitErrHandler:            func(*cli.Context, error) {},
		Action:                    needCommand,
	}
	setUsageErrors(app.Commands)
	return app
}

// setUsageErrors makes every wrong flag a usageError, and hides the help commands that
// urfave/cli would add to each command. It adds the help flag, which urfave/cli adds too late
// for the help text of a command with categories.
func setUsageErrors(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError = onUsageError
		c.HideHelpCommand = true
		c.Flags = append(c.Flags, cli.HelpFlag)
		if c.Action == nil {
			c.Action = needCommand
		}
		setUsageErrors(c.Subcommands)
	}
}

func onUsageError(c *cli.Context, err error, _ bool) error {
	return &usageError{fmt.Errorf("%s (see %s --help)", flagFault(err.Error(), c.Command.Flags), c.Command.HelpName)}
}

// flagFault says in the words of this program what the flag package has found wrong.
func flagFault(text string, flags []cli.Flag) string {
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		if name = dashed(name); len(name) == len("-x") {
			return "there is no flag " + name
		}
		return "there is no flag " + name + nearest.Hint(name, flagNames(flags))
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return dashed(name) + " needs a value"
	}
	if found := invalidValue.FindStringSubmatch(text); found != nil {
		if want := wantedValue(flags, found[2]); want != "" {
			return fmt.Sprintf("%s %s: want %s", dashed(found[2]), found[1], want)
		}
	}
	return text
}

var invalidValue = regexp.MustCompile(`^invalid (?:boolean )?value "(.*)" for (?:flag )?-([^ :]+): `)

// wantedValue says what a flag takes, or nothing where any text will do.
func wantedValue(flags []cli.Flag, name string) string {
	for _, f := range flags {
		if !slices.Contains(f.Names(), name) {
			continue
		}
		switch f.(type) {
		case *cli.DurationFlag:
			return "a duration, such as 90s or 10m"
		case *cli.IntFlag:
			return "a whole number"
		case retryFlag:
			return "no value, or statuses with commas between them, of " + strings.Join(failureNames(), ", ")
		case *cli.Uint64Flag:
			return "a whole number that is not negative"
		case *cli.Float64Flag:
			return "a number"
		case *cli.BoolFlag:
			return "true, false or no value"
		}
	}
	return ""
}

func flagNames(flags []cli.Flag) []string {
	var names []string
	for _, f := range flags {
		for _, name := range f.Names() {
			names = append(names, dashed(name))
		}
	}
	return names
}

// dashed is a flag as users write it.
func dashed(name string) string {
	if name = strings.TrimLeft(name, "-"); len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// needCommand is what a command does that has only subcommands: without an argument it
// shows its help, with one it says which there are.
func needCommand(c *cli.Context) error {
	commands := c.App.Commands
	if c.Command != nil && len(c.Command.Subcommands) > 0 {
		commands = c.Command.Subcommands
	}
	if c.Args().Len() == 0 {
		if c.Command != nil && c.Command.Name != "" && c.Command.Name != c.App.Name {
			return cli.ShowSubcommandHelp(c)
		}
		return cli.ShowAppHelp(c)
	}
	var names []string
	for _, sub := range commands {
		names = append(names, sub.Name)
	}
	name := c.Args().First()
	return &usageError{fmt.Errorf("there is no command %q%s (commands: %s; see %s --help)", name, nearest.Hint(name, names), strings.Join(names, ", "), c.Command.HelpName)}
}

// versionText is the version with what the program was built with and for.
func versionText() string {
	v := version
	if v == "" {
		v = "devel"
		if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
			v = info.Main.Version
		}
	}
	return fmt.Sprintf("%s (%s, %s/%s)", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
