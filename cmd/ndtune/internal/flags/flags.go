package flags

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/cmd/ndtune/internal/ui"
)

// The categories of flags in help texts.
const (
	CategorySpec       = "specification"
	CategorySearch     = "search"
	CategoryEvaluation = "evaluation"
	CategoryOutput     = "output"
)

// Device chooses the device of a command. More describes further values of the flag.
func Device(to *string, more string) cli.Flag {
	return Text(to, "device d", CategoryEvaluation,
		"`DEVICE` to use: index, platform:device, cpu, gpu, or a part of its name"+more+
			" (default: the first GPU, else the first device)")
}

// Output names the files that a command writes.
func Output(to *cli.StringSlice, usage string) cli.Flag {
	return List(to, "output o", CategoryOutput, usage)
}

// Verbose says more, to the console of a command.
func Verbose(usage string) cli.Flag {
	return &cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Category: CategoryOutput, Usage: usage}
}

// Quiet says less, to the console of a command.
func Quiet(usage string) cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: CategoryOutput, Usage: usage}
}

// JSON chooses JSON for the output of a command.
func JSON(to *bool) cli.Flag {
	return Switch(to, "json", "", "print JSON")
}

// NoArguments refuses arguments.
func NoArguments(c *cli.Context) error {
	if c.Args().Len() > 0 {
		return ui.Wrong("%s takes no argument, but %q is given", c.Command.HelpName, c.Args().First())
	}
	return nil
}

// PositiveInts returns the positive numbers in a text, with commas between them; nil if it holds
// anything else.
func PositiveInts(text string) []int {
	var numbers []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 {
			return nil
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// Paths returns the arguments of a command that reads files, each of which is named once.
func Paths(c *cli.Context, what string) ([]string, error) {
	paths := c.Args().Slice()
	if len(paths) == 0 {
		return nil, ui.Wrong("name %s: %s %s (see %s --help)", what, c.Command.HelpName, c.Command.ArgsUsage, c.Command.HelpName)
	}
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return nil, ui.Wrong("%s is named twice", path)
		}
	}
	return paths, nil
}

// Without returns flags without those of some names.
func Without(flags []cli.Flag, names ...string) []cli.Flag {
	return slices.DeleteFunc(flags, func(f cli.Flag) bool { return slices.Contains(names, f.Names()[0]) })
}
