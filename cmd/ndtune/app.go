package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/commands"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/tutorials"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/internal/each"
	"github.com/ndtune/ndtune/internal/nearest"
)

func newApp() *cli.App {
	app := &cli.App{
		Name:  "ndtune",
		Usage: "tune kernels in OpenCL C on any OpenCL device, and in CUDA C",
		Description: `ndtune builds the variants of a kernel in OpenCL C or CUDA C, one for each combination of its
tunable #defines, verifies their output, times them with profiling events and names the fastest.

   ndtune devices                               the devices of this machine
   ndtune diffusion tune --kernel tiled         the bundled tutorial kernel
   ndtune init kernel.cl                        a first specification for a kernel of your own (kernel.cu: in CUDA C)
   ndtune tune my_kernel.yaml -o results.csv    a search

Exit status: 0 done, and a search has found a best configuration; 1 no configuration is
correct, or the kernel has faults; 2 the command line, the specification or another input is
wrong; 3 the command could not go on; 130 a signal interrupted it.`,
		Version: ui.VersionText(),
		Commands: slices.Concat(commands.All(), tutorials.All(), []*cli.Command{
			completionCommand(printCompletion),
			commandsCommand(runCommands),
			versionCommand(printVersion),
		}),
		EnableBashCompletion:      true,
		DisableSliceFlagSeparator: true,
		OnUsageError:              onUsageError,
		ExitErrHandler:            func(*cli.Context, error) {},
		Action:                    needCommand,
		Before:                    sayAbandoned,
	}
	setUsageErrors(app.Commands)
	completeValues(app.Commands, "")
	return app
}

// setUsageErrors makes every wrong flag a usageError, checks the flags before the action of a command, and hides the help commands that
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
		action := c.Action
		c.Action = func(ctx *cli.Context) error {
			if err := checkFlags(ctx); err != nil {
				return err
			}
			return action(ctx)
		}
		setUsageErrors(c.Subcommands)
	}
}

// needCommand is the action of a command that has only subcommands. Without an argument it shows the
// help; an argument is the name of a command that does not exist.
func needCommand(c *cli.Context) error {
	switch {
	case c.Args().Len() == 0 && c.Command.Name == c.App.Name:
		return cli.ShowAppHelp(c)
	case c.Args().Len() == 0:
		return cli.ShowSubcommandHelp(c)
	}
	names := each.Of(c.Command.Subcommands, func(sub *cli.Command) string { return sub.Name })
	name := c.Args().First()
	return ui.Wrong("there is no command %q%s (commands: %s; see %s --help)",
		name, nearest.Hint(name, names), strings.Join(names, ", "), c.Command.HelpName)
}

func init() {
	cli.FlagStringer = flagHelp
}

// flagHelp returns the line of a flag in a help text: its names, its value once, its usage, and its
// default unless that is zero or empty.
func flagHelp(f cli.Flag) string {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	usage, value := d.GetUsage(), "N"
	if parts := strings.SplitN(usage, "`", 3); len(parts) == 3 {
		value, usage = parts[1], strings.Join(parts, "")
	}
	names := slices.Clone(f.Names())
	slices.SortStableFunc(names, func(a, b string) int { return min(len(a), 2) - min(len(b), 2) }) // single letters first
	text := ui.Join(", ", flags.Dashed, names...)
	if d.TakesValue() {
		text += " " + value
		if def := d.GetDefaultText(); def != "" && def != "0" && def != "0s" && def != `""` {
			usage += fmt.Sprintf(" (default: %s)", strings.Trim(def, `"`))
		}
	}
	return text + "\t" + usage
}
