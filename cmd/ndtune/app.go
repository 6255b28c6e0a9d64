package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
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
		Commands:                  []*cli.Command{devicesCommand(), tuneCommand(), runCommand(), spaceCommand(), diffusionCommand(), completionCommand()},
		EnableBashCompletion:      true,
		DisableSliceFlagSeparator: true,
		HideHelpCommand:           true,
		OnUsageError:              onUsageError,
		ExitErrHandler:            func(*cli.Context, error) {},
		Action:                    needCommand,
	}
	setUsageErrors(app.Commands)
	return app
}

// setUsageErrors makes every wrong flag a usageError, and hides the help commands that
// urfave/cli would add to each command.
func setUsageErrors(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError = onUsageError
		c.HideHelpCommand = true
		if c.Action == nil {
			c.Action = needCommand
		}
		setUsageErrors(c.Subcommands)
	}
}

func onUsageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		text = "there is no flag --" + strings.TrimLeft(name, "-") + nearest.Hint(strings.TrimLeft(name, "-"), flagNames(c))
	}
	return &usageError{fmt.Errorf("%s (see %s --help)", text, c.Command.HelpName)}
}

func flagNames(c *cli.Context) []string {
	var names []string
	for _, f := range c.Command.Flags {
		names = append(names, f.Names()...)
	}
	return names
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
	return &usageError{fmt.Errorf("there is no command %q%s (there are %s)", name, nearest.Hint(name, names), strings.Join(names, ", "))}
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
