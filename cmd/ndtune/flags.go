package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/ndtune/ndtune/tune/device"
)

// The categories of flags in help texts.
const (
	categorySpec       = "specification"
	categorySearch     = "search"
	categoryEvaluation = "evaluation"
	categoryOutput     = "output"
)

// deviceFlag chooses the device of a command. More describes further values of the flag.
func deviceFlag(to *string, more string) cli.Flag {
	return textFlag(to, "device d", categoryEvaluation,
		"`DEVICE` to use: index, platform:device, cpu, gpu, or a part of its name"+more+
			" (default: the first GPU, else the first device)")
}

// outputFlag names the files that a command writes.
func outputFlag(to *cli.StringSlice, usage string) cli.Flag {
	return listFlag(to, "output o", categoryOutput, usage)
}

// verboseFlag says more, to the console of a command.
func verboseFlag(usage string) cli.Flag {
	return &cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Category: categoryOutput, Usage: usage}
}

// quietFlag says less, to the console of a command.
func quietFlag(usage string) cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Category: categoryOutput, Usage: usage}
}

// jsonFlag chooses JSON for the output of a command.
func jsonFlag(to *bool) cli.Flag {
	return switchFlag(to, "json", "", "print JSON")
}

// selectDevice finds a device of this machine; "" selects the default one.
func selectDevice(selector string) (device.Listed, error) {
	all, err := device.List()
	if err != nil {
		return device.Listed{}, err
	}
	return device.Select(all, selector)
}

// selectDevices finds devices of this machine that share a search.
func selectDevices(selector string) ([]device.Listed, error) {
	all, err := device.List()
	if err != nil {
		return nil, err
	}
	return device.SelectAlike(all, selector)
}

// noArguments refuses arguments.
func noArguments(c *cli.Context) error {
	if c.Args().Len() > 0 {
		return wrong("%s takes no argument, but %q is given", c.Command.HelpName, c.Args().First())
	}
	return nil
}

// positiveInts returns the positive numbers in a text, with commas between them; nil if it holds
// anything else.
func positiveInts(text string) []int {
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

// pathArguments returns the arguments of a command that reads files, each of which is named once.
func pathArguments(c *cli.Context, what string) ([]string, error) {
	paths := c.Args().Slice()
	if len(paths) == 0 {
		return nil, wrong("name %s: %s %s (see %s --help)", what, c.Command.HelpName, c.Command.ArgsUsage, c.Command.HelpName)
	}
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return nil, wrong("%s is named twice", path)
		}
	}
	return paths, nil
}
