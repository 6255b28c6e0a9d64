package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/flags"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/job"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/tutorials"
	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
	"github.com/ndtune/ndtune/matmul"
	"github.com/ndtune/ndtune/tune/device"
	"github.com/ndtune/ndtune/tune/record"
	"github.com/ndtune/ndtune/tune/search"
)

// The completion scripts ask the program itself for the possible words, through a flag of urfave/cli. If there are none, the shell
// completes file names. For the word «--», which would end the flags, the scripts ask with «-». They pass the word even if it is
// empty, because after a flag it is the value of that flag.
//
//go:embed completion
var completionScripts embed.FS

type completionOptions struct {
	script func() (string, error)
}

func completionCommand(run flags.Runner[completionOptions]) *cli.Command {
	o := &completionOptions{}
	return &cli.Command{
		Name:         "completion",
		Usage:        "print a completion script for a shell",
		ArgsUsage:    "bash|zsh|fish|powershell",
		BashComplete: func(c *cli.Context) { fmt.Fprintln(c.App.Writer, "bash\nzsh\nfish\npowershell") },
		Description: `Prints a script that completes commands and flags.

   source <(ndtune completion bash)
   ndtune completion zsh > "${fpath[1]}/_ndtune"
   ndtune completion fish > ~/.config/fish/completions/ndtune.fish
   ndtune completion powershell >> $PROFILE`,
		Action: flags.Action(o, run),
	}
}

func (o *completionOptions) Read(c *cli.Context) error {
	shell := strings.ToLower(c.Args().First())
	script, err := completionScripts.ReadFile("completion/" + shell)
	switch {
	case c.NArg() == 1 && shell == "fish": // that urfave/cli makes
		o.script = c.App.ToFishCompletion
	case c.NArg() == 1 && err == nil:
		o.script = func() (string, error) { return string(script), nil }
	default:
		return ui.Wrong("name one shell: bash, zsh, fish or powershell")
	}
	return nil
}

func printCompletion(_ context.Context, t *ui.Console, o *completionOptions) error {
	script, err := o.script()
	fmt.Fprint(t.Out, strings.ReplaceAll(script, "`", "")) // which mark values in the help texts of fish
	return err
}

// completeValues makes each command complete the values of its flags: the word before the one to complete is a flag
// that takes a value.
func completeValues(commands []*cli.Command, parent string) {
	for _, command := range commands {
		completeValues(command.Subcommands, command.Name)
		if command.BashComplete != nil {
			continue
		}
		otherwise := cli.DefaultCompleteWithFlags(command)
		command.BashComplete = func(c *cli.Context) {
			if flag := flagBefore(command.Flags, os.Args); flag != "" {
				for _, value := range valuesOf(parent, command.Name, flag) {
					fmt.Fprintln(c.App.Writer, value)
				}
				return
			}
			otherwise(c)
		}
	}
}

// flagBefore returns the name of the flag whose value is completed, or "". A command line ends with that flag, the
// beginning of the value and the flag of the completion.
func flagBefore(of []cli.Flag, args []string) string {
	if len(args) < 3 || !strings.HasPrefix(args[len(args)-3], "-") {
		return ""
	}
	f := flags.Named(of, strings.TrimLeft(args[len(args)-3], "-"))
	if d, ok := f.(cli.DocGenerationFlag); !ok || !d.TakesValue() {
		return ""
	}
	return f.Names()[0]
}

// valuesOf returns the values that a flag of a command can have, as far as they are known. Parent is the command above it.
func valuesOf(parent, command, flag string) (values []string) {
	switch flag {
	case "device":
		all, err := device.List()
		if err != nil {
			return nil
		}
		for _, d := range all {
			values = append(values, d.Selector(), d.Type)
		}
		slices.Sort(values)
		return slices.Compact(values)
	case "allow":
		return job.Allowed(command)
	case "strategy", "tune":
		return search.Names()
	case "to":
		return record.Formats()
	case "kernel":
		switch parent {
		case "diffusion":
			return tutorials.DiffusionTutorial.Choices()
		case "matmul":
			return matmul.KernelNames()
		}
	}
	return nil
}
